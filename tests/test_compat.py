"""Programs with `import graphblas` run on bitblas, with the calls and the internals that graphblas-algorithms uses."""

import subprocess
import sys

import pytest

INSTALL = """
import bitblas.compat
bitblas.compat.install()
from pytest import raises
"""

PROGRAM = """
bitblas.compat.install()  # again
import graphblas as gb
from graphblas import Matrix, Scalar, Vector, agg, binary, dtypes, indexunary, io, monoid, op, replace, select, semiring
from graphblas import unary
from graphblas.semiring import any_pair, min_plus, plus_first, plus_pair, plus_times
from graphblas.core import operator
from graphblas.core.matrix import TransposedMatrix
from graphblas.core.operator import get_semiring, get_typed_op
from graphblas.core.utils import ensure_type, output_type
import graphblas.core.mask, graphblas.exceptions
import bitblas

star = {}
exec("from graphblas import *", star)
names = "Matrix Vector Scalar MAX_SIZE agg backend binary config core dtypes exceptions indexunary init io monoid op"
assert set(names.split()) < set(star) and star["semiring"] is bitblas.semiring and "source" not in star
assert "algorithms" not in star
exec("from graphblas.io import *; from graphblas.exceptions import *", star)
assert star["mmread"] is bitblas.io.mmread and star["DimensionMismatch"] is bitblas.exceptions.DimensionMismatch

assert gb.Matrix is bitblas.Matrix and gb.exceptions.DimensionMismatch is bitblas.exceptions.DimensionMismatch

rows, cols = [0, 0, 1, 2, 1, 2, 2, 3], [1, 2, 2, 3, 0, 0, 1, 2]
A = Matrix.from_coo(rows, cols, 1.0, nrows=5, ncols=5)
assert output_type(A.T) is TransposedMatrix and output_type(A @ A) is Matrix and output_type(A[0, :]) is Vector
assert ensure_type(A + A, Matrix).nvals == 8 and gb.core.utils.output_type(A.reduce_scalar()) is Scalar
with raises(TypeError):
    ensure_type(A, Vector)

# triangles, as by graphblas-algorithms
L, U = select.tril(A, -1).new(name="L"), select.triu(A, 1).new(name="U")
C = plus_pair(L @ L.T).new(mask=L.S)
D = plus_pair(U @ L.T).new(mask=U.S)
t = (C.reduce_rowwise().new() + C.reduce_columnwise().new() + D.reduce_rowwise().new()).new(name="triangles")
assert t.to_dict() == {0: 1, 1: 1, 2: 1}, t.to_dict()

# breadth-first levels
v, level, k = Vector(bool, 5), Vector(int, 5), 0
v[0] = True
while v.nvals:
    level(v.S) << k
    v(~level.S, replace) << any_pair[bool](v @ A)
    k += 1
assert level.to_dict() == {0: 0, 1: 1, 2: 1, 3: 2}
assert 4 not in level and next(level.ss.iterkeys()) == 0 and next(level.ss.iteritems()) == (0, 0)

# degrees, through the operators' classes
plus, kind = operator.find_opclass(op.from_string("plus"))
assert kind == "BinaryOp" and A.reduce_rowwise(plus).new().isequal(A.reduce_rowwise(monoid.plus).new())
assert operator.find_opclass("count")[1] == "Aggregator" and operator.find_opclass(min_plus)[1] == "Semiring"
assert A.reduce_rowwise("count").new().to_dict() == {0: 2, 1: 2, 2: 3, 3: 1}
assert get_semiring(monoid.min, monoid.plus[int]) is min_plus[int]
import graphblas.binary.numpy as npbinary, graphblas.op.numpy, graphblas.semiring.ss
assert npbinary.gcd is binary.numpy.gcd is op.numpy.gcd
assert get_typed_op("plus", dtypes.INT8, dtypes.INT64, kind="binary").dtype is dtypes.INT64
assert dtypes.unify(dtypes.INT8, dtypes.FP32) == "FP32"

d = A.ss.export("hypercsr")
assert d["rows"].tolist() == [0, 1, 2, 3] and d["is_iso"] and d["values"].tolist() == [1.0]
assert A.ss.iso_value == 1.0 and A.T.ss.export("hypercsc")["cols"].tolist() == [0, 1, 2, 3]
x = Vector.from_scalar(0.2, 5)
for _ in range(3):
    x << plus_first(x @ A)
    x *= 0.5
assert abs(x.reduce().get(0) - 0.1) < 1

with raises(ImportError):
    import graphblas.core.ss.matrix
bitblas.compat.uninstall()
import sys
assert "graphblas" not in sys.modules
"""


def run(text, printed):
    done = subprocess.run([sys.executable, "-W", "error", "-c", text], capture_output=True, text=True)
    assert done.stdout == f"{printed}\n", done.stderr


def test_install_refuses_where_the_real_one_is_loaded():
    pytest.importorskip("graphblas")
    with pytest.raises(AssertionError, match=r"ImportError: graphblas: expected install\(\) before the first import"):
        run("import graphblas, bitblas.compat; bitblas.compat.install()", "")


def test_install_is_light():
    run("import sys, bitblas.compat; bitblas.compat.install(); import graphblas; print('scipy' in sys.modules)", False)


INSIDE = """
import graphblas as gb
from graphblas import binary, monoid, semiring
from graphblas.core.dtypes import FP64, DataType, lookup_dtype, unify
from graphblas.core.matrix import Matrix, MatrixExpression
from graphblas.core.operator import UNKNOWN_OPCLASS, BinaryOp, ParameterizedUnaryOp, find_opclass, get_semiring
from graphblas.core.operator.utils import get_typed_op
from graphblas.core.utils import ensure_type
from graphblas.core.vector import Vector
from graphblas.ss import concat, diag
import graphblas.core.expr, graphblas.core.operator.binary, graphblas.core.scalar

assert gb.__version__ >= "2025" and gb.dtypes._supports_complex and gb.core._supports_udfs
assert lookup_dtype(float) is FP64 is gb.dtypes.FP64 and isinstance(FP64, DataType) and unify(FP64, bool) is FP64
assert find_opclass("no_such_name") == ("no_such_name", UNKNOWN_OPCLASS) and find_opclass("plus")[1] == "BinaryOp"
assert get_typed_op(binary.bor, "INT64") is binary.bor[int] and isinstance(binary.plus, BinaryOp)
assert get_typed_op(gb.unary.abs, FP64) is gb.unary.abs[float] and get_typed_op(gb.agg.sum, FP64) is gb.agg.sum[float]
assert get_typed_op("count", FP64, kind="binary|aggregator") is gb.agg.count[float]
with raises(ValueError, match="kind"):
    get_typed_op("+", FP64)
for parts in ((monoid.plus, binary.times), (monoid.plus, monoid.times), (binary.plus, binary.times)):
    assert get_semiring(*parts) is semiring.plus_times
mine = get_semiring(monoid.plus, binary.times, "mine")
assert mine.monoid is monoid.plus and mine.binaryop is binary.times
for wrong in ((binary.plus, monoid.times), (3, binary.times), (monoid.plus, semiring.min_plus)):
    with raises(TypeError):
        get_semiring(*wrong)
v = Vector.from_coo([0, 2], [1, 2])
with gb.config.set(autocompute=False):
    assert ensure_type(v + 1, Vector).isequal(concat([v.apply("+", 1).new()]))
assert diag(v).ss.flatten().nvals == 2 and isinstance(diag(v) @ diag(v), gb.core.expr.InfixExpression)
"""

# python-graphblas' modules import each other's classes, and programs find them there.
IMPORTS = """
from graphblas.core.matrix import Matrix, Vector
from graphblas.core.matrix import DimensionMismatch, Mask, MatrixExpression, MatrixIndexExpr, Scalar, TransposedMatrix
from graphblas.core.vector import Scalar, StructuralMask, ValueMask, Vector, VectorExpression, VectorIndexExpr
from graphblas.core.scalar import FP64, Scalar, ScalarExpression, binary, monoid
from graphblas.core.base import BaseExpression, BaseType, Updater
from graphblas.core.expr import AmbiguousAssignOrExtract, InfixExprBase, Updater
from graphblas.core.infix import MatrixInfixExpr, ScalarInfixExpr, VectorInfixExpr
from graphblas.core.mask import ComplementedStructuralMask, ComplementedValueMask, Mask, StructuralMask, ValueMask
from graphblas.core.recorder import Recorder
from graphblas.core.dtypes import BOOL, FP64, INT64, DataType, lookup_dtype, register_anonymous, register_new, unify
from graphblas.core.utils import ensure_type, lookup_dtype, output_type
from graphblas.core.operator import BinaryOp, Monoid, OpBase, ParameterizedUdf, Semiring, TypedOpBase, UnaryOp
from graphblas.core.operator import aggregator_from_string, binary_from_string, op_from_string, semiring_from_string
from graphblas.core.operator.base import OpBase, OpPath, TypedOpBase
from graphblas.core.operator.binary import BinaryOp, TypedBuiltinBinaryOp, TypedUserBinaryOp
from graphblas.core.operator.monoid import Monoid, TypedBuiltinMonoid
from graphblas.core.operator.semiring import Semiring, TypedBuiltinSemiring
from graphblas.core.operator.unary import UnaryOp, lookup_dtype
from graphblas.core.operator.utils import find_opclass, get_semiring, get_typed_op, monoid_from_string
from graphblas.exceptions import DimensionMismatch, GraphblasException, IndexOutOfBound, InvalidValue, NoValue
from graphblas.semiring import min_plus, plus_times
from graphblas.semiring.numpy import add_multiply
from graphblas.monoid.numpy import add, logical_or
from graphblas.binary.numpy import gcd
from graphblas.binary.ss import firsti
from graphblas.unary import abs, ainv, one
from graphblas.select import tril, valuegt
from graphblas.indexunary import rowindex
from graphblas.agg import count, mean
from graphblas.io import from_networkx, from_scipy_sparse, mmread, mmwrite, to_networkx, to_scipy_sparse
from graphblas.ss import about, concat, config, diag
import graphblas.core.operator.agg, graphblas.core.operator.indexunary, graphblas.core.operator.select
"""

USES = """
import graphblas as gb
A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2])
assert Matrix is gb.Matrix and Vector is gb.Vector and DimensionMismatch is gb.exceptions.DimensionMismatch
assert isinstance(A.S, StructuralMask) and not isinstance(A.V, StructuralMask) and isinstance(A.V, ValueMask)
assert isinstance(~A.S, ComplementedStructuralMask) and not isinstance(~A.S, StructuralMask)
assert isinstance(A.S, Mask) and isinstance(~A.V, ComplementedValueMask) and isinstance(StructuralMask(A), Mask)
B = gb.Matrix(int, 2, 2)
B(StructuralMask(A)) << 3
assert B.to_coo()[2].tolist() == [3, 3]
assert isinstance(A, BaseType) and isinstance(A.mxm(A), BaseExpression) and isinstance(A @ A, InfixExprBase)
assert isinstance(A(), Updater) and isinstance(A[0, 1], AmbiguousAssignOrExtract)
assert isinstance(gb.binary.plus, BinaryOp) and isinstance(gb.binary.plus[int], TypedBuiltinBinaryOp)
assert binary_from_string("plus") is gb.binary.plus and semiring_from_string("min_plus") is min_plus
assert monoid_from_string("min") is gb.monoid.min and op_from_string("abs") is abs
assert aggregator_from_string("count") is count and lookup_dtype(float) is FP64
"""


@pytest.mark.parametrize("program", [PROGRAM, INSIDE, IMPORTS + USES], ids=["program", "inside", "imports"])
def test_a_program_for_python_graphblas_runs_under_its_name(program):
    """Its public names, what programs import of the inside, and classes that modules import from each other."""
    run(f"{INSTALL}{program}print('fine')", "fine")


def test_these_imports_are_those_of_python_graphblas():
    pytest.importorskip("graphblas")
    run(f"import warnings; warnings.simplefilter('default'); import graphblas\n{IMPORTS}print('fine')", "fine")
