"""Convert matrices from and to scipy.sparse, python-graphblas and NetworkX, and graphs from and to igraph.

Each library is imported by the functions that need it. NumPy arrays are converted by ``Matrix.from_coo``,
``from_dense``, ``to_coo`` and ``to_dense``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from semirings import DataType
from semirings.dtypes import INT64, lookup_dtype

from .. import extras
from ..core import Matrix, TransposedMatrix, Vector
from ..core.convert import array_of, contents
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, edges, validation
from ..typing import DTypeLike
from .build import (
    Coordinates,
    DupOp,
    Entries,
    MatrixOptions,
    build,
    check_dup_op,
    check_values_fit,
    check_weights,
    columns_of,
    from_entries_exact,
    has_one_value,
    host_coo,
    may_overflow,
    with_reverse_edges,
)
from .tables import numbers_of

_SCIPY_FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


def from_scipy_sparse(
    A: Any,
    *,
    dup_op: DupOp | None = None,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Matrix:
    """A Matrix from a scipy.sparse array or matrix of any format, of the same dtype; explicit zeros are entries.

    Raises
    ------
    ValueError
        For a dtype without a counterpart in GraphBLAS (float16).
    InvalidValue
        For a sum beyond 64 bits.

    Notes
    -----
    If all values are equal, the Matrix is iso-valued. ``dup_op`` combines duplicate entries, which
    raise without it; sums and products of small integers are INT64.
    """
    coo = A.tocoo()
    check_dup_op(dup_op)
    options = MatrixOptions(
        dup_op, None if may_overflow(dup_op, A.dtype) else A.dtype, name, device, format, tile, packed
    )
    return from_entries_exact("scipy.sparse", (coo.row, coo.col, coo.data), A.shape, options)


def to_scipy_sparse(A: Coordinates, format: str = "csr") -> Any:
    """A scipy.sparse array of the same shape and dtype, in host memory; explicit zeros are kept. A Vector becomes one
    row; as csc, one column.

    Parameters
    ----------
    format : optional
        bsr, csr, csc, coo, lil, dia or dok; ValueError for any other.
    """
    from scipy.sparse import coo_array

    format = format.lower()
    if format not in _SCIPY_FORMATS:
        raise ValueError(f"format: expected one of {', '.join(_SCIPY_FORMATS)}, got {format!r}")
    rows, cols, values, shape = columns_of(A)
    if len(A.shape) == 1 and format != "csc":
        rows, cols, shape = cols, rows, shape[::-1]
    return coo_array((values, (rows, cols)), shape=shape).asformat(format)


def from_graphblas(
    M: Any, *, device: str | None = None, format: str | None = None, tile: int | None = None, packed: bool | None = None
) -> Matrix | Vector:
    """A Matrix or Vector from a python-graphblas one, of the same dtype; iso-valued objects stay iso-valued.

    ValueError for an unsupported dtype (user-defined).
    """
    *indices, values = M.to_coo()
    dtype = str(M.dtype)
    if has_one_value(values):
        values = values[0]
    if len(indices) == 1:
        return Vector.from_coo(indices[0], values, dtype, size=M.size, device=device)
    rows, cols = indices
    return Matrix.from_coo(
        rows, cols, values, dtype, nrows=M.nrows, ncols=M.ncols, device=device, format=format, tile=tile, packed=packed
    )


def to_graphblas(A: Matrix | TransposedMatrix | Vector) -> Any:
    """A python-graphblas Matrix or Vector, of the same dtype; iso-valued if all values are equal.

    ImportError if python-graphblas is not installed.
    """
    graphblas = extras.load("graphblas", "to_graphblas", "python-graphblas")
    *indices, values = host_coo(A)
    dtype = str(A.dtype)
    if has_one_value(values):
        values = values[0]
    if isinstance(A, Vector):
        return graphblas.Vector.from_coo(*indices, values, dtype, size=A.size)
    return graphblas.Matrix.from_coo(*indices, values, dtype, nrows=A.nrows, ncols=A.ncols)


def from_networkx(
    G: Any,
    nodelist: Iterable[Hashable] | None = None,
    dtype: DTypeLike | None = None,
    weight: str | None = "weight",
    name: str | None = None,
    *,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
    dup_op: DupOp | None = "plus",
) -> Matrix:
    """The square adjacency Matrix of a NetworkX graph: vertex k is the k-th of ``nodelist``, or of ``G``.

    Parameters
    ----------
    dup_op : optional
        Combines parallel edges ("plus", as in NetworkX's matrices, "min", "first", ..); None:
        InvalidValue.
    dtype : optional
        By default INT64 for integers (UINT64 from 2**63 on), otherwise NumPy's choice.

    Raises
    ------
    InvalidValue
        For a node list with duplicates or nodes that are not in G, for a weight (other than the
        default) that no edge has, and for values or sums that do not fit the dtype.
    ImportError
        Without NetworkX.

    Notes
    -----
    An edge has the value of its attribute ``weight``, or 1 without the attribute or if weight is None;
    an undirected edge is an entry in both directions.
    """
    extras.load("networkx", "from_networkx")
    kind = None if dtype is None else lookup_dtype(dtype)
    options = MatrixOptions(dup_op, kind, name, device, format, tile, packed)
    if not len(G):
        return Matrix(kind or INT64, 0, 0, name=name, **options.storage)
    if weight not in (None, "weight") and len(G.edges) and not any(weight in data for *_, data in G.edges(data=True)):
        raise InvalidValue(f"weight: expected an attribute of edges, got {weight!r}, which no edge has")
    nodes = list(G) if nodelist is None else list(nodelist)
    absent = next((f", got {node!r}" for node in nodes if node not in G), None)
    number = {} if absent else {node: k for k, node in enumerate(nodes)}
    if absent or not nodes or len(number) < len(nodes):
        got = absent or (", got one twice" if nodes else ", got none")
        raise InvalidValue(f"nodelist: expected nodes of the graph, each once{got}")
    table = list((G if len(number) == len(G) else G.subgraph(number)).edges(data=weight, default=1))
    rows, cols = (np.array([number[row[end]] for row in table], np.int64) for end in (0, 1))
    try:
        values = _weights([value for *_, value in table], weight, kind)
        check_values_fit("networkx", values, kind)
    except InvalidValue:
        check_weights(table, weight, kind, ". Hint: dtype='FP64' rounds it")  # the error names the edge
        raise
    entries: Entries = rows, cols, values
    if not G.is_directed():
        entries = with_reverse_edges(entries)
    shape = (len(nodes), len(nodes))
    if not G.is_multigraph():
        return from_entries_exact("networkx", entries, shape, options._replace(dup_op=None))
    if dup_op is None and not any(weight in data for *_, data in G.edges(data=True)):
        options = options._replace(dup_op="first")  # all are 1
    where = lambda i, j: f": expected every edge once, got parallel ones from {nodes[i]!r} to {nodes[j]!r}"
    return build("networkx", entries, shape, options, where=where)


def _weights(weights: list[Any], attribute: str | None, kind: DataType | None) -> np.ndarray:
    """Exact edge weights: integers, or floats if `kind` is a float type or one of the weights is a float."""
    expected = f"weight: expected a number as {attribute!r} of every edge"
    try:
        values = array_of(weights, kind if kind is not None and kind.kind in "fcb" else None)
    except (OverflowError, TypeError, ValueError) as error:
        raise InvalidValue(f"{expected}, got other values: {error}") from None
    if values.ndim != 1 or values.dtype.kind not in "biufc":
        raise InvalidValue(f"{expected}, got other values: {contents(values)}")
    return values


def to_networkx(m: Matrix | TransposedMatrix, edge_attribute: str | None = "weight") -> Any:
    """A networkx.DiGraph with the nodes 0 .. n-1 and an edge for each entry of a square Matrix.

    Parameters
    ----------
    edge_attribute : optional
        The attribute for the value, a Python number; None: no attribute. All n vertices become nodes,
        including those without edges (python-graphblas omits these).

    Raises
    ------
    DimensionMismatch
        If m is not square.
    ImportError
        Without NetworkX.
    """
    networkx = extras.load("networkx", "to_networkx")
    if m.nrows != m.ncols:
        raise DimensionMismatch(f"m: expected a square matrix, got {m.nrows} x {m.ncols}")
    G = networkx.DiGraph()
    G.add_nodes_from(range(m.nrows))
    rows, cols, values = (part.tolist() for part in host_coo(m))
    if edge_attribute is None:
        G.add_edges_from(zip(rows, cols))
    else:
        G.add_weighted_edges_from(zip(rows, cols, values), weight=edge_attribute)
    return G


def from_igraph(
    G: Any,
    weight: str | None = "weight",
    *,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
    dup_op: DupOp | None = "plus",
) -> Graph:
    """Convert an igraph.Graph: vertex k is its vertex k; labels are the vertex attribute `name`, if there is one.

    Parameters
    ----------
    weight : optional
        The edge attribute with the values; without it, or with None, every edge has the value 1. An
        undirected edge is an entry in both directions.
    dup_op : optional
        Combines parallel edges, by their sum as in `from_networkx`; None: InvalidValue. InvalidValue
        also for two vertices of one name, and if only some vertices have a name.
    """
    ends = np.array(G.get_edgelist(), np.int64).reshape(-1, 2)
    weighted = weight is not None and weight in G.es.attributes()
    values = np.ones(len(ends), np.int64)
    if weighted:
        try:
            values = numbers_of(G.es[weight], f"edge attribute {weight!r}")
        except InvalidValue:
            check_weights(((*end, value) for end, value in zip(ends.tolist(), G.es[weight])), weight)  # names the edge
            raise
    entries: Entries = ends[:, 0], ends[:, 1], values
    if not G.is_directed():
        entries = with_reverse_edges(entries)
    if not weighted and dup_op is None:
        dup_op = "first"  # all are 1
    options = MatrixOptions(dup_op, None, name, device, format, tile, packed)
    matrix = build("igraph", entries, (G.vcount(), G.vcount()), options)
    names = None
    if "name" in G.vs.attributes():
        strings = map(str, validation.different_names("vertex attribute 'name'", G.vs["name"]))
        names = validation.different_names("vertex attribute 'name', as strings", strings)
    return Graph._of_names(matrix, names, directed=G.is_directed())


def to_igraph(A: Matrix | TransposedMatrix | Graph, weight: str | None = "weight", *, directed: bool = True) -> Any:
    """An igraph.Graph with a vertex for each row of a square Matrix, or of a Graph, whose labels become the names.

    Parameters
    ----------
    weight : optional
        The edge attribute for the values; None, or a Graph without weights: no attribute.
    directed : optional
        False: each edge once, from the upper triangle.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    ImportError
        Without igraph.
    """
    igraph = extras.load("igraph", "to_igraph")
    graph = A if isinstance(A, Graph) else None
    A = A.matrix if isinstance(A, Graph) else A
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"A: expected a square matrix, got {A.nrows} x {A.ncols}")
    rows, cols, values = host_coo(A)
    if not directed:
        upper = rows <= cols
        rows, cols, values = rows[upper], cols[upper], values[upper]
    G = igraph.Graph(n=A.nrows, edges=np.stack([rows, cols], axis=1).astype(np.int64).tolist(), directed=directed)
    if weight is not None and not (graph is not None and edges.unweighted(values)):
        G.es[weight] = values.tolist()
    if graph is not None and graph.labels is not None:
        G.vs["name"] = list(graph.labels)
    return G
