"""Products in rounds on the CPU: push along entries, pull by rows, and the operations that choose between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from semirings.dtypes import BOOL, lookup_dtype

from ...device import ranges
from ...device.table import Operation
from ...exceptions import CaptureError
from ...formats import longest_unit
from ...formats.values import PackedValues
from ...kernels.prologue import Variant
from ...plan.direction import Case, Known, pulled
from ...plan.narrow import ALPHA
from ...plan.product import COUNT, VALUES, WORDS, reads_matrix
from ...plan.transpose import at_hand
from ...store import VectorStore, words
from ...verbs import deciding
from ...verbs.narrow_product import Narrow
from ...verbs.narrow_sums import ALWAYS, Asked
from ...verbs.operands import (
    PARALLEL_WORDS,
    Allowed,
    Input,
    Mask,
    Matrix,
    Output,
    Rows,
    allowed,
    dummy,
    entry_values,
    nothing,
    stored,
)
from ...verbs.product import PreparedProduct
from ...verbs.variants import push_variant
from ..fused import layout
from ..recorded.ir import LineProduct, Masked, Product, Statement, Vec
from .summed import Summed

NEVER = 1 << 62
MANY_ENTRIES = 8 * PARALLEL_WORDS  # entries of a frontier from which on threads share kernels over listed words


class Later(CaptureError):
    """A structure that statements will build does not exist yet: the capture can be tried again later."""


def is_step(s: Statement, full: frozenset[Vec], iso: Mapping[int, Any]) -> bool:
    """Whether the product of a statement runs along its vector's entries. One thread combines products in the order of
    the entries, so that float sums are the same as by rows. A full vector gains nothing by that, unless a pull would
    need the transpose. Products that all equal one value are counted by rows, and multiplied; sums along entries are
    used only if none of them is rounded. CaptureError if it must run along entries, and cannot."""
    product = s.value
    assert isinstance(product, Product)
    if isinstance(product, LineProduct):
        return False
    if product.u in full and pulls(product):
        return False
    kind, value = layout.kind(product, iso)
    if kind == COUNT and not product.semiring.op.monoid.repeats_exactly(product.semiring.dtype, value, product.u.size):
        if not pulls(product):
            raise Later(f"{s.text}: counting by rows needs the transpose, whose construction is not amortized yet")
        return False
    A, key = product.matrix, product.matrix.structure.primary.key
    if A.nrows != A.ncols or not A.structure.primary.format.spreads:
        raise CaptureError(
            f"{s.text}: {key if A.nrows == A.ncols else 'a matrix that is not square'} does not support pushing"
        )
    if not pushes(product):
        raise Later(f"{s.text}: pushing needs the transpose, whose construction is not amortized yet")
    return True


def pushes(product: Product) -> bool:
    """Whether the format that a push reads exists."""
    return _at_hand(product, not product.transpose)


def pulls(product: Product) -> bool:
    """Whether the format that a pull reads exists."""
    return _at_hand(product, product.transpose)


def _at_hand(product: Product, transposed: bool) -> bool:
    valued = not product.matrix.iso and reads_matrix(product.semiring, product.flip)
    return at_hand(product.matrix.structure, transposed=transposed, valued=valued)


class Products:
    """The operations of products, as part of a Build."""

    device: Any
    iso: Mapping[int, Any]
    full: frozenset[int]
    buffers: dict[Vec, Summed]

    def _shared(self, units: int, size: int) -> Any:
        """Ranges of units for threads; None for one range."""
        if not self.device.splits(words(size), PARALLEL_WORDS):
            return None
        return ranges.even(units, min(units, self.device.parts))

    def _summary(self, t: Summed, name: str = "summary") -> Operation:
        """Recompute the summary of a vector; or (clear) remove its entries."""
        units = len(t.at(t.summaries))
        many = self._shared(units, t.vec.size)
        return Operation(host_kernel(name), self._bounds(units, many), (t.at(t.bits), t.at(t.summaries)))

    def _along(self, product: Product) -> tuple[Any, bool]:
        """The format that an advance traverses, and whether it is of the transpose."""
        structure = product.matrix.structure
        return structure.form(structure.primary.key, transposed=not product.transpose), not product.transpose

    def _case(self, product: Product) -> Case:
        A, values = product.matrix, layout.operand(product, self.iso)
        return deciding.case(A, values, product.semiring, transpose=product.transpose, flip=product.flip)

    def _tally(self, vec: Vec, product: Product | None, told: np.ndarray) -> Operation:
        """Count the entries of a vector, and decide whether a product along them should pull."""
        x = self.buffers[vec]
        ptr, rows, longest, most = dummy(self.device, "int64"), 1, 0, (NEVER, NEVER)
        if product is not None:
            form, _ = self._along(product)
            (ptr, _), rows = form.unit_starts(), form.rows_per_unit
            if pulls(product):
                case = self._case(product)
                most = int(case.most_pushed(vec.size)) + 1, int(form.work / case.push_cost()[1]) + 1
                longest = longest_unit(form)
        variant = host_kernel("tally", (("PTR", lookup_dtype(ptr.dtype)),), (("ROWS", rows),))
        args = (x.at(x.bits), x.at(x.summaries), ptr, longest, *most, MANY_ENTRIES, told)
        return Operation(variant, np.array([0, len(x.summaries[0])], np.int64), args)

    def _mask(self, mask: Masked | None) -> Allowed:
        x = None if mask is None else self.buffers[mask.vec]
        return allowed(self.device, None if x is None or mask is None else Mask(x.at(x.bits), mask.complement))

    def _kind(self, product: Product) -> int:
        """WORDS or VALUES: in the cells of an advance, counts are ordinary sums."""
        return WORDS if layout.kind(product, self.iso)[0] == WORDS else VALUES

    def _push(self, product: Product, u: Summed) -> Callable[[Allowed, Summed], Operation]:
        """A push along the entries of u, in its current buffer, as a function of mask and result."""
        A, kind, device = product.matrix, self._kind(product), self.device
        (form, transposed), values = self._along(product), np.bool_(True)
        a_type, semiring = BOOL, None
        given = Input(u.at(u.bits), *stored(device, BOOL, np.bool_(True)))
        if kind == VALUES:
            a_type, semiring = A.dtype, product.semiring
            read = A.iso or reads_matrix(semiring, product.flip)
            values = A.raw_for(form.key, transposed) if read else A.dtype.np_type.type(0)
            given = Input(u.at(u.bits), *stored(device, u.vec.dtype, u.at(u.values) if u.values else u.iso))
        ranked = form.format.ranked and not isinstance(values, np.generic)
        variant = push_variant(
            form.key, form.types(ranked), semiring, kind, a_type, BOOL if kind == WORDS else u.vec.dtype,
            flip=product.flip, ranked=ranked, lanes=1, packed=isinstance(values, PackedValues),
        )  # fmt: skip
        variant = dataclasses.replace(variant, kernel=form.format.kernel("spread"))
        starts, parts = form.unit_starts()
        rows = Rows(starts, starts[parts:], dummy(device, "int64"), 0)
        matrix = Matrix(rows, form.unit_contents(ranked), entry_values(device, a_type, values)).flat()
        none = np.False_ if kind == WORDS else product.semiring.return_type.np_type.type(0)
        summary = u.at(u.summaries)

        def made(mask: Allowed, t: Summed) -> Operation:
            t_val = dummy(device, "int32") if kind == WORDS else t.at(t.values)
            args = (NEVER, *matrix, *given, *mask, none, summary, t.at(t.bits), t_val, t.at(t.summaries))
            return Operation(variant, np.array([0, len(summary)], np.int64), args)

        return made

    def _pull(self, product: Product, u: Summed, mask: Masked | None) -> Callable[[Allowed, Summed], list[Operation]]:
        """A product by rows in the same way: the kernel of a single statement."""
        A, case, z = product.matrix, self._case(product), product.semiring.return_type
        plan = deciding.planned(A, pulled(case), case, Known(product.u.size))
        wide = plan.wide and (plan.kind != VALUES or product.u.dtype is z)
        full = product.u.id in self.full and plan.kind == VALUES
        plan = plan._replace(wide=wide)
        made = PreparedProduct(plan, case.product, A, product.u.dtype, product.semiring, product.flip, full=full)
        values = made.u_values or stored(self.device, made.u_type, u.at(u.values) if u.values else u.iso)
        given = Input(u.at(u.bits), *values)

        def by_tiles(mask: Allowed, t: Summed) -> list[Operation]:
            calls = zip(made.apart.variants, made.apart.calls(given, mask, t.at(t.bits), t.at(t.values)))
            found = [Operation(variant, self._bounds(n, many), args) for variant, (n, many, args) in calls]
            return [self._summary(t, "clear"), *found]

        def by_rows(mask: Allowed, t: Summed) -> list[Operation]:
            to = Output(t.at(t.bits), t.at(t.values) if pull.end.store else pull.nothing.array)
            args = (pull.longest, *made.arguments, *given, *mask, pull.value, *pull.nothing, *to)
            return [Operation(pull.variants[0], self._bounds(pull.units, pull.bounds), args)]

        if wide:
            return by_tiles
        pull: Any = made.pull(made.z, None, None, False, mask is not None)  # rows are not degree-binned here
        return by_rows

    def _lines(
        self, product: LineProduct, u: Summed, mask: Masked | None, t: Summed, told: np.ndarray
    ) -> list[Operation]:
        """A product with a multivector: along its rows if few have entries, otherwise by rows of the result."""
        pull = Narrow(
            product.matrix, product.transpose, product.u.dtype, layout.operand(product, self.iso), product.inner,
            product.lines, product.semiring, flip=product.flip,
        )  # fmt: skip
        x = VectorStore(self.device, u.vec.size, u.vec.dtype, u.at(u.bits), u.at(u.values) if u.values else u.iso)
        bits, sums = t.at(t.bits), t.at(t.values) if t.values else nothing(self.device, BOOL)
        where = None if mask is None else (self.buffers[mask.vec].at(self.buffers[mask.vec].bits), mask.complement)
        few = product.inner.number // ALPHA[self.device.kind]
        found = [self._tally(product.u, None, told), self._summary(t, "clear")]
        by_rows, along = pulls(product), pushes(product)  # which formats exist; if none does, the one for rows is built
        ways = [(pull, Asked(told, few if along else 0, ALWAYS))] if by_rows or not along else []
        if along:
            ways.append((pull.along(), Asked(told, 0, few if by_rows else ALWAYS)))
        for way, asked in ways:
            for call in way.calls(x, where, bits, sums, asked):
                found.append(Operation(call.variant, self._bounds(call.n, call.bounds), call.args))
        return [*found, self._summary(t)]

    @staticmethod
    def _bounds(units: int, many: Any) -> Any:
        return np.array([0, units], np.int64) if many is None else many


def host_kernel(name: str, types: Any = (), constants: Any = ()) -> Variant:
    return Variant(f"loop/host/{name}", types, (*constants, ("LANES", 1)))
