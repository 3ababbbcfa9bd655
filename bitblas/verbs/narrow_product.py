"""SpMM: the product of a sparse matrix and a multivector, as a bitmap (formats/bitmap).

T = A (+).(x) X by lines. C = X A is computed as C' = A' X', whose bitmap has the same lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, cast_scalar

from ..device import Device
from ..flat import FlatStore, bits_of, flat_of, refusal
from ..formats import CSR, EVERYWHERE
from ..formats.bitmap.layout import Lines, lines_of
from ..kernels.prologue import Variant
from ..plan import narrow as plan
from ..plan.product import COUNT, VALUES, WORDS, Plan, kind_of, power_of_two
from ..store import MatrixStore, VectorStore, dense_values
from . import records
from .narrow import is_flat
from .narrow_sums import Asked, Call, always, as_lines, as_sums, joined, line_mask, read_lines, words_of
from .narrow_variants import FEW, PARTS, WHOLE, lines_variant
from .operands import dummy, entry_values, nothing
from .schedule import unit_bounds

LONGEST, SEGMENT = 1 << 10, 1 << 8  # entries of a row from which on a GPU splits it; entries of a segment


class Sides(NamedTuple):
    """A product as T = S X: the sparse operand and whether it is transposed, the multivector, and whether that is the
    left operand."""

    S: MatrixStore
    transposed: bool
    X: MatrixStore
    flip: bool
    shape: tuple[int, int]  # of the result


def sides(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], ta: bool, tb: bool
) -> Sides | None:  # fmt: skip
    """The product by lines; None if it cannot run so: neither operand is a bitmap or tall-skinny, or its lines are not
    the summed dimension, or not a dimension of the result."""
    a, b = A.nrows, A.ncols
    (nrows, inner), ncols = (b, a) if ta else (a, b), B.nrows if tb else B.ncols
    if max(nrows, ncols) == min(nrows, ncols) or refusal(nrows, ncols) or semiring.dtype._is_udt:
        return None
    if records.computes(semiring):
        return None
    flip = ncols > nrows  # the result's lines are its columns
    S, ts, X, tx = (B, not tb, A, ta) if flip else (A, ta, B, tb)
    lines = lines_of(X.nrows, X.ncols)
    if lines.number != inner or (lines.tall == tx) != flip or (X.nrows == X.ncols) or is_flat(S):
        return None
    if not is_flat(X):
        size = semiring.return_type.np_type.itemsize
        if not plan.is_narrow(X.nrows, X.ncols, X.nvals, X.device.kind, size):
            return None
        if S.structure.renumbers or not plan.is_narrow(nrows, ncols, max(nrows, ncols), X.device.kind, size):
            return None
    return Sides(S, ts, X, flip, (nrows, ncols))


def explained(of: Sides, semiring: Typed[Semiring]) -> tuple[Plan, tuple[Variant, ...]]:
    """Its plan, and its kernel."""
    found = _narrow(of, semiring, flat_of(of.X))
    return found.plan, (found.variant(WHOLE),)


def mxm(of: Sides, semiring: Typed[Semiring], mask: Any) -> FlatStore:
    """The product, at the positions that the mask allows."""
    x = flat_of(of.X)
    found = _narrow(of, semiring, x)
    return FlatStore(found.run(x, None if mask is None else (bits_of(mask.structure), mask.complement)), *of.shape)


def _narrow(of: Sides, semiring: Typed[Semiring], x: VectorStore) -> Narrow:
    inner, lines = lines_of(of.X.nrows, of.X.ncols), lines_of(*of.shape)
    product = Narrow(of.S, of.transposed, x.dtype, x.values, inner, lines, semiring, flip=of.flip)
    device, words_ = product.device, product.kind == WORDS
    push = plan.pushes(of.S.structure, of.transposed, inner.number, x.count, not device.shares_rows or words_)
    return product.along() if push else product


class Narrow:
    """A product by lines, with the format that it reads: of the lines of the result (a pull), or along those of X.
    inner: the lines of X, of dtype `x` and these values, an array or one for all; lines: those of the result."""

    def __init__(
        self, S: MatrixStore, transposed: bool, x: DataType, values: Any, inner: Lines, lines: Lines,
        semiring: Typed[Semiring], *, flip: bool, push: bool = False,
    ) -> None:  # fmt: skip
        self.given = S, transposed, x, values, inner, lines, semiring
        self.x, self.inner, self.lines, self.semiring, self.flip, self.push = x, inner, lines, semiring, flip, push
        pair = (values, S.raw) if flip else (S.raw, values)
        kind, self.product = kind_of(semiring, *pair)
        self.kind = VALUES if kind == COUNT else kind
        device: Device = S.device
        self.device = device
        transposed = transposed != push
        structure = S.structure
        form: Any = structure.rows(transposed=transposed)
        if not form.format.by_rows:
            form = structure.form(CSR, transposed=transposed)
        self.form = form
        self.z = BOOL if self.kind == WORDS else semiring.return_type
        held = S.values_for(form.key, transposed) if self.kind == VALUES else BOOL.np_type.type(True)
        self.a_type = S.dtype if self.kind == VALUES else BOOL
        self.a_val = entry_values(device, self.a_type, held)
        lanes = 1
        if device.shares_rows:
            share = power_of_two(form.nvals / max(1, form.nrows) / 4, 1, 32)
            lanes = min(32, lines.stride) if self.kind != WORDS else 1 if push else share
        why = "push along the non-empty lines" if push else f"{lines.width} positions per line"
        direction = "push" if push else "pull"
        self.plan = Plan("mxm", semiring.op.name, form.key, transposed, direction, self.kind, lanes, f"bitmap: {why}")

    def along(self) -> Narrow:
        """The same as a push."""
        return Narrow(*self.given, flip=self.flip, push=True)

    def variant(self, mode: int) -> Variant:
        semiring = None if self.kind == WORDS else self.semiring
        x_type = BOOL if self.kind == WORDS else self.x
        packed = self.form.format.packed
        return lines_variant(
            self.plan.direction, self.form.types(False), semiring, self.a_type, x_type, self.lines.stride,
            self.flip, self.plan.lanes, mode, packed, self.lines.number < FEW,
        )  # fmt: skip

    def run(self, x: VectorStore, mask: tuple[Any, bool] | None) -> VectorStore:
        """The result, in new arrays."""
        device, lines = self.device, self.lines
        bits = (device.xp.zeros if self.push else device.xp.empty)(lines.words, np.uint64)
        valued = self.kind == VALUES
        sums = dense_values(device, lines.places, self.z) if valued else nothing(device, BOOL)
        for call in self.calls(x, mask, bits, sums, always(device)):
            call.run(device)
        if lines.places % 64 and not self.push:  # lines end within the last word
            bits[-1:] &= np.uint64((1 << (lines.places % 64)) - 1)
        value = sums if valued else cast_scalar(self.product, self.semiring.return_type)
        return VectorStore(device, lines.places, self.semiring.return_type, bits, value)

    def calls(
        self, x: VectorStore, mask: tuple[Any, bool] | None, bits: Any, sums: Any, asked: Asked
    ) -> Iterator[Call]:
        """The kernels that write the result to `bits`, which are cleared before a push, and `sums`."""
        device, lines, form, valued = self.device, self.lines, self.form, self.kind == VALUES
        given = form.col, form.width, *self.a_val
        head = *read_lines(device, x, lines, valued), *line_mask(device, mask, lines)
        to = as_lines(bits, lines), as_sums(sums, self.z, lines), *asked
        n, variant = self.inner.number if self.push else lines.number, self.variant(WHOLE)
        ptr, one = form.ptr, dummy(device, "int64")
        rows = ptr, ptr[1:], one, 0
        if not device.shares_rows:
            if self.push:  # reads whole words
                per, last, _, *values = head
                n, head = self.inner.words, (per, last, x.present, *values)
            bounds = None if self.push else unit_bounds(form, device, times=max(1, lines.stride))
            yield Call(variant, n, (EVERYWHERE, *rows, *given, *head, *to), bounds)
            return
        per = words_of(lines)
        longest = SEGMENT if self.push else LONGEST
        yield Call(variant, n * per, (longest, *rows, *given, *head, *to))
        hubs = form.hubs(longest, SEGMENT if valued else longest)
        if hubs is None:
            return
        parts, rows = hubs.segments * per, (hubs.begin, hubs.end, hubs.row_of, 1)
        if not valued:
            yield Call(variant if self.push else self.variant(PARTS), parts, (EVERYWHERE, *rows, *given, *head, *to))
            return
        mine = lines._replace(number=hubs.segments)
        scratch = device.xp.empty(mine.words, np.uint64), dense_values(device, mine.places, self.z)
        into = as_lines(scratch[0], lines), as_sums(scratch[1], self.z, lines), *asked
        yield Call(self.variant(PARTS), parts, (EVERYWHERE, *rows, *given, *head, *into))
        part = VectorStore(device, mine.places, self.z, *scratch)
        rows = hubs.first, hubs.first[1:], hubs.rows, 1
        yield joined(
            device, part, self.semiring.op.monoid[self.z], lines, rows, len(hubs.rows), mask, (bits, sums), asked
        )
