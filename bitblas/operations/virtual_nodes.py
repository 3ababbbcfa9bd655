"""SpMV with virtual nodes (formats/virtual): two products with the graph that contains them, by the ordinary kernels.

The matrix A = R or L V has one value a, so A x is a product with a x, which is computed once for each position; only
sums remain. A pull computes V x first, at the positions of nodes (a mask), then R x and L (V x) at the positions of
rows, under the mask of the statement. A push goes the other way round: along the graph from the active entries, and
again from the nodes that were reached. Both meet each entry of A once, so the monoid combines the two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, DataType, cast_scalar

from .. import tuning
from ..formats import Structure
from ..formats.virtual.layout import Places, Virtual, of_nodes, of_others
from ..plan.direction import ProductFacts
from ..plan.epilogue import Epilogue
from ..plan.product import Plan, equal_products, reads_matrix
from ..store import MatrixStore, VectorStore, dense_values, words
from ..typing import Array
from . import ewise_vector, hypersparse, spmv_kernels
from .compressed import kernel_of
from .operands import Input, Into, Mask, Output, VectorProduct, stored
from .permute import by_number
from .spmv_kernels import DegreeBinnedPull

if TYPE_CHECKING:
    from .spmv import PreparedProduct

    Prepare = Callable[[MatrixStore, VectorStore, Typed[Semiring], bool, bool], tuple[PreparedProduct, float]]
Mxv = Callable[..., VectorStore]  # spmv.mxv


def mxv(product: Mxv, prepared: Prepare, of: VectorProduct) -> VectorStore:
    """A (+).(x) u for an A with virtual nodes; `product` is the function for ordinary matrices, `prepared` plans it."""
    A, u, semiring, transpose, flip, mask, into = of
    sums = Sums.of(A, u, semiring, transpose=transpose, flip=flip)
    if sums is None:
        return product(rows_of(A), u, semiring, transpose, flip, mask, into)
    return hypersparse.merge_into(sums.run(product, prepared, mask), mask, into)


def rows_of(A: MatrixStore) -> MatrixStore:
    """The same matrix as temporary CSR, with entries in the same order."""
    structure = Structure(A.structure.plain_rows())
    structure._symmetric = A.structure._symmetric
    return MatrixStore(structure, A.dtype, A.raw).tagged(A.order)


def explained(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool
) -> tuple[Plan, tuple[MatrixStore, VectorStore, Typed[Semiring], dict[str, bool]]]:
    """The plan of such a product; and the product that it corresponds to, with the graph or with rows."""
    sums = Sums.of(A, u, semiring, transpose=transpose, flip=flip)
    if sums is None:
        rows, how = rows_of(A), {"transpose": transpose, "flip": flip}
        plan = spmv_kernels.explain_mxv(rows, u, semiring, **how)
        why = f"{plan.reason}; this statement converts to rows, because products differ by entry"
        return plan._replace(reason=why), (rows, u, semiring, how)
    layout: Any = A.structure.primary
    plan, x = sums.plan(), sums.spread()
    nodes = f"{layout.rows.nodes} virtual nodes, in {plan.key}, in two products"
    verb, name = "vxm" if flip else "mxv", semiring.op.name
    described = plan._replace(verb=verb, semiring=name, key=layout.key, reason=f"{plan.reason}; {nodes}")
    return described, (sums.graph, x, sums.sums, {"transpose": sums.transpose, "flip": False})


class Sums:
    """The remaining work after each position has been multiplied: sums over the graph with nodes."""

    def __init__(self, A: MatrixStore, x: VectorStore, sums: Typed[Semiring], transpose: bool) -> None:
        layout: Any = A.structure.primary
        self.x, self.sums, self.transpose = x, sums, transpose
        self.graph = graph_of(layout)
        self.places: tuple[Places, Places] = (layout.cols, layout.rows) if transpose else (layout.rows, layout.cols)

    @classmethod
    def of(
        cls, A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool
    ) -> Sums | None:
        """None if a product depends on the entry."""
        found = _multiplied(A, u, semiring, flip)
        if found is None:
            return None
        x, z = found
        return cls(A, x, compose(semiring.op.monoid, BINARY["second"])[z], transpose)

    def spread(self) -> VectorStore:
        """x at the vertices, no entries at virtual nodes; in new arrays."""
        return vertex_part(self.x, self.places[1])

    def plan(self, x: VectorStore | None = None) -> Plan:
        x = self.spread() if x is None else x
        return spmv_kernels.explain_mxv(self.graph, x, self.sums, transpose=self.transpose, flip=False)

    def run(self, product: Mxv, prepared: Prepare, mask: Mask | None) -> VectorStore:
        """The sums, in a new vector."""
        to = self.places[0]
        if not to.nodes:
            t: VectorStore = product(self.graph, self.x, self.sums, self.transpose, False, mask)
            return t
        x = self.spread()
        if mask is None and (made := self._graded(prepared, x)) is not None:
            return made
        rows, either = Mask(to.bits, True), None
        if mask is not None:
            given = vertex_part(VectorStore(x.device, to.others, BOOL, mask.bits, np.True_), to).present
            closed, opened = (given, given | to.bits)[:: 1 if mask.complement else -1]
            rows, either = Mask(opened, mask.complement), Mask(closed, mask.complement)
        pushed = spmv_kernels.decide(self.graph, x, self._case(x))[0].push
        return without(self._pushed(product, x, rows, either) if pushed else self._pulled(product, x, rows), to)

    def _case(self, x: VectorStore) -> ProductFacts:
        """Everything that the direction depends on except for the entries of x, cached with the graph."""
        known = self.graph.structure.primary.cache.setdefault("cases", {})
        key = self.sums, self.transpose, x.iso, tuning.version()
        if key not in known:
            known[key] = spmv_kernels.facts_of(self.graph, x.values, self.sums, transpose=self.transpose, flip=False)
        return known[key]

    def _pulled(self, product: Mxv, x: VectorStore, rows: Mask) -> VectorStore:
        """rows: those of the matrix that the mask of the statement allows."""
        to, of = self.places
        nodes, least = Mask(to.bits, False), x.count or x.least
        if to is of:
            x = product(self.graph, x, self.sums, self.transpose, False, nodes, Into(x, nodes, None, False, True))
        else:
            reached = product(self.graph, x, self.sums, self.transpose, False, nodes)
            ewise_vector.merge(x, _move_nodes(reached, to, of), Mask(of.bits, False), None, False)
        if self.x.count == self.x.size:  # every node has columns
            x.count = x.size
        x.least = max(x.least, least)  # a known lower bound spares a wait for a count
        t: VectorStore = product(self.graph, x, self.sums, self.transpose, False, rows)
        return t

    def _graded(self, prepared: Prepare, x: VectorStore) -> VectorStore | None:
        """The same for a full vector and degree-binned rows: those of nodes, whose sums are stored next to x, then the
        others; None if rows are not binned."""
        to, of = self.places
        if x.iso or self.x.count != self.x.size:
            return None
        full = VectorStore(x.device, x.size, x.dtype, x.bits, x.values, x.size)
        found = prepared(self.graph, full, self.sums, self.transpose, False)[0]
        if not found.graded:
            return None
        t = VectorStore(x.device, to.others, found.z, found.bits(to.others), found.dense(to.others, found.z))
        u = Input(x.present, x.values, found.u_zero, 1)
        for name, out in (("nodes", Output(found.bits(of.size), x.values)), ("rows", Output(t.present, t.values))):
            pull: Any = found.pulls.get(name)
            if pull is None:
                part = of_nodes(to, of) if name == "nodes" else of_others(to)
                pull = found.pulls[name] = DegreeBinnedPull(found, Epilogue(found.z, found.z), found.z, False, part)
            pull.run(u, found.everywhere, pull.nothing, out)
        return t

    def _pushed(self, product: Mxv, x: VectorStore, rows: Mask, both: Mask | None) -> VectorStore:
        """both: those rows, and all nodes (None: everything)."""
        to, of = self.places
        t: VectorStore = product(self.graph, x, self.sums, self.transpose, False, both)
        nodes = _node_part(t, to)
        if nodes.device.host_memory and not nodes.nvals:
            return t
        more = product(self.graph, _move_nodes(nodes, to, of), self.sums, self.transpose, False, rows)
        ewise_vector.merge(t, more, None, self.sums.op.monoid[t.dtype], False)
        return t


def graph_of(layout: Virtual) -> MatrixStore:
    """The graph with virtual nodes, cached with the format."""
    if "graph" not in layout.cache:
        layout.cache["graph"] = MatrixStore(Structure(layout.inner), BOOL, BOOL.np_type.type(True))
    graph: MatrixStore = layout.cache["graph"]
    return graph


def _multiplied(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], flip: bool
) -> tuple[VectorStore, DataType] | None:
    """The product of the entries of A at each position, and the type of sums; None if the entries differ."""
    z, op = semiring.return_type, semiring.op.binaryop
    one = equal_products(semiring, A.raw, u.values, flip=flip)
    if one is not None:
        return u.with_value(z, cast_scalar(one, z)), z
    if op.positional:
        numbered, by = by_number(u, None, semiring, flip)
        return None if numbered is u else (numbered, by.return_type)
    if reads_matrix(semiring, flip) and not A.iso:
        return None
    typed = op[semiring.op.operand_type(semiring.dtype)]
    if not reads_matrix(semiring, flip):
        return ewise_vector.cast(ewise_vector.cast(u, typed.dtype), z), z
    scalar = cast_scalar(A.raw, typed.op.casts(typed.dtype)[0])
    return ewise_vector.cast(ewise_vector.apply_bound(u, typed, scalar, left=not flip), z), z


def _node_part(t: VectorStore, places: Places) -> VectorStore:
    """The entries at virtual nodes. Read-only: it may share the values of t."""
    bits = t.present & places.bits
    values = t.values & bits if t.dtype is BOOL and not t.iso else t.values
    return VectorStore(t.device, t.size, t.dtype, bits, values)


def _move_nodes(t: VectorStore, of: Places, to: Places) -> VectorStore:
    """The entries at virtual nodes, moved to the positions of the same nodes in another order."""
    return t if of is to else vertex_part(without(t, of.turned()), to.turned())


def vertex_part(u: VectorStore, places: Places) -> VectorStore:
    """u at the positions of vertices, in new arrays."""
    t = _copy_places("among", u, places, places.before(), places.size)
    t.count = u.count
    return t


def without(u: VectorStore, places: Places) -> VectorStore:
    """The values at the positions of vertices, in new arrays."""
    return _copy_places("without", u, places, places.at(), places.others)


def _copy_places(kernel: str, u: VectorStore, places: Places, ranks: Array, size: int) -> VectorStore:
    device = u.device
    bits = device.xp.empty(words(size), np.uint64)
    values = u.values if u.iso else dense_values(device, size, u.dtype, blank=False)
    arrays = u.present, *(stored(device, u.dtype, x).array for x in (u.values, values))
    run = kernel_of(device, kernel, u.dtype, LANES=64, DENSE=int(not u.iso))
    bounds = device.ranges(words(size), tuning.count("parallel.words"), parts=device.threads)
    run(words(size), size, places.bits, ranks, *arrays[:2], bits, arrays[2], bounds=bounds)
    return VectorStore(device, size, u.dtype, bits, values)
