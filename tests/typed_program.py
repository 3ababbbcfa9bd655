"""A user's program with asserted types: mypy and pyright find no error in it.

It runs too: there `assert_type` checks the object itself. The type of an expression is that of its result.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, get_origin

import bitblas as gb
from bitblas.algorithms import bfs_levels, diameter_bounds, hits, pagerank, triangle_count
from bitblas.core.memory import Memory, VectorMemory
from bitblas.core.statement.expressions import MatrixExpression, ScalarExpression, VectorExpression
from bitblas.core.statement.masks import Mask
from bitblas.graph import Values
from bitblas.plan.product import Plan
from bitblas.plan.profile import Orders, Profile
from semirings import BinaryOp, Semiring

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value, kind):
        assert isinstance(value, get_origin(kind) or kind), (value, kind)


def main() -> None:
    A = gb.Matrix.from_coo([0, 1, 2, 0], [1, 2, 0, 2], [1.0, 2.0, 3.0, 4.0], nrows=3, ncols=3)
    v = gb.Vector.from_coo([0, 1, 2], [1.0, 2.0, 3.0], size=3)
    assert_type(A, gb.Matrix)
    assert_type(v, gb.Vector)
    assert_type(A.T, gb.TransposedMatrix)
    assert_type(A.T.new(), gb.Matrix)
    assert_type(A.nvals, int)

    # Operations are delayed; `.new()` has the type of the result.
    assert_type(A.mxv(v, gb.semiring.min_plus), VectorExpression)
    assert_type(A.mxv(v, gb.semiring.min_plus).new(), gb.Vector)
    assert_type(v.vxm(A).new(), gb.Vector)
    assert_type(A.mxm(A).new(mask=A.S), gb.Matrix)
    assert_type(A.reduce_rowwise(gb.monoid.plus).new(), gb.Vector)
    assert_type(A.reduce_scalar(gb.monoid.plus), ScalarExpression)
    assert_type(A.reduce_scalar(gb.monoid.plus).new(), gb.Scalar)
    assert_type(A.apply(gb.unary.ainv), MatrixExpression)
    assert_type(A.select(gb.select.tril).new(), gb.Matrix)
    assert_type(v.ewise_add(v, gb.monoid.plus).new(), gb.Vector)
    assert_type(v.outer(v).new(), gb.Matrix)
    assert_type(v.diag(), gb.Matrix)

    # Infix operators.
    assert_type((A @ v).new(), gb.Vector)
    assert_type((v @ A).new(), gb.Vector)
    assert_type((A @ A.T).new(mask=A.S), gb.Matrix)
    assert_type((v @ v).new(), gb.Scalar)
    assert_type((A.T @ (v + 1)).new(), gb.Vector)
    assert_type(A + A, MatrixExpression)
    assert_type(2 * v - v, VectorExpression)
    assert_type(-v, VectorExpression)
    assert_type(v > 1, VectorExpression)

    # Operators by name, and their results.
    assert_type(gb.semiring.min_plus, Semiring)
    assert_type(gb.op.plus, BinaryOp)
    assert_type(gb.semiring.min_plus(A @ v), VectorExpression)
    assert_type(gb.semiring.min_plus[gb.dtypes.FP32](v @ v).new(), gb.Scalar)
    assert_type(gb.monoid.plus(A | A.T).new(), gb.Matrix)
    assert_type(gb.unary.ainv(v + 1), VectorExpression)
    assert_type(gb.binary.plus(1, v), VectorExpression)
    assert_type(gb.select.tril(A).new(), gb.Matrix)
    assert_type(v.reduce(gb.agg.mean).new(), gb.Scalar)

    # Statements.
    w = gb.Vector(gb.dtypes.FP64, 3)
    w << A.mxv(v)
    w(v.S, accum=gb.binary.plus) << A.mxv(v)
    w(~v.S, gb.replace) << v.vxm(A, gb.semiring.plus_times)
    w(mask=v.V)[[0, 1]] << 3.0
    w[0] = 1.0
    del w[0]
    assert_type(~v.S, Mask)

    # By index.
    assert_type(v[0].new(), gb.Scalar)
    assert_type(v[[0, 1]].new(), gb.Vector)
    assert_type(A[0, 1].new(), gb.Scalar)
    assert_type(A[0, :].new(), gb.Vector)
    assert_type(A[:, 0].new(), gb.Vector)
    assert_type(A[[0, 1], :].new(), gb.Matrix)
    number: float = v[0].value
    assert number == 1.0

    # Why, and how much.
    assert_type(gb.explain(A.mxv(v)), Plan)
    assert_type(A.memory(), Memory)
    assert_type(v.memory(), VectorMemory)
    assert_type(A.profile(), Profile)
    assert_type(A.profile(orders=["rcm"]), Orders)
    with gb.trace() as t:
        A.mxv(v).new()
    assert_type(t, gb.trace)

    # Algorithms, and a Graph.
    assert_type(bfs_levels(A, 0), gb.Vector)
    assert_type(pagerank(A, alpha=0.9), gb.Vector)
    assert_type(hits(A)[0], gb.Vector)
    g = gb.Graph.from_edges([("Anna", "Ben"), ("Ben", "Cleo"), ("Cleo", "Anna")], directed=False)
    assert_type(g.matrix, gb.Matrix)
    assert_type(g.bfs("Anna"), Values)
    assert_type(g.pagerank(alpha=0.9).largest(1), list[tuple[Hashable, Any]])
    assert_type(g.triangle_count(), int)
    assert_type(triangle_count(g.matrix), int)
    assert_type(diameter_bounds(g.matrix)[0], int)
    assert_type(g.minimum_spanning_forest(), gb.Graph)
    assert_type(g.to_undirected(), gb.Graph)


if __name__ == "__main__":
    main()
