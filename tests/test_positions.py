"""Positional operators wherever operands meet, against python-graphblas; as semirings and operators alike."""

import pytest

import bitblas

oracle = pytest.importorskip("graphblas")
POSITIONS = [f"{of}{axis}{one}" for of in ("first", "second") for axis in "ij" for one in ("", "1")]


def objects(gb, dtype):
    u = gb.Vector.from_coo([0, 2, 3], [1, 2, 3], size=4, dtype=dtype)
    v = gb.Vector.from_coo([0, 1, 3], [3, 5, 6], size=4, dtype=dtype)
    A = gb.Matrix.from_coo([0, 0, 1, 2, 3, 3], [1, 3, 0, 2, 0, 3], [1, 2, 3, 4, 5, 6], nrows=4, ncols=4, dtype=dtype)
    B = gb.Matrix.from_coo([0, 1, 1, 2, 3], [2, 1, 3, 0, 1], [1, 2, 3, 4, 5], nrows=4, ncols=4, dtype=dtype)
    return {"u": u, "v": v, "A": A, "B": B, "none": gb.Vector(dtype, 4)}


PRODUCTS = ["u.inner(v, op)", "v.inner(v, op)", "op(u @ v)", "u.inner(none, op)", "A.mxv(u, op)", "u.vxm(A, op)"]
PRODUCTS += ["A.T.mxv(u, op)", "u.vxm(A.T, op)", "A.mxm(B, op)", "A.T.mxm(B, op)", "A.mxm(B.T, op)", "A.T.mxm(B.T, op)"]
TOGETHER = ["u.ewise_mult(v, op)", "u.ewise_add(v, op)", "u.ewise_union(v, op, 1, 2)", "A.ewise_mult(B, op)"]
TOGETHER += ["A.ewise_add(B, op)", "A.ewise_mult(B.T, op)", "A.T.ewise_add(B, op)", "A.ewise_union(B, op, 1, 2)"]
TOGETHER += [
    "u.outer(v, op)",
    "A.kronecker(B, op)",
    "u.apply(op, left=2)",
    "A.apply(op, right=2)",
    "A.T.apply(op, left=2)",
]


def result(gb, statement, family, name, dtype):
    found = eval(statement, {**objects(gb, dtype), "op": getattr(getattr(gb, family).ss, name)}).new()
    return found.dtype.name, found.value if found.shape == () else [x.tolist() for x in found.to_coo()]


@pytest.mark.in_turn
@pytest.mark.parametrize("position", POSITIONS)
def test_products_equal_python_graphblas(device, position):
    """`any` may take another product than there. Every position meets `max` everywhere, and one monoid more."""
    for monoid in ("max", ("min", "plus", "times")[POSITIONS.index(position) % 3]):
        for statement in PRODUCTS if monoid == "max" else PRODUCTS[:6]:
            ours, theirs = (
                result(gb, statement, "semiring", f"{monoid}_{position}", "FP64") for gb in (bitblas, oracle)
            )
            assert ours == theirs, (monoid, statement)
    assert result(bitblas, PRODUCTS[0], "semiring", f"any_{position}", "INT32")[0] == "INT32"


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("position", "dtype"),
    [
        *((p, "INT32") for p in POSITIONS),
        *(pytest.param(p, "BOOL", marks=pytest.mark.slow) for p in ("firsti", "secondj1")),
    ],
)
def test_operators_equal_python_graphblas(device, position, dtype):
    for statement in TOGETHER:
        ours, theirs = (result(gb, statement, "binary", position, dtype) for gb in (bitblas, oracle))
        assert ours == theirs, statement


@pytest.mark.in_turn
@pytest.mark.parametrize("position", POSITIONS)
def test_inner_products_of_reordered_vectors_have_the_users_positions(device, position):
    """A vector that was multiplied by a reordered matrix is stored in its order."""
    names = objects(bitblas, "INT64")
    A = names["A"].reorder("rcm")
    x, y = A.mxv(names["u"]).new(), A.T.mxv(names["v"]).new()
    assert x._data.order is not None
    plain = [bitblas.Vector.from_coo(*w.to_coo(), size=4) for w in (x, y)]
    op = bitblas.semiring[f"max_{position}"]
    want = plain[0].inner(plain[1], op).new().value
    assert x.inner(y, op).new().value == want is not None


def test_values_of_kronecker_have_the_type_that_they_say(device):
    names = objects(bitblas, "INT32")
    K = names["A"].kronecker(names["B"], bitblas.binary.firsti1).new()
    assert K.dtype.np_type == K.to_coo()[2].dtype == "int32"
