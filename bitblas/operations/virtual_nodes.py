"""SpMV with virtual nodes (formats/virtual): two products with the graph that contains them, by the ordinary kernels.

The matrix A = R or L V has one value a, so A x is a product with a x, which is computed once for each position; only
sums remain. A pull computes V x first, at the positions of nodes (a mask), then R x and L (V x) at the positions of
rows, under the mask of the statement. A push goes the other way round: along the graph from the active entries, and
again from the nodes that were reached. Both meet each entry of A once, so the monoid combines the two parts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, DataType, cast_scalar

from .. import tuning
from ..display import aligned, html
from ..exceptions import InvalidValue
from ..formats import FORMATS, Structure
from ..formats.virtual.layout import Places, Virtual, of_nodes, of_others
from ..formats.virtual.mining import Mined, foresee, mined
from ..plan.facts import facts
from ..plan.product import BINNED, PUSH, Epilogue, Plan, equal_products, reads_matrix
from ..store import MatrixStore, VectorStore, dense_values, words
from ..typing import Array
from . import ewise_vector, plain_spmv
from .compressed import kernel_of
from .operands import Input, Into, Mask, Output, VectorProduct, stored
from .permute import by_number
from .plain_spmv import fresh_bits, fresh_values, prepare_binned_pull

# ---- The sums that remain once the values of each position have been multiplied.


class NodeSums(NamedTuple):
    """Sums over the graph with nodes, of the products x of each position. to, of: places of the result, and of x."""

    graph: MatrixStore
    x: VectorStore
    sums: Typed[Semiring]
    transpose: bool
    to: Places
    of: Places

    def product(self, x: VectorStore, mask: Mask | None, into: Into | None = None) -> VectorProduct:
        """A product with the graph."""
        return VectorProduct(self.graph, x, self.sums, self.transpose, False, mask, into)

    def spread(self) -> VectorStore:
        """x at the vertices, no entries at virtual nodes; in new arrays."""
        return vertex_part(self.x, self.of)


def node_sums(product: VectorProduct) -> NodeSums | VectorProduct:
    """The sums that a product with an A with virtual nodes amounts to; if products differ by entry, the product with
    the same matrix by rows."""
    A, u, semiring, transpose, flip, _, _ = product
    found = _multiplied(A, u, semiring, flip)
    if found is None:
        return product._replace(A=rows_of(A))
    layout: Any = A.structure.primary
    x, z = found
    places = (layout.cols, layout.rows) if transpose else (layout.rows, layout.cols)
    return NodeSums(graph_of(layout), x, compose(semiring.op.monoid, BINARY["second"])[z], transpose, *places)


def rows_of(A: MatrixStore) -> MatrixStore:
    """The same matrix as temporary CSR."""
    rows, places = A.structure.primary.to_csr(not A.iso)
    structure = Structure(rows)
    structure._symmetric = A.structure._symmetric
    return MatrixStore(structure, A.dtype, A.taken(places)).tagged(A.order)


def explain(product: VectorProduct, *, masked: bool) -> tuple[Plan, VectorProduct]:
    """The plan of such a product; and the product that it corresponds to, with the graph or with rows."""
    found = node_sums(product)
    if isinstance(found, VectorProduct):
        plan = plain_spmv.explain(found)
        why = f"{plan.reason}; this statement converts to rows, because products differ by entry"
        return plan._replace(reason=why), found
    layout: Any = product.A.structure.primary
    x = found.spread()
    inner, full = found.product(x, None), None if masked else _full(found, x)
    plan = plain_spmv.explain(inner if full is None else found.product(full, None))
    if plan.kernel != BINNED and full is not None:
        plan = plain_spmv.explain(inner)
    why = f"{plan.reason}; {layout.rows.nodes} virtual nodes, in {plan.key}, in two products"
    verb, name = "vxm" if product.flip else "mxv", product.semiring.op.name
    return plan._replace(verb=verb, semiring=name, key=layout.key, reason=why), inner


def multiply(of: NodeSums, mask: Mask | None) -> VectorStore:
    """The sums, in a new vector."""
    to = of.to
    if not to.nodes:
        return plain_spmv.multiply(*of.product(of.x, mask))
    x = of.spread()
    if mask is None and (made := _binned(of, x)) is not None:
        return made
    rows, either = Mask(to.bits, True), None
    if mask is not None:
        given = vertex_part(VectorStore(x.device, to.others, BOOL, mask.bits, np.True_), to).present
        closed, opened = (given, given | to.bits)[:: 1 if mask.complement else -1]
        rows, either = Mask(opened, mask.complement), Mask(closed, mask.complement)
    plan = plain_spmv.choose(of.graph, x, of.sums, of.transpose, False).plan
    return without(_pushed(of, x, rows, either) if plan.kernel == PUSH else _pulled(of, x, rows), to)


def _pulled(of: NodeSums, x: VectorStore, rows: Mask) -> VectorStore:
    """rows: those of the matrix that the mask of the statement allows."""
    nodes, least = Mask(of.to.bits, False), x.count or x.least
    if of.to is of.of:
        x = plain_spmv.multiply(*of.product(x, nodes, Into(x, nodes, None, False, True)))
    else:
        reached = plain_spmv.multiply(*of.product(x, nodes))
        ewise_vector.merge(x, _move_nodes(reached, of.to, of.of), Mask(of.of.bits, False), None, False)
    if of.x.count == of.x.size:  # every node has columns
        x.count = x.size
    x.least = max(x.least, least)  # a known lower bound spares a wait for a count
    return plain_spmv.multiply(*of.product(x, rows))


def _full(of: NodeSums, x: VectorStore) -> VectorStore | None:
    """x as a full vector, as it is once the sums of nodes are in it; None if not, or if iso."""
    if x.iso or not of.to.nodes or of.x.count != of.x.size:
        return None
    return VectorStore(x.device, x.size, x.dtype, x.bits, x.values, x.size)


def _binned(of: NodeSums, x: VectorStore) -> VectorStore | None:
    """The same for a full vector and degree-binned rows: those of nodes, whose sums are stored next to x, then the
    others; None if rows are not binned."""
    to = of.to
    full = _full(of, x)
    if full is None:
        return None
    choice = plain_spmv.choose(of.graph, full, of.sums, of.transpose, False)
    found = choice.product or plain_spmv.prepare(choice, of.graph, full, of.sums, False)
    if not found.binned:
        return None
    device, z = x.device, found.z
    t = VectorStore(device, to.others, z, fresh_bits(device, to.others), fresh_values(device, to.others, z))
    u = Input(x.present, x.values, found.u_zero, 1)
    outputs = {"nodes": Output(fresh_bits(device, of.of.size), x.values), "rows": Output(t.present, t.values)}
    for name, out in outputs.items():
        pull = found.pulls.get(name)
        if pull is None:
            part = of_nodes(to, of.of) if name == "nodes" else of_others(to)
            pull = found.pulls[name] = prepare_binned_pull(found, Epilogue(z, z), z, False, part)
        pull.launch(pull, u, found.everywhere, pull.nothing, out, ())
    return t


def _pushed(of: NodeSums, x: VectorStore, rows: Mask, both: Mask | None) -> VectorStore:
    """both: those rows, and all nodes (None: everything)."""
    t = plain_spmv.multiply(*of.product(x, both))
    nodes = _node_part(t, of.to)
    if nodes.device.host_memory and not nodes.nvals:
        return t
    more = plain_spmv.multiply(*of.product(_move_nodes(nodes, of.to, of.of), rows))
    ewise_vector.merge(t, more, None, of.sums.op.monoid[t.dtype], False)
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
    t = _copy_places("insert_nodes", u, places, places.before(), places.size)
    t.count = u.count
    return t


def without(u: VectorStore, places: Places) -> VectorStore:
    """The values at the positions of vertices, in new arrays."""
    return _copy_places("remove_nodes", u, places, places.at(), places.others)


def _copy_places(kernel: str, u: VectorStore, places: Places, ranks: Array, size: int) -> VectorStore:
    device = u.device
    bits = device.xp.empty(words(size), np.uint64)
    values = u.values if u.iso else dense_values(device, size, u.dtype, blank=False)
    arrays = u.present, *(stored(device, u.dtype, x).array for x in (u.values, values))
    run = kernel_of(device, kernel, u.dtype, LANES=64, DENSE=int(not u.iso))
    bounds = device.ranges(words(size), tuning.count("parallel.words"), parts=device.threads)
    run(words(size), size, places.bits, ranks, *arrays[:2], bits, arrays[2], bounds=bounds)
    return VectorStore(device, size, u.dtype, bits, values)


# ---- `A.profile(virtual_nodes=True)`: a table of the bytes that virtual nodes would save.


@dataclass(frozen=True)
class Part:
    """A matrix, its entries, and its smallest format."""

    name: str
    nvals: int
    layout: str
    nbytes: int


@dataclass(frozen=True, repr=False)
class VirtualNodes:
    """Bytes of A = R or L V, which format="virtual" stores as one graph, compared with A in the smallest of the formats
    that are chosen for memory; prints as a table. seconds: time of the mining."""

    nodes: int
    seconds: float
    whole: Part
    made: Part
    entries: tuple[int, int, int]  # of R, L, V

    @property
    def nbytes(self) -> int:
        return self.made.nbytes

    @property
    def saved(self) -> int:
        """Bytes; negative if A itself is smaller."""
        return self.whole.nbytes - self.nbytes

    def __str__(self) -> str:
        return "\n".join([self._head(), *aligned(self._rows())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html(self._head(), self._rows())

    def _head(self) -> str:
        share = 100 * self.saved / max(1, self.whole.nbytes)
        what = f"{share:.0f} % of the bytes saved" if self.saved > 0 else "nothing saved"
        return f"{self.nodes} virtual nodes, {what}; found in {self.seconds:.2f} s"

    def _rows(self) -> list[list[str]]:
        parts = [[name, str(nvals), "", "", ""] for name, nvals in zip("RLV", self.entries)]
        whole, made = (
            [x.name, str(x.nvals), x.layout, str(x.nbytes), f"{x.nbytes / max(1, self.whole.nvals):.2f}"]
            for x in (self.whole, self.made)
        )
        return [["matrix", "entries", "form", "bytes", "bytes/entry of A"], whole, *parts, made]


def smallest(of: Structure) -> Part:
    seen = facts(of, exact=True)
    key = min((key for key in seen.forms if FORMATS[key].cost.may_be_smallest(seen)), key=seen.bytes_of)
    return Part("A", of.nvals, key, seen.bytes_of(key))


def with_nodes(of: Structure) -> tuple[Virtual, Mined, float]:
    """format="virtual" of a structure, its nodes, and the seconds of the mining. Its bytes are known afterwards, and
    count in a choice for memory."""
    foresee(of.nrows, of.ncols, of.nvals)
    rows = of.plain_rows()
    begin = time.perf_counter()
    found = mined(rows)
    seconds = time.perf_counter() - begin
    layout, kept = Virtual.of(found, rows)
    of.primary.cache.setdefault("counted", {})[layout.key] = float(layout.nbytes)
    return layout, kept, seconds


def virtual_nodes(A: MatrixStore) -> VirtualNodes:
    """Raises InvalidValue if values differ: an entry of L or V represents many of A."""
    if not A.iso:
        raise InvalidValue("profile: virtual nodes need a matrix with one value for all entries")
    foresee(A.nrows, A.ncols, A.nvals)
    whole = smallest(A.structure)
    layout, kept, seconds = with_nodes(A.structure)
    made = Part("R or L V", sum(kept.entries), f"{layout.key}, in {layout.inner.key}", layout.nbytes)
    return VirtualNodes(kept.nodes, seconds, whole, made, kept.entries)
