"""Values packed to the bits that they need: which values can be packed, every operation on them, their memory, writes
into them, and their files."""

import pickle
import re
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from battery import FORMS, generator
from both_libraries import both, each
from test_damage import refused

import bitblas as gb
from bitblas import algorithms, tuning
from bitblas import device as devices
from bitblas.cli import main
from bitblas.core.matrix.stored import Writes
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.formats import packing
from bitblas.formats.container import Container, Section, write
from bitblas.formats.packing import PackedValues, fit, packed

with_fixtures = hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])


def here():
    return devices.get(gb.config.device)


def host(x):
    return here().to_host(x)


def raw(A):
    return A._stored.raw


def is_packed(A) -> bool:
    return isinstance(raw(A), PackedValues)


def words(nvals: int, width: int) -> int:
    """Bytes of packed values."""
    return 4 * packing.packed_words(nvals, width)


# ---- integers of every width ---------------------------------------------------------------------------------------


@pytest.mark.in_turn
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("width", range(1, 33))
def test_packed_numbers_come_back(device, width, dtype):
    d, rng = here(), np.random.default_rng(width)
    top = min((1 << width) - 1, np.iinfo(dtype).max)
    for size in (0, 1, 2, 31, 32, 33, 1000):
        numbers = rng.integers(0, top, size, dtype=dtype, endpoint=True)
        numbers[-1:] = top
        string = packing.pack(d, d.asarray(numbers), width)
        assert string.dtype == np.uint32 and len(string) == packing.packed_words(size, width)
        flat = sum(int(x) << (k * width) for k, x in enumerate(numbers))  # the definition
        assert int.from_bytes(d.to_host(string).tobytes(), "little") == flat
        assert (d.to_host(packing.unpack(d, string, size, width, dtype)) == numbers).all()


def test_many_numbers_are_packed_in_parallel():
    d, numbers = devices.get("cpu"), np.arange(tuning.count("packing.parallel_numbers") + 5)
    string = packing.pack(d, numbers, 17)
    assert (packing.unpack(d, string, len(numbers), 17, np.int32) == numbers).all()


def test_widths():
    assert [packing.width_of(limit) for limit in (0, 1, 2, 3, 4, 5, 1 << 31, 1 << 32)] == [1, 1, 1, 2, 2, 3, 31, 32]
    assert packing.packed_words(1 << 31, 32) == (1 << 31) + 1  # beyond 32 bits, computed without such an array
    with pytest.raises(ValueError, match="limit"):
        packing.width_of((1 << 32) + 1)


# ---- what can be packed ---------------------------------------------------------------------------------------------

RANGES = {"INT8": 8, "INT64": 64, "UINT64": 64, "FP32": 25, "FP64": 54}  # bits of all integers of a type


@st.composite
def arrays(draw):
    """Integers of a type in a range of some bits, the least and the greatest among them."""
    name = draw(st.sampled_from(sorted(RANGES)))
    kind, bits = gb.dtypes.lookup_dtype(name), RANGES[name]
    low = 0 if name.startswith("U") else -(1 << (bits - 1))
    high = (1 << bits) - 1 if name.startswith("U") else (1 << (bits - 1)) - 1
    base = draw(st.one_of(st.integers(low, high), st.sampled_from([low, high, 0])))
    most = min(high, base + (1 << draw(st.integers(0, 32))) - 1)
    return kind, np.array([base, most, *draw(st.lists(st.integers(base, most), max_size=70))], kind.np_type)


@hypothesis.given(arrays())
@hypothesis.settings(with_fixtures, max_examples=40)
def test_integers_of_every_type_come_back(device, case):
    kind, x = case
    base, width = fit(here(), kind, here().asarray(x))
    assert int(base) == int(x.min()) and width == max(1, (int(x.max()) - int(x.min())).bit_length())
    values = packed(here(), kind, here().asarray(x), base, width)
    assert host(values.plain()).tobytes() == x.tobytes() and values.string.nbytes == words(len(x), width)
    places = np.arange(len(x) - 1, -1, -2)
    taken = values.taken(here().asarray(places))
    assert host(taken.plain()).tobytes() == x[places].tobytes() and (taken.base, taken.width) == (base, width)
    assert host(values.taken(here().asarray(x == x[0])).plain()).tobytes() == x[x == x[0]].tobytes()
    assert host(values.plain(1, 2))[0] == x[1]


I64, U64 = np.iinfo(np.int64), np.iinfo(np.uint64)
FIT = {
    "negative": np.array([-3, -1, -100], np.int8),
    "all bits": np.array([0, (1 << 32) - 1]),
    "at the end of INT64": np.array([I64.max, I64.max - 5]),
    "at its other end": np.array([I64.min, I64.min + 5]),
    "above INT64": np.array([U64.max, U64.max - 100], np.uint64),
    "across": np.array([1 << 63, (1 << 63) - 1], np.uint64),
    "whole floats": np.array([-5.0, 0.0, 3e6]),
    "FP32 far out": np.array([2.0**40, 2.0**40 + 2.0**17], np.float32),
    "truths": np.array([True, False]),
}
BEYOND = {
    "33 bits": (np.array([0, 1 << 32]), "0 to 4294967296, whose difference has 33 bits"),
    "INT64 whole": (np.array([I64.min, I64.max]), "64 bits"),
    "UINT64 whole": (np.array([0, U64.max], np.uint64), "64 bits"),
    "a fraction": (np.array([1.0, 0.5]), "0.5"),
    "NaN": (np.array([1.0, np.nan], np.float32), "nan"),
    "infinity": (np.array([1.0, -np.inf]), "-inf"),
    "-0.0": (np.array([1.0, -0.0]), "-0.0"),
    "2 ** 54": (np.array([2.0**54, 2.0**53]), "1.8"),
}


@pytest.mark.parametrize("name", FIT)
def test_what_fits(name):
    x = FIT[name]
    A = gb.Matrix.from_coo(np.arange(len(x)), np.arange(len(x)), x, device="cpu", packed=True)
    assert is_packed(A) and A.to_coo()[2].tobytes() == x.tobytes()
    assert A.dtype == x.dtype and A[0, 0].new().value == x[0] and not A.ss.is_iso


@pytest.mark.parametrize("name", BEYOND)
def test_what_does_not(name):
    x, got = BEYOND[name]
    at = np.arange(len(x))
    with pytest.raises(InvalidValue, match=f"packed: expected integers .* got {re.escape(got)}|{re.escape(got)}"):
        gb.Matrix.from_coo(at, at, x, device="cpu", packed=True)
    assert not is_packed(gb.Matrix.from_coo(at, at, x, device="cpu"))
    small = np.array([3, 4], x.dtype)
    C = gb.Matrix.from_coo([0, 1], [1, 0], small, nrows=len(x), ncols=len(x), device="cpu", packed=True)
    before = C.dup()
    with pytest.raises(InvalidValue, match="packed"):
        C << gb.Matrix.from_coo(at, at, x, device="cpu")
    assert C.isequal(before) and is_packed(C)


def test_options():
    for wrong in ("yes", 1):
        with pytest.raises(ValueError, match="packed: expected True, False or None"):
            gb.Matrix.from_coo([0], [0], [1], packed=wrong)
    for iso in (gb.Matrix("INT64", 3, 3, packed=True), gb.Matrix.from_coo([0], [0], 5, packed=True)):
        assert iso._stored.iso  # less than packed ones already


def test_who_knows_of_packed_values():
    """All others ask for `values`, which are plain; mypy refuses a `raw` that is taken for an array."""
    root = Path(gb.__file__).parent
    known = {str(p.relative_to(root)) for p in root.rglob("*.py") if re.search(r"\.raw(_for)?\b", p.read_text())}
    # Files are read from and written to the packed string.
    assert {name for name in known if not name.startswith(("io/", "distributed/reading"))} == {
        f"{folder}/{name}.py".removeprefix("/")
        for folder, names in {
            "": "store", "calibrate": "__init__", "distributed": "matrix",
            "core": "matrix/read matrix/matrix matrix/save_load matrix/stored memory statement/plans",
            "loop": "analysis gpu/products gpu/relaxation cpu/build symbolic/maps symbolic/virtual_nodes",
            "operations": "assign_extract contraction convert ewise_matrix hypersparse lazy_map_product map_products "
            "multivector permute plain_spmv sddmm spgemm spmv virtual_nodes",
            "plan": "product operation format_choice",
        }.items()
        for name in names.split()
    }  # fmt: skip


# ---- every operation ------------------------------------------------------------------------------------------------

# Each operation once, in texts that test_core.py has too; A, B, R and L are packed.
VERBS = """
A.mxm(B, semiring.min_plus); A.T.mxm(B); L.mxm(L, semiring.plus_pair); A.ewise_add(B, binary.plus); A + A.T;
A.ewise_mult(B.T, binary.lt); A.ewise_union(B, binary.minus, 0, 0); A.apply(unary.ainv); A.apply(binary.plus, right=2);
A.apply(indexunary.colindex, 2); A.select("tril"); A.select(select.colgt, 20); A.select(L); A.select(~L.V);
A.reduce_rowwise(); A.reduce_scalar(); A.T.reduce_scalar("max"); A < 2; ~L; A[3, 4]; A[3, :]; A[:, 4]; A.T[3, :];
A[[4, 2, 9, 4], [1, 0, 69, 1]]; A[2:30:3, ::-2]; R[[69, 0], :]; A.diag(3); A.dup(); A.dup(dtype=float);
A.dup(mask=L.V); A.T.new(); A.to_dense(0); A.to_coo(); A.get(3, 4); len(list(A)); A.isequal(A.T.T);
A.isclose(A * 1.0); (~L.V).new(); (L.V | A.S).new(); A.kronecker(R[:3, :2].new()).new(); A.nvals, A.shape
"""
STATEMENTS = """
A << B; A << B.T; A(L.V) << B; A(~L.V, replace) << B; A(binary.plus) << B; A << A.mxm(B); A(L.S) << A.mxm(B);
A(L.S) << A.ewise_add(B); A += 1; A[3, 4] = 7; A[3, :] = 5; A[:, 4] = w; A[[1, 2], [3, 4]] = 6;
A[10:20, 30:40] = B[:10, :10]; A(L.V, replace)[:30, :20] << B[:30, :20]; A[3, 4](binary.plus) << 2; del A[3, 4];
del A[3, :]; A << 3; A.clear()
"""
SOME = ("csr", "mplg", "b2sr8", "split8")


def pack(A, form):
    """The matrix with packed values; unchanged if it is the oracle's."""
    if not isinstance(A, gb.Matrix):
        return A
    (*at, x), how = A.to_coo(), FORMS[form] | {"nrows": A.nrows, "ncols": A.ncols, "packed": True}
    made = gb.Matrix.from_coo(*(k.astype(np.int64) for k in at), x, A.dtype, **how)
    assert is_packed(made)
    return made


@pytest.mark.in_turn
@pytest.mark.parametrize("form", SOME)
@pytest.mark.parametrize(("texts", "look"), [(VERBS, "r"), (STATEMENTS, "A")], ids=["operations", "statements"])
def test_every_operation(device, form, texts, look):
    for text in each(texts)[SOME.index(form) :: len(SOME)]:
        packs = f"from test_packed_values import pack\nA, B, R, L = (pack(x, {form!r}) for x in (A, B, R, L))"
        both(f"{packs}\nr = {text}" if look == "r" else f"{packs}\n{text}", look)


def uneven(n=300, dtype="INT64", low=-4, high=300, **how):
    """A matrix with one row and one column of many entries."""
    rng = generator("uneven", n)
    i = np.concatenate([np.full(n, n // 3), np.arange(n), rng.integers(0, n, 4 * n)])
    j = np.concatenate([np.arange(n), np.full(n, n // 2), rng.integers(0, n, 4 * n)])
    x = rng.integers(low, high, len(i)).astype(gb.dtypes.lookup_dtype(dtype).np_type)
    return gb.Matrix.from_coo(i, j, x, nrows=n, ncols=n, dup_op=gb.binary.min, **how)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", SOME)
def test_products_read_them(device, form, tune):
    """No array of plain values is made: not by a product in any direction, nor for the transpose."""
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})
    A, B = uneven(**FORMS[form], packed=True), uneven(format="csr")
    n = A.nrows
    rng = generator("u")
    full = gb.Vector.from_coo(np.arange(n), rng.integers(-50, 50, n), size=n)
    half = gb.Vector.from_coo(np.arange(0, n, 2), rng.integers(-50, 50, n // 2), size=n)
    few = gb.Vector.from_coo([5, n // 3], [1, 9], size=n)
    for u in (full, half, few) if form in ("csr", "split8") else (half, few):
        for product in (lambda M, u=u: M.mxv(u, "min_plus"), lambda M, u=u: u.vxm(M, "min_plus")):
            expected = product(B).new()
            product(A).new()  # makes the transpose, if it is wanted: that reads packed columns
            with gb.trace() as ran:
                found = product(A).new()
            assert found.isequal(expected) and "widen" not in {run.kernel.rpartition("/")[2] for run in ran}
    held = A.memory()
    width = raw(A).width
    assert held.values == words(A.nvals, width) and set(held.copies.values()) <= {words(A.nvals, width)}
    assert held.copies


def test_floats_are_read_exactly(device):
    """FP32 values that need all their digits, where one number above the base would not be an FP32 number."""
    x = np.array([-(2.0**24), 2.0**24, 2.0**24 - 1, 2.0**24 - 2, 1, 0], np.float32)
    A, B = (gb.Matrix.from_coo(np.arange(6), np.zeros(6, int), x, nrows=6, ncols=1, packed=p) for p in (True, False))
    u = gb.Vector.from_coo([0], np.zeros(1, np.float32), size=1)
    found, expected = (host(M.mxv(u, "min_plus").new().to_coo()[1]) for M in (A, B))
    assert is_packed(A) and found.tobytes() == expected.tobytes() == x.tobytes()


@pytest.mark.parametrize("form", SOME)
def test_shortest_paths(device, form):
    A, B = (uneven(low=1, **FORMS[form], packed=p) for p in (True, False))
    assert algorithms.sssp(A, 7, gb=gb).isequal(algorithms.sssp(B, 7, gb=gb))
    assert is_packed(A) and all(isinstance(x, PackedValues) for x in A._stored.copies.values())


# ---- memory ---------------------------------------------------------------------------------------------------------


def test_for_memory_values_are_packed(device):
    assert uneven(1000).memory().values == 8 * uneven(1000).nvals
    with gb.config.set(prefer="memory"):
        A, plain_one, few = uneven(1000), uneven(1000, packed=False), uneven(20)
        transposed, moved, lower = A.T.new(), A.reorder(np.arange(1000)[::-1].copy()), A.select("tril").new()
        total, cast = A.ewise_add(A, "plus").new(), A.dup("INT32")
    assert A.nvals >= tuning.count("packed_values.entries") and raw(A).width == 9
    assert A.memory().values == words(A.nvals, 9)
    for B in (transposed, moved, lower, total, cast):
        assert is_packed(B) and B.memory().values == words(B.nvals, raw(B).width)
    assert A.T.new().isequal(transposed) and moved.isequal(A) and lower.isequal(plain_one.select("tril").new())
    assert not is_packed(plain_one) and not is_packed(few)
    profile = plain_one.profile().values
    assert profile == (8 * A.nvals, 9, A.memory().values, 8 * A.nvals) and str(A.memory().values) in str(A.profile())


@pytest.mark.uses_cpu
def test_they_stay_packed(device):
    """Copied values stay packed; computed ones are plain, unless packed=True."""
    A = uneven(packed=True)
    order = generator("order").permutation(A.nrows)
    for B in (A.dup(), A.T.new(), A.reorder(order), A.select("tril").new(), A.to("cpu"), pickle.loads(pickle.dumps(A))):
        assert is_packed(B)
    assert A.reorder(order).reorder(None).isequal(A) and pickle.loads(pickle.dumps(A)).isequal(A)
    assert not isinstance(raw((A + 1).new()), PackedValues)
    C = gb.Matrix("INT64", A.nrows, A.ncols, packed=True)
    C << A + 1
    assert is_packed(C) and raw(C).base == raw(A).base + 1
    C[0, 0] = 1 << 20
    assert C[0, 0].new().value == 1 << 20 and raw(C).width == 21


def test_what_is_unpacked_counts(few_objects):
    """A statement that needs plain values unpacks them."""
    A = uneven(1000, packed=True, device="cpu")
    before, values = A.dup(), A.nvals * 8
    with gb.config.set(memory_limit=A.memory().total + 500_000_000):
        assert A.apply("abs").new().nvals == A.nvals
    with gb.config.set(memory_limit=devices.memory.bytes_on(A.device) + values // 2):
        with pytest.raises(OutOfMemory, match=f"plain values of {A.nvals} entries: needs {values} bytes"):
            A.apply("abs").new()
    assert A.isequal(before) and is_packed(A)


# ---- writes ---------------------------------------------------------------------------------------------------------

FAR = 1 << 40


def small(dtype=int):
    return gb.Matrix.from_coo([0, 1], [1, 0], [3, 4], dtype, nrows=3, ncols=3, packed=True)


def vector(*values):
    return gb.Vector.from_coo(range(len(values)), list(values), size=3)


def entries(*values):
    return gb.Matrix.from_coo(range(len(values)), range(len(values)), list(values), nrows=3, ncols=3)


BEYOND_WRITES = """
C[0, 0] = FAR; C[2, 2] = -FAR; C[0, 0] << FAR; C(gb.binary.plus)[0, 1] << FAR; C[0, :] = vector(1, FAR);
C(gb.binary.plus)[0, [0, 1]] << FAR; C[[0, 1], [0, 1]](gb.Matrix.from_coo([0, 1], [0, 1], 1).S) << FAR;
C.build([0, 1], [0, 1], [1, FAR], clear=True); C << entries(1, FAR); C(entries(1, 1).S) << FAR; C += entries(FAR);
C(gb.binary.plus) << gb.Matrix.from_coo([0], [1], [FAR], nrows=3, ncols=3); C.setdiag(vector(1, FAR))
"""


@pytest.mark.parametrize("write", [*each(BEYOND_WRITES), "C[0, 0] = 5\nC[1, 1] = FAR"])
def test_what_does_not_fit_is_refused_at_the_write(device, write):
    C = small()
    C[2, 0] = 9  # waits
    with pytest.raises(InvalidValue, match="packed: expected integers less than"):
        exec(write, globals() | {"C": C})
    assert C.to_dicts() == {0: {1: 3}, 1: {0: 4}, 2: {0: 9}} | ({0: {0: 5, 1: 3}} if "= 5" in write else {})
    assert is_packed(C)
    C[0, 0] = 7
    assert C.get(0, 0) == 7


@pytest.mark.parametrize("x", [0.5, np.nan, np.inf, -0.0, 2.0**54])
def test_floats_that_are_no_integers(device, x):
    C = small(dtype=float)
    with pytest.raises(InvalidValue, match="packed"):
        C[0, 0] = x
    assert C.to_dicts() == {0: {1: 3}, 1: {0: 4}}
    E = gb.Matrix(float, 3, 3, packed=True)  # one value for all entries is stored once, whatever it is: NaN is not one
    if x == x:
        E[0, 0] = E[1, 1] = x
    for at, wrong in (((2, 2), 3), ((0, 1), 4)) if x == x else (((0, 0), x),):
        with pytest.raises(InvalidValue, match="packed"):
            E[at] = wrong
        assert E.nvals == 2 * (x == x)
    assert x != x or (E.ss.is_iso and E.get(1, 1) == x)


def test_many_writes_cost_one_rebuild(monkeypatch):
    C, rebuilds = gb.Matrix(int, 100, 100, device="cpu", packed=True), []
    into = Writes.into
    monkeypatch.setattr(Writes, "into", lambda self, held: rebuilds.append(len(self)) or into(self, held))
    for start in (1 << 33, 5):
        for k in range(1000):
            C[k % 100, k // 100] = start + k * (1 << 20)
        assert C.nvals == 1000
        C.clear()
    assert rebuilds == [1000, 1000]


VALUES = (0, 5, -1, (1 << 32) - 1, 1 << 32, (1 << 32) + 5, 1 << 40)


@hypothesis.given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from((*VALUES, None, "read"))), max_size=20))
# It fits once others are gone; a refusal does not forget what waits.
@hypothesis.example([(1, 3), (2, 4), (1, None), (2, FAR), (2, FAR + 1), (0, FAR + (1 << 32)), (3, FAR)])
@hypothesis.example([(0, 3), (3, FAR), (1, FAR)])
@with_fixtures
def test_any_writes_are_taken_as_far_as_they_fit(device, steps):
    C, held = gb.Matrix(int, 2, 2, packed=True), {}
    for at, x in steps:
        i, j = divmod(at, 2)
        if x == "read":
            assert C.nvals == len(held)
        elif x is None:
            del C[i, j]
            held.pop((i, j), None)
        else:
            after = {**held, (i, j): x}
            fits = max(after.values()) - min(after.values()) < 1 << 32
            try:
                C[i, j] = x
            except InvalidValue:
                assert not fits
                continue
            assert fits
            held = after
    found = zip(*(x.tolist() for x in map(C.device.to_host, C.to_coo())))
    assert {(i, j): x for i, j, x in found} == held


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", SOME)
def test_files(device, tmp_path, form):
    A, path = uneven(**FORMS[form], packed=True), tmp_path / "a.bitblas"
    A.T.new()
    A.save(path, forms=True)
    for how in ({}, {"verify": True}):
        B = gb.load(path, **how)
        assert is_packed(B) and B.format == A.format
        assert host(raw(B).string).tobytes() == host(raw(A).string).tobytes() and B.isequal(A)
        assert (raw(B).base, raw(B).width, raw(B).dtype) == (raw(A).base, raw(A).width, raw(A).dtype)
    u = gb.Vector.from_coo(np.arange(0, A.nrows, 2), np.arange(A.nrows // 2), size=A.nrows)
    assert B.mxv(u, "min_plus").new().isequal(A.mxv(u, "min_plus").new())
    C = gb.load(path, packed=False)
    assert not is_packed(C) and C.isequal(A)
    C.save(path)
    assert is_packed(gb.load(path, packed=True))
    with gb.config.set(prefer="memory"):
        assert not is_packed(gb.load(path))  # loading reads nothing


@pytest.fixture
def path(tmp_path):
    """A file of four packed values."""
    x = np.array([100, 90, 127, 95], np.int8)
    gb.Matrix.from_coo([0, 1, 2, 4], [1, 2, 0, 4], x, packed=True, name="A", device="cpu").save(
        tmp_path / "small.bitblas"
    )
    with gb.config.set(device="cpu"):
        yield tmp_path / "small.bitblas"


def test_damaged_files(path):
    data = path.read_bytes()
    place = Container(path).sections[0].arrays["values"]
    for k in (*range(0, len(data) // 2, 7), *range(place.offset, place.offset + place.nbytes)):
        if k >= place.offset or k < 64:
            refused(path, data[:k] + bytes([data[k] ^ 16]) + data[k + 1 :])
    for length in (0, 63, place.offset, place.offset + 3, len(data) - 1):
        refused(path, data[:length])


@pytest.mark.parametrize(
    ("lie", "match"),
    [
        ({"packed": {"base": 90, "width": 33}}, "1 to 32 bits, got 33"),
        ({"packed": {"base": 90, "width": 0}}, "1 to 32 bits, got 0"),
        ({"packed": {"base": 90, "width": True}}, "1 to 32 bits, got True"),
        ({"packed": {"base": 90.0, "width": 6}}, "a base of INT8, got 90.0"),
        ({"packed": {"base": -129, "width": 6}}, "a base of INT8, got -129"),
        ({"packed": {"base": 100, "width": 6}}, "expected INT8, got 137"),
        ({"packed": {"base": 90, "width": 16}}, "values: expected 3 of UINT32, got 2"),
        ({"packed": {"base": 90}}, "no 'width'"),
        ({"packed": None}, "values: expected 4 of INT8, got 2 of uint32"),
        ({"iso": True}, "one for all entries or packed ones, got both"),
        ({"dtype": "FP32", "packed": {"base": (1 << 24) + 1, "width": 6}}, "a base that FP32 holds"),
        ({"dtype": "FP64", "packed": {"base": 1 << 53, "width": 6}}, "expected FP64, got"),
    ],
)
def test_files_that_lie(path, lie, match):
    file, cpu = Container(path), devices.get("cpu")
    sections = [
        Section(s.name, s.facts | (lie if s.name == "matrix" else {}), file.load(s, cpu, True), s.required)
        for s in file.sections
    ]
    write(path, sections, cpu)
    refused(path, path.read_bytes(), match)


def test_readers_and_the_command_line(tmp_path, capsys):
    """Every reader of files passes it on; `convert --packed` writes it."""
    A, path = uneven(50, device="cpu"), tmp_path / "a.mtx"
    gb.io.mmwrite(path, A)
    gb.io.write(tmp_path / "a.tsv", A)
    gb.io.write(tmp_path / "a.npz", A)
    with gb.config.set(device="cpu"):
        found = [
            gb.io.mmread(path, packed=True), gb.io.mmread(path, packed=True, chunked=True),
            gb.io.read_npz(tmp_path / "a.npz", packed=True),
            gb.io.read(tmp_path / "a.tsv", size=50, packed=True).matrix,
            gb.io.from_scipy_sparse(gb.io.to_scipy_sparse(A), packed=True),
        ]  # fmt: skip
        assert main(["convert", str(path), "--out", str(tmp_path / "a.bitblas"), "--packed"]) == 0
        found.append(gb.load(tmp_path / "a.bitblas"))
        assert all(is_packed(B) and B.isequal(A) for B in found)
        gb.io.mmwrite(path, (A / 7).new())
        assert main(["convert", str(path), "--out", str(tmp_path / "b.bitblas"), "--packed"]) != 0
    assert "packed: expected integers less than 2**32 apart, got" in capsys.readouterr().err
