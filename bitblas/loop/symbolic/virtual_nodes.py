"""Products with a matrix that has virtual nodes, in a body: statements on vectors extended by the nodes come before the
recorded product (operations/virtual_nodes.py does the same for a single product).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY, INDEXUNARY
from semirings.dtypes import BOOL, INT32, INT64

from ... import tuning
from ...config import config
from ...core.matrix.matrix import Matrix
from ...core.options import StorageOptions
from ...core.statement.masks import Mask
from ...core.vector import Vector
from ...formats.virtual.layout import Places
from ...operations.permute import SUMMED
from ...operations.virtual_nodes import graph_of
from ...plan.product import equal_products, reads_matrix
from ...store import MatrixStore, VectorStore, full_bits

if TYPE_CHECKING:
    from ...core.statement.expressions import VectorExpression
    from ...core.statement.indexing import IndexExpr
    from .recorder import Recorder


def lower_virtual_product(
    recorder: Recorder, expr: VectorExpression, mask: Mask | None
) -> VectorExpression | IndexExpr[Vector] | None:
    """A product as an extraction from a vector that preceding statements fill. None if the matrix has no nodes or is
    not square, if products differ between entries, or if there is enough memory for CSR, which is then used."""
    flip = expr.method == "vxm"
    op = expr.op
    assert op is not None
    A, v = expr.args[::-1] if flip else expr.args
    held = A._matrix._read(now=True)
    if not held.structure.has_virtual_nodes:
        return None
    if recorder.host:  # its single statements run on the format itself
        recorder.refuse(f"{expr.method}: a matrix with virtual nodes")
    layout = held.structure.primary
    if config.prefer != "memory" and not held.device.missing(tuning.count("loop.csr_peak_bytes") * layout.nvals):
        return None
    x = _multiplied(v, held, op, flip)
    to = layout.rows
    if x is None or held.order is not None or (to.nodes and to is not layout.cols):
        return None
    recorder.matrices.append((A._matrix, held))
    z, held_graph = op.return_type, Matrix._from_store(graph_of(layout), None, StorageOptions(layout.inner.key))
    graph: Any = held_graph.T if A._transposed != flip else held_graph
    sums = compose(op.op.monoid, BINARY["second"])[z]
    if not to.nodes:
        multiplied = Vector(z, v.size, device=v.device)
        multiplied << x
        return graph.mxv(multiplied, sums)
    number, place, nodes = (Vector._from_store(found) for found in _numbers(to))
    given, reached, all_of, sums_of = (Vector(z, to.size, device=number.device) for _ in range(4))
    given(~nodes.S, replace=True) << x[number.to_dense()]
    reached(nodes.S, replace=True) << graph.mxv(given, sums)
    all_of << given.ewise_add(reached, sums.op.monoid)
    allowed = ~nodes.S
    if mask is not None:
        open_at = Vector(mask.parent.dtype, to.size, device=number.device)
        open_at(~nodes.S, replace=True) << mask.parent[number.to_dense()]
        allowed = open_at.S if mask.structure else open_at.V
        allowed = ~allowed if mask.complement else allowed
    sums_of(allowed, replace=True) << graph.mxv(all_of, sums)
    return sums_of[place.to_dense()]


def _multiplied(
    v: Vector, held: MatrixStore, semiring: Typed[Semiring], flip: bool
) -> Vector | VectorExpression | None:
    """v with its entries multiplied by the single value of the matrix."""
    op, expr = semiring.op.binaryop, semiring.op.binaryop.expr
    one = equal_products(semiring, held.raw, np.zeros(0), flip=flip)
    if one is not None:
        return v.apply(BINARY["second"][semiring.return_type], right=one)
    if op.positional:
        if expr.removesuffix(" + 1") not in SUMMED:
            return None
        return v.apply(INDEXUNARY["rowindex"][INT64], right=int(expr.endswith(" + 1")))
    if not reads_matrix(semiring, flip):
        return v
    if not isinstance(held.raw, np.generic):
        return None
    typed = op[semiring.op.operand_type(semiring.dtype)]
    return v.apply(typed, right=held.raw) if flip else v.apply(typed, left=held.raw)


def _numbers(places: Places) -> tuple[VectorStore, VectorStore, VectorStore]:
    """For each position its row or column in the matrix (0 for a node); for each row its position; where nodes are."""
    device, xp, size, others = places.device, places.device.xp, places.size, places.others
    is_node, number = places.numbers()
    place = xp.flatnonzero(~is_node)
    every = lambda size, x: VectorStore(device, size, INT32, full_bits(device, size), x.astype(np.int32), size)
    nodes = VectorStore(device, size, BOOL, places.bits.copy(), np.True_, places.nodes)
    return every(size, xp.where(is_node, 0, number)), every(others, place), nodes
