"""Edges of a Graph: export as tables, symmetrize, and count degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tuning
from ..core.convert import exact_sums
from ..exceptions import InvalidValue, warn
from . import validation
from .answers import Values

if TYPE_CHECKING:
    from ..core import Matrix, Vector
    from ..io.build import DupOp
    from .graph import Graph


def unweighted(values: np.ndarray) -> bool:
    """Whether edges with these values have no weights: all are True."""
    return values.dtype == bool and bool(values.all())


def edge_table(graph: Graph) -> dict[str, Any]:
    """Columns of the edges: source, target, weight, and the attributes; undirected edges once."""
    from ..io.build import host_coo

    matrices = {"weight": graph.matrix, **graph.attributes}
    if not graph.directed:
        import bitblas as gb

        matrices = {name: A.select(gb.select.triu).new() for name, A in matrices.items()}
    found: dict[str, Any] = {}
    for name, A in matrices.items():
        rows, cols, values = host_coo(A)
        if not found:
            found = {end: [graph._name(v) for v in at.tolist()] for end, at in (("source", rows), ("target", cols))}
        if len(values) != len(found["source"]):
            raise InvalidValue(f"attribute {name!r}: expected a value at every edge, got {len(values)}")
        found[name] = values
    return found


def both_ways(A: Matrix, dup_op: DupOp | None = None, **where: Any) -> Matrix:
    """Every edge in both directions; if the two have different values, the smaller is kept, or dup_op combines them,
    that of the vertex that comes first as its first operand. Small integers become INT64 if the result may be larger.
    where: storage options. InvalidValue for an unknown dup_op, and for a value that does not fit."""
    import bitblas as gb

    from ..io.build import check_dup_op, check_overflow, may_overflow, results_fit, smaller_operator

    if dup_op is None:
        both = gb.Matrix(A.dtype, *A.shape, **{**where, "device": A.device})
        both << A.ewise_add(A.T, smaller_operator(A.dtype))
        return both
    check_dup_op(dup_op, A.dtype)
    growing = may_overflow(dup_op, A.dtype.np_type) and A.nvals > 0
    if growing and A.dtype.nbytes < 8:
        A = A.dup(gb.dtypes.INT64)
    upper = _combine_directions(A, dup_op)
    if growing and not results_fit(dup_op, 2.0 * _largest(A), A.dtype.np_type):
        check_overflow("to_undirected", dup_op, upper, _combine_directions(A.dup(gb.dtypes.FP64), dup_op))
    both = gb.Matrix(A.dtype, *A.shape, **{**where, "device": A.device})
    both << upper.ewise_add(upper.T, smaller_operator(A.dtype))
    return both


def _combine_directions(A: Matrix, dup_op: DupOp) -> Matrix:
    """The upper triangle, each entry combined with its mirror image."""
    import bitblas as gb

    lower = A.select(gb.select.tril, -1).new().T
    return A.select(gb.select.triu).new().ewise_add(lower, dup_op).new(A.dtype)


def _largest(A: Matrix) -> int:
    """The largest absolute value of a Matrix of integers."""
    import bitblas as gb

    low, high = (A.reduce_scalar(f).new().value for f in (gb.monoid.min, gb.monoid.max))
    return 0 if low is None else max(int(high), -int(low))


def has_all_reverse_edges(A: Matrix, *, loops: bool = False) -> bool:
    """Whether the reverse of every edge is present with the same weight, and not all are loops (or loops=True)."""
    import bitblas as gb

    from ..io.build import host_coo

    if not A.nvals or A.nrows != A.ncols:
        return False
    if A.nvals <= tuning.count("graph.compared_entries"):
        rows, cols, values = host_coo(A)
        if np.array_equal(np.sort(rows), np.sort(cols)) and (loops or (rows != cols).any()):
            by_row, by_column = np.lexsort((cols, rows)), np.lexsort((rows, cols))
            pairs = (rows, cols), (cols, rows), (values, values)
            return all(np.array_equal(one[by_row], other[by_column]) for one, other in pairs)
        return False
    if not A._stored.structure.symmetric or not (A._stored.iso or A.isequal(A.T.new())):
        return False
    return loops or A.select(gb.select.diag).new().nvals < A.nvals


def is_symmetric(A: Matrix) -> bool:
    """Whether a square Matrix has a symmetric structure; cached with the structure."""
    return bool(A.is_symmetric(values=False) if hasattr(A, "is_symmetric") else A._store.structure.symmetric)


def can_store_names(graph: Graph, kind: str) -> bool:
    """Whether a file of this format can store the vertex names."""
    if kind == "bitblas":
        return validation.kind_of_names(graph.labels or ()) is not None
    return kind not in ("mtx", "npz", "binsparse", "metis")


def writer_options(graph: Graph, kind: str) -> dict[str, Any]:
    """The options for writing a graph to a file of this format, in addition to its matrix. Warns of what the format
    cannot store, and of names that will be read as numbers."""
    named = bool(graph.labels) and can_store_names(graph, kind)
    lost = ["the names of the vertices"] if graph.labels and not named else []
    lost += [f"the attributes {', '.join(graph.attributes)}"] if graph.attributes else []
    lost += lost_vertices(graph, kind)
    if lost:
        warn(f"a file of format {kind} cannot store {' and '.join(lost)}: they are left out")
    elif kind not in ("parquet", "bitblas") and any(str(name).lstrip("+-").isdecimal() for name in graph.labels or ()):
        warn("names that look like numbers will be read as numbers, unless labels=True is passed")
    more = direction_options(graph, kind)
    return {**more, "labels": graph.labels} if named else more


def lost_vertices(graph: Graph, kind: str) -> list[str]:
    """What an edge list cannot store: vertices without edges, if they have names or the largest numbers."""
    from ..io.build import host_coo

    A = graph.matrix
    if kind not in ("csv", "tsv", "edges", "parquet") or A.nrows != A.ncols:
        return []
    rows, cols, _ = host_coo(A)
    if graph.labels is None:
        last = max((int(ends.max()) for ends in (rows, cols) if len(ends)), default=-1) + 1
        found = f"vertices without edges after the last one with edges (size={A.nrows} reads them)"
        return [found] if last < A.nrows else []
    has_edges = np.zeros(A.nrows, bool)
    has_edges[rows] = has_edges[cols] = True
    isolated = np.flatnonzero(~has_edges).tolist()
    some = ", ".join(repr(graph.labels[k]) for k in isolated[:3]) + ", .." * (len(isolated) > 3)
    return [f"vertices without edges ({some})"] if isolated else []


def direction_options(graph: Graph, kind: str) -> dict[str, Any]:
    """Writer options that store whether the graph is directed. An edge list cannot store it."""
    if kind in ("bitblas", "npz", "parquet"):
        return {"directed": graph.directed}
    if kind == "metis" and graph.directed:
        raise InvalidValue("expected an undirected graph for METIS, got a directed one. Hint: graph.to_undirected()")
    if kind == "mtx" and graph.directed and has_all_reverse_edges(graph.matrix, loops=True):
        return {"symmetry": "general"}  # a symmetric file would be read as an undirected graph
    return {}


def loops(A: Matrix) -> Matrix:
    """The diagonal, as a Matrix."""
    import bitblas as gb

    return A.select(gb.select.diag).new()


def degrees(graph: Graph, *, out: bool, into: bool, weighted: bool) -> Values:
    """Degrees of all vertices, counting edges that begin (out) and end (into) there, or the sums of their weights."""
    import bitblas as gb

    A = graph.matrix
    weighted = validation.check_weighted(weighted, graph.attributes) and A.dtype != gb.dtypes.BOOL
    if weighted and A.dtype.kind in "iu" and A.nvals:
        # Use exact sums unless all sums certainly fit INT64.
        limit = 2 * A.nvals
        if int(A.dtype.highest) * limit >= 1 << 63 and _largest(A) * limit >= 1 << 63:
            return Values(graph, _exact_degrees(graph, out=out, into=into))
    real = {"f": gb.dtypes.FP64, "c": gb.dtypes.FC64}.get(A.dtype.kind) if weighted else None
    total = gb.Vector(real or gb.dtypes.INT64, A.nrows, device=A.device.name)
    A, count = (A.dup(total.dtype), gb.monoid.plus) if weighted else (A, gb.agg.count)
    total[:] = 0
    if out:
        total(gb.binary.plus) << A.reduce_rowwise(count)
    if into:
        total(gb.binary.plus) << (A.reduce_columnwise(count) if graph.directed else loops(A).reduce_rowwise(count))
    return Values(graph, total)


def _exact_degrees(graph: Graph, *, out: bool, into: bool) -> Vector:
    """The sums of large integers at each vertex, INT64 or UINT64. InvalidValue if neither fits all of them."""
    import bitblas as gb

    from ..io.build import host_coo

    A, sums = graph.matrix, [0] * graph.matrix.nrows
    rows, cols, values = host_coo(A)
    ends = [(rows, values)] if out else []
    if into:
        counted = slice(None) if graph.directed else rows == cols
        ends.append((cols[counted], values[counted]))
    for at, weights in ends:
        sums = [x + y for x, y in zip(sums, exact_sums(weights, at.astype(np.int64), A.nrows))]
    try:
        return gb.Vector.from_dense(sums, device=A.device.name)
    except OverflowError:
        k = max(range(len(sums)), key=lambda vertex: abs(sums[vertex]))
        raise InvalidValue(
            f"weighted: expected sums of weights that fit INT64 or UINT64, got {sums[k]} at vertex "
            f"{graph.label(k)!r}. Hint: Graph(g.matrix.dup(float), g.labels) has float weights"
        ) from None
