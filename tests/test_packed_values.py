"""Values packed to the bits that they need: which values can be packed, every operation on them, their memory, and
their files."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from battery import FORMS, generator
from both_libraries import each, operands, plain, same

import bitblas as gb
from bitblas import algorithms, tuning
from bitblas import device as devices
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.formats import packing
from bitblas.formats.packing import PackedValues, fit, packed

oracle = pytest.importorskip("graphblas")


def host(x):
    return devices.get(gb.config.device).to_host(x)


def here():
    return devices.get(gb.config.device)


def raw(A):
    return A._stored.raw


def words(nvals: int, width: int) -> int:
    """Bytes of packed values."""
    return 4 * packing.packed_words(nvals, width)


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
@hypothesis.settings(
    max_examples=40, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
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
    assert isinstance(raw(A), PackedValues) and A.to_coo()[2].tobytes() == x.tobytes()
    assert A.dtype == x.dtype and A[0, 0].new().value == x[0] and not A.ss.is_iso


@pytest.mark.parametrize("name", BEYOND)
def test_what_does_not(name):
    x, got = BEYOND[name]
    at = np.arange(len(x))
    with pytest.raises(InvalidValue, match=f"packed: expected integers .* got {re.escape(got)}|{re.escape(got)}"):
        gb.Matrix.from_coo(at, at, x, device="cpu", packed=True)
    assert not isinstance(raw(gb.Matrix.from_coo(at, at, x, device="cpu")), PackedValues)
    C = gb.Matrix.from_coo(
        [0, 1], [1, 0], np.array([3, 4], x.dtype), nrows=len(x), ncols=len(x), device="cpu", packed=True
    )
    before = C.dup()
    with pytest.raises(InvalidValue, match="packed"):
        C << gb.Matrix.from_coo(at, at, x, device="cpu")
    assert C.isequal(before) and isinstance(raw(C), PackedValues)


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
    assert {name for name in known if not name.startswith(("io/", "distributed/reading"))} == {  # of files: the stream
        "operations/convert.py",
        "calibrate/__init__.py",
        "core/matrix/read.py",
        "core/matrix/matrix.py",
        "core/matrix/save_load.py",
        "core/matrix/stored.py",
        "core/memory.py",
        "core/statement/plans.py",
        "distributed/matrix.py",
        "loop/analysis.py",
        "loop/gpu/products.py",
        "loop/gpu/patches.py",
        "loop/cpu/build.py",
        "loop/symbolic/virtual_nodes.py",
        "plan/product.py",
        "plan/operation.py",
        "plan/format_choice.py",
        "store.py",
        "operations/plain_spmv.py",
        "operations/hypersparse.py",
        "operations/ewise_matrix.py",
        "operations/spmv.py",
        "operations/multivector.py",
        "operations/permute.py",
        "operations/spgemm.py",
        "operations/assign_extract.py",
        "operations/virtual_nodes.py",
    }


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


def outcome(library, text, look, form):
    scope = operands(library, 0, "INT64")
    if library is gb:
        for name in "ABRL":
            A = scope[name]
            at = [x.astype(np.int64) for x in A.to_coo()[:2]]
            how = FORMS[form] | {"nrows": A.nrows, "ncols": A.ncols, "packed": True}
            scope[name] = A = gb.Matrix.from_coo(*at, A.to_coo()[2], A.dtype, **how)
            assert isinstance(raw(A), PackedValues)
    try:
        exec(text, scope)
        return "values", plain(eval(look, scope))
    except Exception as error:
        return "error", type(error).__name__


@pytest.mark.parametrize("form", SOME)
def test_every_verb(device, form):
    for k, text in enumerate(each(VERBS)):
        if k % len(SOME) == SOME.index(form):
            expected, found = (outcome(g, f"r = {text}", "r", form) for g in (oracle, gb))
            assert expected[0] == found[0] and (expected[0] == "error" or same(expected[1], found[1])), text


@pytest.mark.parametrize("form", SOME)
def test_every_statement(device, form):
    for k, text in enumerate(each(STATEMENTS)):
        if k % len(SOME) == SOME.index(form):
            expected, found = (outcome(g, text, "A", form) for g in (oracle, gb))
            assert expected[0] == found[0] and (expected[0] == "error" or same(expected[1], found[1])), text


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
    assert isinstance(raw(A), PackedValues) and found.tobytes() == expected.tobytes() == x.tobytes()


@pytest.mark.parametrize("form", SOME)
def test_shortest_paths(device, form):
    A, B = (uneven(low=1, **FORMS[form], packed=p) for p in (True, False))
    assert algorithms.sssp(A, 7, gb=gb).isequal(algorithms.sssp(B, 7, gb=gb))
    assert isinstance(raw(A), PackedValues) and all(isinstance(x, PackedValues) for x in A._stored.copies.values())


# ---- memory ---------------------------------------------------------------------------------------------------------


def test_for_memory_values_are_packed(device):
    assert uneven(1000).memory().values == 8 * uneven(1000).nvals
    with gb.config.set(prefer="memory"):
        A, plain_one, few = uneven(1000), uneven(1000, packed=False), uneven(20)
        transposed, moved, lower = A.T.new(), A.reorder(np.arange(1000)[::-1].copy()), A.select("tril").new()
        total, cast = A.ewise_add(A, "plus").new(), A.dup("INT32")
    assert (
        A.nvals >= tuning.count("packed_values.entries")
        and A.memory().values == words(A.nvals, raw(A).width)
        and raw(A).width == 9
    )
    for B in (transposed, moved, lower, total, cast):
        assert isinstance(raw(B), PackedValues) and B.memory().values == words(B.nvals, raw(B).width)
    assert A.T.new().isequal(transposed) and moved.isequal(A) and lower.isequal(plain_one.select("tril").new())
    assert not isinstance(raw(plain_one), PackedValues) and not isinstance(raw(few), PackedValues)
    profile = plain_one.profile().values
    assert profile == (8 * A.nvals, 9, A.memory().values, 8 * A.nvals) and str(A.memory().values) in str(A.profile())


@pytest.mark.uses_cpu
def test_they_stay_packed(device):
    """Copied values stay packed; computed ones are plain, unless packed=True."""
    A = uneven(packed=True)
    order = generator("order").permutation(A.nrows)
    for B in (A.dup(), A.T.new(), A.reorder(order), A.select("tril").new(), A.to("cpu"), pickle.loads(pickle.dumps(A))):
        assert isinstance(raw(B), PackedValues)
    assert A.reorder(order).reorder(None).isequal(A) and pickle.loads(pickle.dumps(A)).isequal(A)
    assert not isinstance(raw((A + 1).new()), PackedValues)
    C = gb.Matrix("INT64", A.nrows, A.ncols, packed=True)
    C << A + 1
    assert isinstance(raw(C), PackedValues) and raw(C).base == raw(A).base + 1
    C[0, 0] = 1 << 20
    assert C[0, 0].new().value == 1 << 20 and raw(C).width == 21


def test_what_is_unpacked_counts(few_objects):
    """A statement that needs plain values unpacks them."""
    A = uneven(1000, packed=True, device="cpu")
    values = A.nvals * 8
    with gb.config.set(memory_limit=A.memory().total + 500_000_000):
        assert A.apply("abs").new().nvals == A.nvals
    before = A.dup()
    total = devices.memory.bytes_on(A.device)
    with (
        gb.config.set(memory_limit=total + values // 2),
        pytest.raises(OutOfMemory, match=f"plain values of {A.nvals} entries: needs {values} bytes"),
    ):
        A.apply("abs").new()
    assert A.isequal(before) and isinstance(raw(A), PackedValues)
