"""mxm over any semiring, with the mask in the kernel. GraphBLAS C API 2.1, section 4.3.1."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.dtypes import BOOL

from ..device import Device, ranges
from ..formats import Dot, Structure, format_of
from ..kernels.prologue import Variant
from ..plan.mxm import plan_mxm
from ..plan.product import VALUES, WORDS, Plan
from ..store import MatrixStore
from . import expanded, hyper_product, narrow_product, records
from .gustavson import Task, task_of
from .matrix_variants import dot_variant
from .operands import Values, entry_values
from .product import compiled
from .schedule import DOTS, PARALLEL_ENTRIES
from .sieve import Sieve

# Entries of both operands up to which the last prepared product is cached: planning takes as long as running
FEW = 1 << 12


class MatrixMask(NamedTuple):
    """A mask of a matrix: the entries of `structure` may be written, or (complement) all other positions."""

    structure: Structure
    complement: bool


def mxm(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], *, transpose_a: bool = False, transpose_b: bool = False,
    mask: MatrixMask | None = None,
) -> MatrixStore:  # fmt: skip
    """C<mask> = A (+).(x) B, of the transposes if requested."""
    M, how = (None, None) if mask is None else mask, (semiring, transpose_a, transpose_b)
    last = A.prepared.get("mxm")
    if last is not None and last[0]() is B and last[1]() is M[0] and last[2] == M[1] and last[3] == how:
        A.structure.read_besides += 1
        B.structure.read_besides += 1
        return last[4].run()
    by_lines = narrow_product.sides(A, B, semiring, transpose_a, transpose_b)
    if by_lines is not None:
        return narrow_product.mxm(by_lines, semiring, mask)
    listed = A.structure.renumbers or B.structure.renumbers
    if listed or (mask is not None and mask.structure.renumbers):
        return hyper_product.mxm(
            mxm, A, B, semiring, transpose_a=transpose_a, transpose_b=transpose_b, mask=mask
        )  # fmt: skip
    if semiring.dtype._is_udt and records.computes(semiring):
        return expanded.mxm(A, B, semiring, transpose_a=transpose_a, transpose_b=transpose_b, mask=mask)
    A.structure.read_besides += 1
    B.structure.read_besides += 1
    found = planned(A, B, semiring, transpose_a=transpose_a, transpose_b=transpose_b, mask=mask)
    if A.structure.nvals + B.structure.nvals <= FEW:
        A.prepared["mxm"] = weakref.ref(B), _reference(M[0]), M[1], how, found
    return found.run()


def _reference(x: Any) -> Any:
    return _nobody if x is None else weakref.ref(x)


def _nobody() -> None:
    """Stands in for a weak reference to None."""


def planned(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], *, transpose_a: bool = False, transpose_b: bool = False,
    mask: MatrixMask | None = None,
) -> Dots | Task:  # fmt: skip
    """The product as it runs now, with the formats that it reads."""
    plan, product = plan_mxm(A, B, semiring, mask is not None and not mask.complement)
    if plan.direction == "dot":
        assert mask is not None
        return _dots(plan, product, A, B, semiring, transpose_a, transpose_b, mask.structure)
    return task_of(plan, product, A, B, semiring, transpose_a, transpose_b, mask)


class Dots(NamedTuple):
    """Dot products at the positions of a mask. given: arguments from the format; left, right: the values of both."""

    device: Device
    semiring: Typed[Semiring]
    variant: Variant
    at: Any  # the format of the mask
    given: Dot
    left: Values
    right: Values
    inner: int
    product: np.generic | None  # the value of all products, if they are equal
    words: bool  # only presence is computed
    kernel: Any
    monoid: Typed[Monoid]  # of the sums
    each: float  # mean entries that a dot product reads

    @property
    def variants(self) -> tuple[Variant, ...]:
        return (self.variant,)

    def run(self) -> MatrixStore:
        device, at, given, xp = self.device, self.at, self.given, self.device.xp
        z = BOOL if self.words else self.semiring.return_type
        places = max(1, at.nvals)
        present, sums = xp.empty(places, np.uint8), xp.empty(1 if self.words else places, z.np_type)
        value = z.np_type.type(0 if self.product is None else self.product)
        bounds = device.ranges(given.units, PARALLEL_ENTRIES, work=at.nvals, parts=DOTS * device.threads)
        if (chunks := device.chunks(int(at.nvals * self.each))) > 1:
            bounds = ranges.chunked(ranges.even(given.units, min(given.units, max(DOTS * device.threads, chunks))))
        self.kernel(
            given.units, *given.mask, *given.left, *self.left, *given.right, *self.right, self.inner, value, present,
            sums, bounds=bounds,
        )  # fmt: skip
        dtype = self.semiring.return_type
        found: Any = dtype.np_type.type(self.product) if self.words else sums[: at.nvals]
        return Sieve(Structure(at), dtype, found, present[: at.nvals].view(bool), self.monoid)


def _dots(
    plan: Plan, product: Any, A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], ta: bool, tb: bool,
    mask: Structure,
) -> Dots:  # fmt: skip
    device, key, kind = A.device, plan.key, plan.kind
    true = BOOL.np_type.type(True)
    a_val, b_val = (A.values_for(key, ta), B.values_for(key, not tb)) if kind == VALUES else (true, true)
    a_type, b_type = (A.dtype, B.dtype) if kind == VALUES else (BOOL, BOOL)
    left: Any = A.structure.form(key, transposed=ta)
    right: Any = B.structure.form(key, transposed=not tb)
    format = format_of(key)
    at: Any = format.dot_mask(mask)
    given = format.dot(left, right, at, (not isinstance(a_val, np.generic), not isinstance(b_val, np.generic)))
    words = kind == WORDS
    typed = None if words else semiring
    variant = dot_variant(key, given.types, typed, kind, a_type, b_type, plan.lanes, plan.wide, at.key)
    values = entry_values(device, a_type, a_val), entry_values(device, b_type, b_val)
    run, monoid = compiled(device, variant), semiring.op.monoid[semiring.return_type]
    each = sum(side.nvals / max(1, side.nrows) for side in (left, right))
    return Dots(device, semiring, variant, at, given, *values, left.ncols, product, words, run, monoid, each)
