"""Packed columns: at the boundaries of their bits, beyond 32-bit offsets, single rows, and their memory."""

import numpy as np
import pytest
from battery import MATRICES, generator
from coded_rows import host
from test_loop import levels_program

import bitblas as gb
from bitblas import device as devices
from bitblas.exceptions import InvalidValue
from bitblas.formats import packing
from bitblas.formats.mplg.layout import Mplg, packed_bytes
from bitblas.operations.spgemm import products_before
from bitblas.operations.variants import Algebra, pull_variant
from bitblas.plan import product as plan
from bitblas.plan.product import Epilogue
from semirings.dtypes import BOOL, INT32, INT64


@pytest.mark.parametrize("ncols", [1, 2, 3, 4, 5, 256, 257, 1 << 16, (1 << 16) + 1, 1 << 31, (1 << 31) + 1, 1 << 32])
def test_columns_at_the_edge_of_their_bits(device, ncols):
    """Two rows with the lowest and highest columns, so that a number has all its bits set."""
    ends = np.unique(np.clip([0, 1, ncols // 2, ncols - 2, ncols - 1], 0, ncols - 1))
    rows, cols = np.repeat([0, 2], len(ends)), np.tile(ends, 2)
    A = gb.Matrix.from_coo(rows, cols, np.arange(len(rows)), nrows=3, ncols=ncols, format="mplg")
    form = A._store.structure.primary
    assert form.width == max(1, (ncols - 1).bit_length())
    assert form.nbytes == packed_bytes(3, ncols, len(rows)) == 16 + 4 * (-(-len(rows) * form.width // 32) + 1)
    i, j, x = map(host, A.to_coo())
    assert (i == rows).all() and (j == cols).all() and (x == np.arange(len(rows))).all()
    assert A[2, ncols - 1].new().value == len(rows) - 1 and A[1, 0].new().value is None
    assert form.columns().dtype == (np.int32 if ncols < 1 << 31 else np.int64)
    last = A.select("colgt", ncols - 2).new()
    assert (host(last.to_coo()[1]) == ncols - 1).all() and last.nvals == 2
    if ncols <= 1 << 16:
        u = gb.Vector.from_coo([ncols - 1], True, size=ncols)
        assert A.mxv(u, gb.semiring.plus_first[INT64]).new().to_dict() == {0: len(rows) // 2 - 1, 2: len(rows) - 1}


def test_sizes_beyond_32_bits():
    """Pure functions: the bytes of matrices that are too large for a test."""
    assert packed_bytes(10, 1 << 20, 1 << 31) == 8 * 11 + 4 * (20 * (1 << 26) + 1)
    assert packed_bytes(10, 1 << 32, 1 << 40) == 8 * 11 + 4 * ((1 << 40) + 1)
    assert packed_bytes(0, 0, 0) == 4 + 4
    assert not Mplg.format.cost.refusal(1 << 32, 1 << 32) and Mplg.format.cost.refusal(3, (1 << 32) + 1)


def test_offsets_beyond_32_bits(device):
    """Rows that begin after 2**31 entries and 2**32 bits; the memory before them is zero, and never read."""
    d = devices.get(gb.config.device)
    first, width = (1 << 31) + 10, 2
    string = d.xp.zeros(packing.packed_words(first + 5, width), np.uint32)
    start = first // 32 * 32
    numbers = np.zeros(first + 5 - start, np.int32)
    numbers[first - start :] = [1, 2, 3, 0, 1]
    string[start * width // 32 :] = packing.pack(d, d.asarray(numbers), width)
    assert host(packing.unpack(d, string, first + 5, width, np.int64, first=first)).tolist() == [1, 2, 3, 0, 1]
    words = Algebra("mplg", (("PTR", INT64), ("COL", INT32)), None, plan.WORDS, BOOL, BOOL)
    variant = pull_variant(words, Epilogue(BOOL, BOOL, store=False), 1, full=False)
    begin, end = d.asarray(np.array([first, first + 3])), d.asarray(np.array([first + 3, first + 5]))
    found, none, true = d.xp.zeros(1, np.uint64), d.xp.zeros(1, np.uint64), np.bool_(True)
    u = d.asarray(np.array([1 << 3], np.uint64))  # column 3 alone
    d.kernel(variant)(
        2, 1 << 20, begin, end, d.xp.zeros(1, np.int64), 0, string, width, d.xp.zeros(1, bool), true, 0, u, none, true,
        0, none, 0, ~np.uint64(0), true, none, none, true, 0, 0, 0, found, none,
    )  # fmt: skip
    assert host(found).tolist() == [1]


def uneven(n, **form):
    """n x n with weights; one row has half of all entries."""
    rng = generator("uneven", n)
    i, j = np.concatenate([np.full(n, n // 3), rng.permutation(n)]), np.concatenate([np.arange(n), rng.permutation(n)])
    return gb.Matrix.from_coo(i, j, rng.integers(0, 99, 2 * n), nrows=n, ncols=n, dup_op=gb.binary.plus, **form)


@pytest.mark.parametrize("binned_from", [0, 1 << 40], ids=["binned", "plain"])
def test_rows_of_different_lengths(device, binned_from, tune):
    tune({"csr.binned_from": binned_from})
    A, B = uneven(2500, format="mplg"), uneven(2500, format="csr")
    u = gb.Vector.from_coo(np.arange(2500), generator("u").integers(0, 99, 2500), size=2500)
    for name in ("plus_times", "plus_second"):
        found, expected = (M.mxv(u, gb.semiring[name]).new() for M in (A, B))
        assert found.isequal(expected), name


def test_long_rows_in_a_loop(device, tune):
    """A row is pushed along in segments."""
    tune({"loop.segment_entries": 100})
    A = uneven(600, format="mplg")
    n, levels = A.nrows, []
    for M in (A, uneven(600, format="csr")):
        v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
        q[3] = True
        levels_program(M, v, q).run()
        levels.append(v)
    assert levels[0].isequal(levels[1]) and levels[0].nvals > 2


def test_no_plain_columns_are_kept(device):
    p = MATRICES["gaps"]()
    A = gb.Matrix.from_coo(p.rows, p.cols, np.arange(len(p.rows)), nrows=140, ncols=140, format="mplg")
    u, C = gb.Vector.from_scalar(1, 140), gb.Matrix(INT64, 140, 140)
    C << A.mxm(A, gb.semiring.plus_times)
    C << A.ewise_add(A.T, gb.binary.plus)
    C << A.select("tril")
    C << A.T
    C << A[::-1, :]
    C(A.S) << A.mxm(A.T, gb.semiring.plus_times)
    assert A[3, :].new().isequal(A.T[:, 3].new())
    A.mxv(u).new(), u.vxm(A).new(), A.profile()
    held = {(key, transposed) for key, transposed, _, _ in A._store.structure.forms()}
    assert held == {("mplg", False), ("mplg", True)}
    assert {key for key, _ in A._store.copies} <= {"mplg"}
    memory = A.memory()
    assert memory.forms["mplg"] == memory.structure == packed_bytes(140, 140, A.nvals)


STATEMENTS = {
    "mxm": lambda A, B: A.mxm(B, gb.semiring.plus_times).new(),
    "a plain mask, a plain operand": lambda A, B: B.mxm(A.T, gb.semiring.plus_times).new(mask=B.S),
    "a packed mask": lambda A, B: B.mxm(B.T, gb.semiring.plus_times).new(mask=A.S),
    "union": lambda A, B: B.ewise_add(A, gb.binary.plus).new(),
    "union of two": lambda A, B: A.ewise_add(A.select("tril").new(), gb.binary.minus).new(),
    "intersection of two": lambda A, B: A.ewise_mult(A.select("tril").new(), gb.binary.minus).new(),
    "outside a mask": lambda A, B: into(A.dup(), A.select("triu").new(), ~A.select("tril").new().S),
    "tril": lambda A, B: A.select("tril").new(),
    "select": lambda A, B: A.select(">", 30).new(),
    "apply": lambda A, B: A.apply(gb.binary.plus, 1).new(),
    "rows": lambda A, B: A[[3, 0, 3], :].new(),
    "row and column": lambda A, B: A[3, :].new().ewise_add(A[:, 5].new(), gb.binary.plus).new(),
    "diagonal": lambda A, B: A.diag(1),
    "reduce": lambda A, B: A.reduce_rowwise(gb.monoid.plus).new(),
    "assign": lambda A, B: into(A.dup(), 7, at=(2, slice(None))),
}


def into(C, x, *how, at=(slice(None), slice(None))):
    C(*how)[at] << x
    return C


@pytest.mark.in_turn
@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_read_packed_columns(device, statement, monkeypatch, tune):
    """None makes plain columns of a whole matrix, whichever operand is packed."""
    B, expected = uneven(60, format="csr"), STATEMENTS[statement](uneven(60, format="csr"), uneven(60, format="csr"))
    A = uneven(60, format="mplg")
    if "plain" in statement:
        A.T.new()  # SciPy, which transposes on the CPU, unpacks

    def refuse(self, *args):
        raise AssertionError("plain columns of the whole matrix")

    monkeypatch.setattr(Mplg, "to_csr", refuse)
    tune({"csr.piece": 50})
    found, right = (list(map(host, M.to_coo())) for M in (STATEMENTS[statement](A, B), expected))
    assert all((x == y).all() for x, y in zip(found, right, strict=True)) and len(right[0])


def test_work_is_counted_in_pieces(tune):
    """Products before each row: of packed columns as of plain ones."""
    tune({"csr.piece": 50})
    forms = [uneven(90, format=form, device="cpu")._store.structure for form in ("csr", "mplg")]
    plain, packed = (form.primary for form in forms)
    products = np.diff(plain.ptr)[plain.columns()]
    expected = [int(products[:end].sum()) for end in plain.ptr]
    assert products_before(plain, plain).tolist() == products_before(packed, plain).tolist() == expected


@pytest.mark.parametrize("at", [48, 49, 50])
def test_a_fault_between_two_pieces_is_found(tune, at):
    A = uneven(120, format="mplg", device="cpu")
    form = A._store.structure.primary
    assert form.ptr[40] < 48 < 51 < form.ptr[41]  # all in one row
    tune({"csr.piece": 50})
    form.check()
    columns = form.columns()
    columns[[at, at + 1]] = columns[[at + 1, at]]
    faulty = Mplg(form.device, 120, 120, form.ptr, packing.pack(form.device, columns, form.width), form.nvals)
    with pytest.raises(ValueError, match="ascend"):
        faulty.check()


def test_what_is_too_wide_is_refused():
    with pytest.raises(InvalidValue, match=r"format: .*2\*\*32"):
        gb.Matrix.from_coo([0], [0], True, nrows=3, ncols=(1 << 32) + 1, device="cpu", format="mplg")
    wide = gb.Matrix.from_coo([0], [1 << 32], True, nrows=3, ncols=1 << 33, device="cpu")
    assert "mplg" not in str(wide.profile())
    with pytest.raises(ValueError, match="tile"):
        gb.Matrix(bool, 3, 3, format="mplg", tile=8)
