"""Products of a sparse matrix and a narrow one, as a bitmap: T = A (+).(x) X by lines (formats/bitmap). C = X A is
C' = A' X', of which a bitmap holds the same lines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, cast_scalar

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
from .narrow_sums import as_lines, as_sums, joined, line_mask, read_lines, words_of
from .narrow_variants import PARTS, ROWS, lines_variant
from .operands import dummy, entry_values, nothing
from .pull import compiled
from .schedule import unit_bounds

LONGEST, SEGMENT = 1 << 10, 1 << 8  # entries of a row from which on a GPU cuts it; of a segment


class Sides(NamedTuple):
    """A product as T = S X: the sparse operand and whether its transpose is meant, the narrow one, and whether the
    narrow one stands on the left."""

    S: MatrixStore
    transposed: bool
    X: MatrixStore
    flip: bool
    shape: tuple[int, int]  # of the result


def sides(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], ta: bool, tb: bool
) -> Sides | None:  # fmt: skip
    """The product by lines; None where it is none: neither operand is a bitmap or narrow, or lines are not what is
    summed over, or not what the result has."""
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
    """How it would run, and by which kernel."""
    found = Narrow(of, semiring)
    return found.plan, (found.variant(ROWS),)


def mxm(of: Sides, semiring: Typed[Semiring], mask: Any) -> FlatStore:
    """The product, where the mask allows it."""
    return FlatStore(
        Narrow(of, semiring).run(None if mask is None else (bits_of(mask.structure), mask.complement)), *of.shape
    )


class Narrow:
    """One product by lines, with the form that it reads."""

    def __init__(self, of: Sides, semiring: Typed[Semiring]) -> None:
        self.of, self.semiring = of, semiring
        self.x = x = flat_of(of.X)
        raw = of.S.raw
        self.device: Device = of.S.device
        pair = (raw, x.values) if not of.flip else (x.values, raw)
        kind, self.product = kind_of(semiring, *pair)
        self.kind = VALUES if kind == COUNT else kind
        device, lines = self.device, lines_of(of.X.nrows, of.X.ncols)
        push = plan.pushes(
            of.S.structure, of.transposed, lines.number, x.count, not device.shares_rows or self.kind == WORDS
        )
        transposed = of.transposed != push
        structure = of.S.structure
        form: Any = structure.rows(transposed=transposed)
        if not form.format.by_rows:
            form = structure.form(CSR, transposed=transposed)
        self.form, self.push = form, push
        self.lines: Lines = lines_of(*of.shape)
        values = of.S.values_for(form.key, transposed) if self.kind == VALUES else BOOL.np_type.type(True)
        self.a_type = of.S.dtype if self.kind == VALUES else BOOL
        self.a_val = entry_values(device, self.a_type, values)
        lanes = 1
        if device.shares_rows:
            share = power_of_two(form.nvals / max(1, form.nrows) / 4, 1, 32)
            lanes = share if self.kind == WORDS else min(32, self.lines.stride)
        why = "along the lines that have entries" if push else f"{self.lines.width} places a line"
        direction = "push" if push else "pull"
        self.plan = Plan("mxm", semiring.op.name, form.key, transposed, direction, self.kind, lanes, f"bitmap: {why}")

    def variant(self, mode: int) -> Variant:
        semiring = None if self.kind == WORDS else self.semiring
        x_type = BOOL if self.kind == WORDS else self.x.dtype
        packed = self.form.format.packed
        return lines_variant(
            self.plan.direction, self.form.types(False), semiring, self.a_type, x_type, self.lines.stride,
            self.of.flip, self.plan.lanes, mode, packed,
        )  # fmt: skip

    def run(self, mask: tuple[Any, bool] | None) -> VectorStore:
        device, lines, x, form = self.device, self.lines, self.x, self.form
        z = BOOL if self.kind == WORDS else self.semiring.return_type
        make = device.xp.zeros if self.push else device.xp.empty
        bits = make(lines.words, np.uint64)
        valued = self.kind == VALUES
        sums = dense_values(device, lines.places, z) if valued else nothing(device, BOOL)
        to = as_lines(bits, lines), as_sums(sums, z, lines)
        tail = *read_lines(device, x, lines, valued), *line_mask(device, mask, lines), *to
        variant = self.variant(ROWS)
        given = form.col, form.width, *self.a_val
        self.launch(variant, form, given, tail, lines, valued, (mask, z, bits, sums))
        if lines.places % 64 and not self.push:  # lines end within the last word
            bits[-1:] &= np.uint64((1 << (lines.places % 64)) - 1)
        value = sums if valued else cast_scalar(self.product, self.semiring.return_type)
        return VectorStore(device, lines.places, self.semiring.return_type, bits, value)

    def launch(
        self, variant: Variant, form: Any, given: Any, tail: Any, lines: Lines, valued: bool, parts: Any
    ) -> None:
        device, n = self.device, lines_of(self.of.X.nrows, self.of.X.ncols).number if self.push else lines.number
        kernel, ptr, one = compiled(device, variant), form.ptr, dummy(device, "int64")
        if not device.shares_rows:
            bounds = None if self.push else unit_bounds(form, device)
            kernel(n, EVERYWHERE, ptr, ptr[1:], one, 0, *given, *tail, bounds=bounds)
            return
        per = words_of(lines)
        kernel(n * per, LONGEST, ptr, ptr[1:], one, 0, *given, *tail)
        hubs = form.hubs(LONGEST, SEGMENT if valued else LONGEST)
        if hubs is None:
            return
        segments = hubs.segments * per, EVERYWHERE, hubs.begin, hubs.end, hubs.row_of, 1
        if not valued:
            kernel_parts = kernel if self.push else compiled(device, self.variant(PARTS))
            kernel_parts(*segments, *given, *tail)
            return
        mask, z, bits, sums = parts
        mine = lines._replace(number=hubs.segments)
        scratch = device.xp.empty(mine.words, np.uint64), dense_values(device, mine.places, z)
        into = as_lines(scratch[0], lines), as_sums(scratch[1], z, lines)
        compiled(device, self.variant(PARTS))(*segments, *given, *tail[:-2], *into)
        part = VectorStore(device, mine.places, z, *scratch)
        joined(
            device, part, self.semiring.op.monoid[z], lines, (hubs.first, hubs.first[1:], hubs.rows, 1),
            len(hubs.rows), mask, (bits, sums),
        )  # fmt: skip
