"""Degree-binned pull (formats/csr/grades.py): rows binned by length; each block caches a part of the vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semirings import Semiring, Typed
from semirings.dtypes import DataType

from ..formats import format_of
from ..formats.graded import Part
from ..kernels.prologue import Variant
from ..plan.ending import End
from ..plan.product import Plan, hot_bytes, is_graded
from ..store import MatrixStore, VectorStore
from .operands import Allowed, Input, Old, Output, dummy
from .pull import compiled, no_output
from .variants import Types, hubs_variant, pull_variant

if TYPE_CHECKING:
    from .product import PreparedProduct


def foreseen(A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], plan: Plan, *, masked: bool) -> str:
    """For `explain`: how a degree-binned pull would run; "" if rows are not binned."""
    form: Any = A.structure.held(plan.key, transposed=plan.transposed)
    if form is None or plan.direction != "pull" or u.count != u.size:
        return ""
    if masked and not form.format.grades_masked:
        return ""
    if not is_graded(semiring, plan.kind, form, True, u.dtype):
        return ""
    hot = form.format.hot(form, hot_bytes(A.device) // u.dtype.nbytes) if form.format.warms else 0
    if not form.format.warms:
        return "degree-binned rows"
    by_degree = 'no hot columns, which A.reorder("degree") may give' if A.order is None else "no hot columns"
    return f"degree-binned rows, {f'{hot} hot columns in shared memory' if hot else by_degree}"


def graded_variant(
    key: str, types: Types, semiring: Typed[Semiring] | None, kind: int, a: DataType, u: DataType, end: End,
    shared: int, width: int, *, masked: bool = False, **options: bool,
) -> Variant:  # fmt: skip
    """The kernel. shared: bytes of shared memory for hot columns; width: see `Format.fixed_width`; masked: under a
    mask."""
    how: dict[str, Any] = options | {"end": end, "lanes": 32, "width": width, "kernel": "pull_graded"}
    format = format_of(key)
    more = (*format.graded_constants(shared), *([("MASKED", int(masked))] if format.grades_masked else []))
    return pull_variant(key, types, semiring, kind, a, u, **how, more=more)


class GradedPull:
    """A degree-binned pull into a vector of which nothing is kept; same interface as PullKernels."""

    __slots__ = ("end", "grades", "hot", "join", "kernel", "masked", "matrix", "nothing", "of", "one", "size",
                 "variants")  # fmt: skip

    def __init__(self, of: PreparedProduct, end: End, w: DataType, masked: bool, part: Part | None = None) -> None:
        """w: type of an output with the type of the sums. part: only some rows, without a mask."""
        device, form, format = of.device, of.form, of.form.format
        types, semiring, kind, a_type, options = of.algebra
        self.of, self.end, self.masked = of, end, masked
        self.grades, self.size = format.grades(form, part), of.size if part is None else part.size
        shared, width = hot_bytes(device), format.fixed_width(form)
        warms = part is None and format.warms
        self.hot = format.hot(form, shared // of.u_type.nbytes) if warms else 0
        shared = shared if self.hot else 0
        options = options | {"masked": masked}
        variant = graded_variant(form.key, types, semiring, kind, a_type, of.u_type, end, shared, width, **options)
        self.variants = (variant, hubs_variant(semiring, kind, 1, end))[: 1 + (self.grades.hubs is not None)]
        self.kernel, self.join = compiled(device, variant), compiled(device, self.variants[-1])
        self.matrix = *format.graded_contents(form, options["ranked"]), *of.matrix.values
        self.nothing, self.one = no_output(device, end.w), of.value

    def scratch(self) -> Any:
        """Scratch memory for the sums of segments."""
        segments = self.grades.segments
        return self.of.dense(segments, self.end.z) if segments else dummy(self.of.device, self.end.z.np_type.char)

    def run(self, u: Input, mask: Allowed, old: Old, to: Output, scratch: Any = None) -> None:
        """Compute the product into the output. scratch: result of `scratch`, for callers that must not allocate now."""
        grades, hubs = self.grades, self.grades.hubs
        parts = self.scratch() if scratch is None else scratch
        rest = *u[1:], self.hot, self.size, grades.reached, parts, *to, *(mask if self.masked else ())
        self.kernel(grades.runs, *grades.arguments(), *self.matrix, *rest)
        if hubs is not None:
            self.join(len(hubs.rows), hubs.rows, hubs.first, grades.ones, parts, *mask, *old, *to)
