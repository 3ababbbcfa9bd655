"""Vectors of few entries and hypersparse matrices, of 2**40 and 2**60 positions, against python-graphblas: the same
texts on both."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from both_libraries import plain, same

import bitblas as gb
from bitblas import device as devices
from bitblas.exceptions import IndexOutOfBound, OutOfMemory

oracle = pytest.importorskip("graphblas")

SIZES = (1 << 40, 1 << 60)
# A, B, L: matrices; v, w: vectors; n their size; P: the positions of all entries.
MATRICES = """
A.ewise_add(B, binary.minus) | A.ewise_mult(B, binary.plus) | A.ewise_union(B, binary.minus, 1, 2)
A.ewise_add(B).new(mask=L.S) | A.ewise_add(B).new(mask=~L.V) | A.T.ewise_add(B)
A.ewise_mult(B, binary.ss.firsti) | A.ewise_add(B, binary.ss.secondj)
A.apply(unary.ainv) | A.apply(binary.plus, right=3) | A.apply(indexunary.rowindex) | A.apply(indexunary.colindex, 1)
A.select('>', 2) | A.select('tril') | A.select('triu', 1) | A.select('diag') | A.select('offdiag')
A.select(gb.select.rowle, n // 2) | A.select(L.S) | A.select(L.V)
A.T.new() | A.mxv(v) | A.T.mxv(v) | v.vxm(A) | A.mxv(v, semiring.min_plus) | A.mxv(v, semiring.any_pair)
A.mxv(v, semiring.lor_land) | A.mxv(v, semiring.ss.min_firstj) | A.mxv(v, semiring.ss.max_secondi)
v.vxm(A, semiring.ss.min_firstj) | v.vxm(A.T, semiring.ss.min_secondi1)
A.mxv(v).new(mask=w.S) | A.mxv(v).new(mask=~w.S) | A.mxv(e) | E.mxv(v)
A.mxm(B) | A.mxm(B.T) | A.T.mxm(B) | A.mxm(B, semiring.plus_pair).new(mask=L.S) | A.mxm(B).new(mask=~L.S) | A.mxm(E)
A.mxm(B, semiring.ss.min_firstj) | A.mxm(B, semiring.ss.max_secondi) | A.mxm(B, semiring.ss.max_secondj1)
A.reduce_rowwise() | A.reduce_columnwise('max') | A.reduce_scalar() | A.reduce_rowwise(gb.agg.mean)
A[P[3], :] | A[:, P[4]] | A[P[:6], P[3:]] | A[[P[2], P[0], P[2]], [P[1], P[5]]] | A[P[1]:, :P[-2]] | A[P[1], P[2]]
A[P[1], P[2:7]] | A[P[1]:P[-1], P[2]] | A.get(P[1], 77) | (P[0], P[1]) in A
A.diag() | v.outer(w) | A.reposition(1, -1) | A.dup(int) | A.dup(mask=L.V) | A.ewise_mult(v, binary.plus) | A.power(2)
A.isequal(A.T.new().T.new()) | A.isequal(B) | A.isclose(A.dup()) | A.nvals
gb.Matrix.from_coo([1, 1, n - 1], [n - 1, n - 1, 2], [1., 2., 3.], nrows=n, ncols=n, dup_op=binary.plus)
gb.Matrix.from_coo([3, n - 1], [0, 1], 2.5, nrows=n, ncols=3)
gb.Matrix.from_coo([1, 0], [n - 1, 5], 7, nrows=2, ncols=n)
"""
STATEMENTS = """
A[P[1], P[2]] = 9. | A[P[1], 5] = 8.; del A[P[0], P[1]] | A[P[:3], P[1:4]] = 7. | A[P[1], :] = v | A[:, P[2]] = v
A[:, :] = B | A[P, P] = B[P, P].new() | A(L.S)[P[:5], P[:5]] << B[P[:5], P[2:7]].new()
A(~L.S, binary.plus)[P[:5], P[:5]] = B[P[:5], P[2:7]].new()
A(L.S, replace=True)[P[:5], P[:5]] = B[P[:5], P[2:7]].new()
A[P[:5], P[:5]](L[P[:5], P[:5]].new().S, binary.plus) << 3
A[P[1]:n - 3, :](binary.plus) << B[P[1]:n - 3, :].new()
A(L.S) << 4 | A(L.V, replace=True) << B | A(L.S, binary.plus) << B.apply(unary.abs) | A(binary.minus) << B
A(~L.S, binary.times, replace=True) << A.mxm(B) | A(L.S) << A.T | A.clear() | A << E | A.setdiag(v)
A.setdiag(v, accum=binary.plus) | A.setdiag(3, mask=L.S) if n < 0 else None | A.resize(n - 5, P[6] + 1)
w(v.S, binary.plus) << A.mxv(v) | w(~v.V, replace=True) << A.mxv(v) | w(binary.min) << A.T.mxv(w, semiring.min_plus)
w(v.S) << v.vxm(A) | w(binary.plus) << A.reduce_rowwise() | w(v.S) << A.reduce_columnwise() | w << A[:, P[1]]
"""
VECTORS = """
v(w.S) << 9 | v(w.V) << 3 | v(~w.S, binary.plus) << v | v(w.S, replace=True) << 4 | v(binary.plus) << w | v << e
v(~w.V, replace=True) << w | v[P[1]] = 2.; del v[P[0]]; v[7] = 1. | v[P[:4]] = 6. | v.resize(n - 5) | v.clear()
v[P[:4]](w[P[:4]].new().S) << 6 | v(w.S)[P[:4]] << w[P[1:5]].new() | v(w.S, replace=True)[P[:4]] << w[P[1:5]].new()
v[2:n - 1] = w[:n - 3].new() | v(binary.plus)[2:n - 1] << w[:n - 3].new() | e(w.V) << w | v << v.apply(unary.ainv)
v << v.ewise_add(w, binary.minus) | v << v.ewise_mult(w, binary.ss.secondi) | v << v.ewise_add(w, binary.ss.secondi)
v << v.ewise_union(w, binary.minus, 1, 2) | v << v.apply(binary.minus, left=1) | v << v.apply(indexunary.rowindex)
v << v.select('>', 1) | v << v.select(gb.select.rowgt, P[3]) | v << v.select(w.V) | v << v.reposition(-1)
s = v.reduce('max') | s = v.inner(w) | s = v.reduce(gb.agg.count) | s = v.isequal(w) | s = v.isequal(v.dup())
s = v[P[1]:P[-1]].new() | s = v[[P[3], P[0], P[3]]].new() | s = v.get(P[2], 77) | s = P[1] in v | s = list(v)
s = v.dup(int) | s = v.dup(mask=w.V) | s = v.isclose(w) | s = w.S.new() if n < 0 else w.V.new()
s = gb.Vector.from_coo([1, n - 1, 1], [1., 2., 3.], size=n, dup_op=binary.plus) | s = v.ewise_mult(b, binary.plus).new()
v << v.select('>', 99); v(binary.plus) << w | b << b.select('==', 7); b(w.S) << w
v(b.V) << w | b << b.select('==', False) | s = b.reduce('lor') | b(w.S) << True | b[P[0]] = True | s = b.get(P[2])
"""


def each(block: str) -> list[str]:
    return [text.strip() for line in block.strip().splitlines() for text in line.split(" | ")]


def operands(lib, n):
    rng = np.random.default_rng(3)
    P = np.unique([0, 1, n - 1, n - 2, n // 2, *rng.integers(0, n, 7)]).tolist()
    scope = {name: getattr(lib, name) for name in ("binary", "unary", "indexunary", "semiring", "monoid")}
    scope |= {"gb": lib, "n": n, "P": P, "s": None}
    for name in "ABL":
        keys = list({(P[i], P[j]): None for i, j in rng.integers(0, len(P), (30, 2))})
        values = rng.integers(0, 5, len(keys)).astype(float)
        scope[name] = lib.Matrix.from_coo(*map(list, zip(*keys)), values, nrows=n, ncols=n)
    for name in "vwb":
        values = rng.integers(0, 3, 7)
        at = rng.permutation(len(P))[:7]
        scope[name] = lib.Vector.from_coo([P[k] for k in at], values.astype(bool if name == "b" else float), size=n)
    return scope | {"e": lib.Vector(float, n), "E": lib.Matrix(float, n, n)}


def outcome(lib, text, n):
    scope = operands(lib, n)
    if text in each(MATRICES):
        return [plain(eval(text, scope))]
    exec(text, scope)
    return [plain(scope[name]) for name in ("A", "v", "w", "b", "e", "s") if scope[name] is not None]


def agree(text, n):
    for x, y in zip(outcome(oracle, text, n), outcome(gb, text, n), strict=True):
        assert same(x, y), f"{text}, {n}:\nexpected {x}\nfound    {y}"


@pytest.mark.in_turn
@pytest.mark.parametrize("text", [*each(MATRICES), *each(STATEMENTS), *each(VECTORS)])
def test_text(device, text):
    """Of matrices and vectors of any size that GraphBLAS has."""
    for n in SIZES if device == "cpu" else SIZES[1:]:
        agree(text, n)


@pytest.fixture
def forced(monkeypatch, tune):
    """Vectors and matrices of every size are stored as lists, with any number of entries."""
    tune({"list.positions.cpu": 0, "list.positions.gpu": 0, "list.bits_per_entry": 0})
    tune({"hyper.floor": 0, "hyper.share": 0})


@pytest.mark.in_turn
@pytest.mark.parametrize("text", [*each(VECTORS), *each(STATEMENTS)])
def test_small_ones(device, text, forced):
    """Operations on lists of all positions, and of none."""
    agree(text, 13)


# ---- memory ---------------------------------------------------------------------------------------------------------


def test_a_vector_of_ten_entries_holds_ten(device):
    v = gb.Vector.from_coo(range(0, 100, 10), np.arange(10.0), size=10**8)
    assert v.memory().total == 160
    w = gb.Vector.from_coo([7], True, size=1 << 60)
    assert w.memory().total == 8
    w << w.ewise_add(w, gb.binary.lor)
    assert w.memory().total == 8 and w.nvals == 1
    many = gb.Vector.from_coo(np.arange(1 << 20), 1, size=1 << 26)
    assert many.memory().presence == 1 << 23  # bits


def test_a_matrix_of_ten_entries_holds_ten(device):
    A = gb.Matrix.from_coo(np.arange(10) << 56, np.arange(10) << 55, np.arange(10.0), nrows=1 << 60, ncols=1 << 60)
    assert A.format == "hyper" and A.memory().total < 400
    assert A.T.new().format == A.mxm(A).new().format == A.select(">", 3).new().format == "hyper"
    assert gb.Matrix.from_coo([0, 1], [1, 0], 1.0, nrows=1 << 21, ncols=2).format == "csr"
    assert A[[1 << 56, 0], [0, 1 << 55]].new().format == "csr"  # small again


def test_sums_keep_their_type_and_writes_wait(device):
    v, n = gb.Vector("INT32", 1 << 60), 1 << 60
    for k in range(1000):
        v[n - 1 - k] = k
    assert v.nvals == 1000 and v.reduce().value == 499500
    A = gb.Matrix("INT8", n, n)
    for k in range(100):
        A[n - 1 - k, k] = k
    del A[n - 1, 0]
    assert A.nvals == 99 and A[n - 5, 4].value == 4 and A.get(n - 1, 0) is None


def test_files_and_copies(device, tmp_path):
    A = operands(gb, 1 << 60)["A"]
    A.save(tmp_path / "a.bitblas")
    B = gb.Matrix.load(tmp_path / "a.bitblas", verify=True)
    assert B.format == "hyper" and B.isequal(A, check_dtype=True)
    v = operands(gb, 1 << 60)["v"]
    for x in (A, v):
        assert pickle.loads(pickle.dumps(x)).isequal(x) and x.dup().isequal(x)
        assert "1152921504606846975" in repr(x)


def test_plans_and_traces(device):
    scope = operands(gb, 1 << 60)
    A, B, L, v = (scope[name] for name in "ABLv")
    for product in (A.mxv(v), v.vxm(A), A.T.mxv(v), A.mxm(B), B.T.mxm(A)):
        assert gb.explain(product, source=True).key == "csr"  # that of the small matrix
    assert gb.explain(A.mxm(B), mask=L.S).direction == "dot"
    with gb.trace() as heard:
        v.vxm(A).new()
        A.mxm(B).new(mask=L.S)
    assert "vxm" in str(heard) and "mxm" in str(heard)


def test_lists_of_rows_come_and_go(device):
    A = operands(gb, 1 << 60)["A"]
    i, j, x = (part.tolist() for part in A.to_coo())
    rows, ptr, cols, values = (part.tolist() for part in A.to_dcsr())
    assert rows == sorted(set(i)) and np.repeat(np.array(rows), np.diff(ptr)).tolist() == i
    assert cols == j and values == x
    assert [len(part) for part in gb.Matrix("INT8", 5, 5).to_dcsr()] == [0, 1, 0, 0]


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["v << 1", "v.to_dense(0)", "v(~w.S) << 1", "v << from_scalar(1, n)", "A << 1"])
def test_what_needs_all_positions_says_so(device, text):
    n = 1 << 60
    scope = operands(gb, n) | {"from_scalar": gb.Vector.from_scalar}
    before = [plain(scope[name]) for name in "Av"]
    with pytest.raises(OutOfMemory, match=str(n)):
        exec(text, scope)
    assert [plain(scope[name]) for name in "Av"] == before


def test_bits_that_do_not_fit_are_refused(device, monkeypatch, tune):
    v = gb.Vector.from_coo([5], 1.0, size=1 << 40)
    tune({"memory.checked_bytes": 1})
    monkeypatch.setattr(type(devices.get(device)), "free_bytes", lambda self: 5)
    with pytest.raises(OutOfMemory, match="bits of 1099511627776 positions"):
        v.to_dense(0)
    assert v.to_dict() == {5: 1.0}


def test_indices_beyond(device):
    n = 1 << 60
    for build, error, said in (
        (lambda: gb.Vector.from_coo([n], 1, size=n), IndexOutOfBound, "got"),
        (lambda: gb.Matrix.from_coo([0], [n], 1, nrows=n, ncols=n), IndexOutOfBound, "got"),
        (lambda: gb.Vector.from_coo([1, 1], [1, 2], size=n), ValueError, "uplicate"),
        (lambda: gb.Matrix.from_coo([1, 1], [2, 2], [1, 2], nrows=n, ncols=n), ValueError, "uplicate"),
    ):
        with pytest.raises(error, match=said):
            build()


def test_reordered_ones_are_written_where_they_store(device):
    A = gb.Matrix.from_coo([69, 3], [61, 3], [1, 2], nrows=70, ncols=70, format="hyper").reorder("rcm")
    del A[45, 33]
    A[10, 20] = 5
    del A[3, 3]
    assert [x.tolist() for x in A.to_coo()] == [[10, 69], [20, 61], [5, 1]]


def test_a_slice_of_a_row_under_its_mask(device):
    A = gb.Matrix.from_coo([1], [3], [7], nrows=9, ncols=9, format="hyper")
    mask = gb.Vector.from_coo([2, 3], True, size=9)
    A(mask.V)[1, 2:8:2] << gb.Vector.from_coo([0, 1], [5, 6], size=3)
    A(mask.V)[7:8:3, 2] << gb.Vector(int, 1)
    assert [x.tolist() for x in A.to_coo()] == [[1, 1], [2, 3], [5, 7]]
