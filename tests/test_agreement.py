"""The algebra equals SuiteSparse:GraphBLAS: every operator at the edges, the types, the identities."""

import dataclasses

import numpy as np
import pytest

from semirings import BinaryOp, UnaryOp, catalog, dtypes, laws, numpy_operators


@pytest.fixture(scope="module")
def gb():
    return pytest.importorskip("graphblas")


def theirs(namespace, name):
    if name.startswith("numpy."):
        return namespace.from_string(name)
    return getattr(namespace.ss, name, None) or getattr(namespace, name)


def compare(case, result):
    index, got = result.to_coo()
    assert np.array_equal(index, np.arange(case.x.size))
    want = case.on_host()
    assert got.dtype == want.dtype, case.label
    return [
        f"{case.label} at x={case.x[k]}, y={case.y[k]}: {want[k]!r}, SuiteSparse says {got[k]!r}"
        for k in np.flatnonzero(case.disagreement(want, got, bits=False))[:1]
    ]


def keep(case, rows):
    return dataclasses.replace(case, x=case.x[rows], y=case.y[rows], i=case.i[rows], j=case.j[rows])


def defined(case):
    """The rows at which python-graphblas' own operators, compiled by Numba, do not raise, trap or wrap: no division by
    0 or -1, no power that overflows (bitblas' saturates, as pow does); and functions of complex numbers where these are
    not infinite, nor as long as a circle is from their last place."""
    if case.dtype.kind == "c":
        if case.what.name not in (*catalog.COMPLEX_MATH, "pow", "rpow", "isclose", "numpy.float_power"):
            return case
        # Angles of large numbers lose digits; logarithms and powers of 0 differ in NaN and infinity.
        largest = 9 if case.result.kind == "c" else 1e31
        small = np.isfinite(case.x) & np.isfinite(case.y) & (abs(case.x) < largest) & (abs(case.y) < largest)
        if case.result.kind == "c":
            small &= (case.x != 0) & ((case.y != 0) | (not isinstance(case.what, BinaryOp)))
        return keep(case, small)
    if case.what.name in ("floordiv", "numpy.mod", "rfloordiv"):
        below = case.x if case.what.name == "rfloordiv" else case.y
        return keep(case, (below != 0) & (below != case.dtype.np_type.type(-1 if case.dtype.kind in "if" else 0)))
    if case.what.name == "rpow" and case.dtype.kind in "iu":
        z = case.on_host()
        return keep(case, (case.x < 9) & (case.x >= 0) & (abs(z.astype(float)) < float(case.dtype.highest) / 2))
    if case.what.name == "rpow" and case.dtype.kind == "f":
        return keep(case, (case.x == case.x) & (case.y == case.y))  # Numba has NaN**0 = 1 there
    if case.what.name == "ldexp":
        return keep(case, abs(case.y.astype(float)) < 2**31)  # its int is converted by the machine
    if case.what.name == "isclose" and case.dtype.kind in "iu":
        x, y = (abs(operand.astype(float)) for operand in (case.x, case.y))
        return keep(case, (case.x >= case.y) & (x < 2**53) & (y < 2**53))
    return case


THEIRS = ("numpy.mod", "numpy.float_power")


# python-graphblas compiles operators for each type: of integers the narrowest with a sign and the widest without soon.
ENDS = (dtypes.BOOL, dtypes.INT8, dtypes.UINT64, dtypes.FP64)
TYPES = [t if t in ENDS else pytest.param(t, marks=pytest.mark.slow) for t in dtypes.ALL]


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_operators_equal_suitesparse(gb, t):
    found, tried = [], 0
    for case in laws.cases(t):
        op = case.what
        if case.kind == "op" and op.name.startswith("numpy.") and op.name not in THEIRS:
            continue  # Numba's, which NumPy's are not at the edges: see below
        if case.kind == "op" and (isinstance(op, BinaryOp) or t.kind == "c"):
            case = defined(case)
        x, y = (gb.Vector.from_coo(np.arange(c.size), c, dtype=t.name) for c in (case.x, case.y))
        if case.kind == "cast":
            found += compare(case, x.dup(case.result.name))
        elif case.kind == "op" and isinstance(op, UnaryOp) and not op.positional:
            found += compare(case, x.apply(theirs(gb.unary, op.name)[t.name]).new())
        elif case.kind == "op" and isinstance(op, BinaryOp) and not op.positional:
            if op.name == "any":  # either operand is right
                continue
            other = gb.binary.isclose() if op.name == "isclose" else theirs(gb.binary, op.name)
            found += compare(case, x.ewise_mult(y, other[t.name]).new())
        elif case.kind == "op" and op.name.startswith("value"):
            want = dataclasses.replace(case, y=np.full_like(case.y, case.y[3 % case.y.size]))
            other = theirs(gb.indexunary, op.name)
            found += compare(want, x.apply(other[t.name], gb.Scalar.from_value(want.y[0], dtype=t.name)).new())
        else:
            continue
        tried += 1
    assert found == []
    assert tried > 60


@pytest.mark.parametrize("t", dtypes.ALL, ids=str)
def test_numpys_operators_equal_numpy(t):
    found, tried = [], 0
    for case in laws.cases(t):
        name = getattr(case.what, "name", "")
        if case.kind != "op" or not name.startswith("numpy.") or name in THEIRS:
            continue
        if name == "numpy.reciprocal" and t.kind != "f":
            case = keep(case, case.x != 0)
        if name == "numpy.sign" and t.kind == "c":  # infinite for 1
            case = keep(case, np.isfinite(case.x))
        kind = dtypes.INT8 if t is dtypes.BOOL and case.result is dtypes.INT8 else case.what.compute_type(t)
        kind = t if t.kind == "c" else kind
        columns = (case.x, case.y)[: 1 if isinstance(case.what, UnaryOp) else 2]
        with np.errstate(all="ignore"):
            want = getattr(np, name.removeprefix("numpy."))(*(c.astype(kind.np_type) for c in columns))
        got = case.on_host()
        assert got.dtype == want.dtype, case.label
        wrong = np.flatnonzero(case.disagreement(want, got, bits=False))[:1]
        found += [f"{case.label} at x={case.x[k]}, y={case.y[k]}: {got[k]!r}, NumPy says {want[k]!r}" for k in wrong]
        tried += 1
    assert found == []
    assert tried >= (5 if t.kind == "c" else 10)


# What python-graphblas has not, and bitblas has: nothing that programs lose. It compiles operators to tell their types.
@pytest.mark.slow
@pytest.mark.parametrize(("family", "table"), [("unary", "UNARY"), ("binary", "BINARY"), ("monoid", "MONOIDS")])
def test_types_equal_python_graphblas(gb, family, table):
    for name, op in (getattr(catalog, table) | getattr(numpy_operators, table)).items():
        other = theirs(getattr(gb, family), op.name)
        wanted = {str(t): str(z) for t, z in other.types.items() if str(t) in dtypes._BY_NAME}
        assert {str(t): str(z) for t, z in op.types.items()} == wanted, f"{family}.{name}"


def signature(op):
    return {t.name: op[t.name].return_type.name for t in dtypes.ALL if t.name in op}


MORE = {f"times_{name}": {"BOOL": "BOOL"} for name in ("lor", "land", "lxor")}
MORE |= {f"{m}_{op}": {"FC32": "FC32", "FC64": "FC64"} for m in ("any", "plus", "times") for op in ("iseq", "isne")}


def test_types_of_semirings_equal_python_graphblas(gb):
    """Operators by type: `.types` of python-graphblas omits versions that are created on demand."""
    for name in (f"{m}_{b}" for m in catalog.MONOIDS for b in catalog.BINARY):
        ring = catalog.find_semiring(name)
        if name not in dir(gb.semiring) and name not in dir(gb.semiring.ss):
            continue  # more names here
        found = signature(ring) if ring is not None else {}
        assert found == signature(theirs(gb.semiring, name)) | MORE.get(name, {}), name
        assert ring is None or {str(t): str(z) for t, z in ring.types.items()} == found


def test_identities_equal_python_graphblas(gb):
    for name, monoid in catalog.MONOIDS.items():
        for t in monoid.types:
            if name != "any":
                assert monoid.identity(t) == theirs(gb.monoid, name)[t.name].identity, f"{name}[{t}]"
