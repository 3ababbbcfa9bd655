"""Matrices from other libraries and back: scipy.sparse, python-graphblas, NetworkX.

Each is imported by the functions that need it. NumPy arrays go through ``Matrix.from_coo``, ``from_dense``, ``to_coo``
and ``to_dense``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import extras
from ..exceptions import DimensionMismatch, InvalidValue
from .build import build, check_weights, columns_of, from_entries, host_coo, mirrored, one_value

if TYPE_CHECKING:
    from ..core import Matrix

_SCIPY_FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


def from_scipy_sparse(
    A: Any, *, dup_op: Any = None, name: str | None = None, device: str | None = None, format: str | None = None,
    tile: int | None = None, packed: bool | None = None,
) -> Matrix:  # fmt: skip
    """A Matrix from a scipy.sparse array or matrix of any format, of the same dtype; explicit zeros are entries.

    Where all values are equal the Matrix holds one value. ``dup_op`` joins entries that are there twice; without it
    they raise. ValueError for a dtype that GraphBLAS has not (float16).
    """
    coo = A.tocoo()
    return from_entries(
        coo.row, coo.col, coo.data, A.dtype, A.shape, dup_op=dup_op, name=name, device=device, format=format, tile=tile,
        packed=packed,
    )  # fmt: skip


def to_scipy_sparse(A: Any, format: str = "csr") -> Any:
    """A scipy.sparse array of the same shape and dtype, in host memory; explicit zeros stay. A Vector gives one row;
    as csc, one column.

    format: bsr, csr, csc, coo, lil, dia or dok; ValueError for another.
    """
    from scipy.sparse import coo_array

    format = format.lower()
    if format not in _SCIPY_FORMATS:
        raise ValueError(f"format: expected one of {', '.join(_SCIPY_FORMATS)}, got {format!r}")
    rows, cols, values, shape = columns_of(A)
    if not hasattr(A, "nrows") and format != "csc":
        rows, cols, shape = cols, rows, shape[::-1]
    return coo_array((values, (rows, cols)), shape=shape).asformat(format)


def from_graphblas(
    M: Any, *, device: str | None = None, format: str | None = None, tile: int | None = None, packed: bool | None = None
) -> Any:
    """A Matrix or Vector from a python-graphblas one, of the same dtype; an iso-valued one stays so.

    ValueError for a dtype that there is not here (user-defined).
    """
    import bitblas as gb

    *indices, values = M.to_coo()
    dtype = str(M.dtype)
    if one_value(values):
        values = values[0]
    if len(indices) == 1:
        return gb.Vector.from_coo(indices[0], values, dtype, size=M.size, device=device)
    rows, cols = indices
    return gb.Matrix.from_coo(
        rows, cols, values, dtype, nrows=M.nrows, ncols=M.ncols, device=device, format=format, tile=tile, packed=packed
    )


def to_graphblas(A: Any) -> Any:
    """A python-graphblas Matrix or Vector, of the same dtype; iso-valued where all values are equal.

    ImportError where python-graphblas is not installed.
    """
    graphblas = extras.load("graphblas", "to_graphblas", "python-graphblas")
    *indices, values = host_coo(A)
    dtype = str(A.dtype)
    if one_value(values):
        values = values[0]
    if len(indices) == 1:
        return graphblas.Vector.from_coo(*indices, values, dtype, size=A.size)
    return graphblas.Matrix.from_coo(*indices, values, dtype, nrows=A.nrows, ncols=A.ncols)


def from_networkx(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: str | None = "weight", name: str | None = None, *,
    device: str | None = None, format: str | None = None, tile: int | None = None,
    packed: bool | None = None, dup_op: Any = "plus",
) -> Matrix:  # fmt: skip
    """The square adjacency Matrix of a NetworkX graph: vertex k is the k-th of ``nodelist``, or of ``G``.

    An edge has the value of its attribute ``weight``, 1 where it has none or weight is None; an undirected edge is an
    entry in both directions. dup_op: what parallel edges become ("plus", as in NetworkX's matrices, "min", "first",
    ..); None: InvalidValue. dtype: NumPy's choice (INT64 for integers) if not given.

    Raises InvalidValue for a node list with a node twice or one that is not in G, and for a weight, other than the
    default, that no edge has; ImportError without NetworkX.
    """
    import bitblas as gb

    networkx = extras.load("networkx", "from_networkx")
    kind = None if dtype is None else gb.dtypes.lookup_dtype(dtype)
    if not len(G):
        return gb.Matrix(
            kind or gb.dtypes.INT64, 0, 0, name=name, device=device, format=format, tile=tile, packed=packed
        )
    if weight not in (None, "weight") and len(G.edges) and not any(weight in data for *_, data in G.edges(data=True)):
        raise InvalidValue(f"weight: expected an attribute of edges, got {weight!r}, which none has")
    if G.is_multigraph() and dup_op != "plus":
        return _of_multigraph(
            G, nodelist, weight, kind, dup_op=dup_op, name=name, device=device, format=format, tile=tile, packed=packed
        )
    try:
        A = networkx.to_scipy_sparse_array(G, nodelist, None if kind is None else kind.np_type, weight)
    except networkx.NetworkXError as error:
        raise InvalidValue(f"nodelist: expected nodes of the graph, each once, got: {error}") from None
    except (TypeError, ValueError, OverflowError) as error:
        _check_weights(G, weight, kind)
        raise InvalidValue(f"weight: expected a number as {weight!r} of every edge, got others: {error}") from None
    if A.dtype.kind == "f" and weight is not None:  # NumPy's choice for integers of both signs beyond INT64
        _check_weights(G, weight, kind)
    return from_scipy_sparse(A, name=name, device=device, format=format, tile=tile, packed=packed)


def _check_weights(G: Any, weight: str | None, dtype: Any) -> None:
    """`check_weights` of a NetworkX graph."""
    if weight is not None:
        check_weights(G.edges(data=weight, default=1), weight, dtype)


def _of_multigraph(G: Any, nodelist: Any, weight: str | None, dtype: Any, *, dup_op: Any, **where: Any) -> Matrix:
    """The same where parallel edges are joined otherwise, or refused."""
    number = {node: k for k, node in enumerate(G if nodelist is None else nodelist)}
    if nodelist is not None and (len(number) < len(nodelist) or not all(node in G for node in number)):
        raise InvalidValue("nodelist: expected nodes of the graph, each once")
    table = list((G if nodelist is None else G.subgraph(number)).edges(data=True))
    rows, cols = (np.array([number[row[end]] for row in table], np.int64) for end in (0, 1))
    weighted = any(weight in data for *_, data in table)
    if weighted:
        check_weights(((u, v, data.get(weight, 1)) for u, v, data in table), weight, dtype)
    values = np.array([data.get(weight, 1) for *_, data in table]) if weighted else np.ones(len(table), np.int64)
    if not G.is_directed():
        rows, cols, values = mirrored(rows, cols, values)
    if not weighted and dup_op is None:
        dup_op = "first"  # all are 1
    nodes, shape = list(number), (len(number), len(number))
    twice = lambda i, j: f": expected every edge once, got parallel ones from {nodes[i]!r} to {nodes[j]!r}"
    return build("networkx", rows, cols, values, shape, dup_op=dup_op, dtype=dtype, where=twice, **where)


def to_networkx(m: Any, edge_attribute: str | None = "weight") -> Any:
    """A networkx.DiGraph with the nodes 0 .. n-1 and an edge for each entry of a square Matrix.

    edge_attribute: the attribute that holds the value, a Python number; None: edges have none. All n vertices are
    nodes, also those without an edge (python-graphblas leaves these out).

    Raises DimensionMismatch if m is not square; ImportError without NetworkX.
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
