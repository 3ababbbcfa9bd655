"""A pull of rows graded by their length (formats/csr/grades.py), by blocks that hold a part of the vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semirings import Semiring, Typed
from semirings.dtypes import DataType

from ..plan.ending import End
from ..plan.product import Plan, held_bytes, is_graded, is_staged
from ..store import MatrixStore, VectorStore
from .operands import Allowed, Input, Old, Output, dummy
from .pull import compiled, no_output
from .variants import hubs_variant, pull_variant

if TYPE_CHECKING:
    from .product import PreparedProduct


def foreseen(A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], plan: Plan) -> str:
    """For `explain`: how rows will be pulled that are graded; "" where they are not."""
    form: Any = A.structure.held(plan.key, transposed=plan.transposed)
    if form is None or plan.direction != "pull" or u.count != u.size:
        return ""
    if not is_graded(semiring, is_staged(semiring, plan.kind, form, True), form, u.dtype):
        return ""
    held = form.format.held(form, held_bytes(A.device) // u.dtype.nbytes)
    return "rows graded by length" + (f", {held} columns held" if held else "")


class GradedPull:
    """What PullKernels is for others, of a graded pull: without a mask, into a vector of which nothing stays."""

    __slots__ = ("end", "grades", "held", "join", "kernel", "matrix", "nothing", "of", "one", "variants")

    def __init__(self, of: PreparedProduct, end: End, w: DataType, masked: bool) -> None:
        """w, masked: those of an output of the type of the sums, without a mask."""
        device, form, format = of.device, of.form, of.form.format
        types, semiring, kind, a_type, options = of.algebra
        self.of, self.end = of, end
        self.grades = format.grades(form)
        shared = held_bytes(device)
        self.held = format.held(form, shared // of.u_type.nbytes)
        more = tuple(format.graded_constants(shared if self.held else 0))
        variant = pull_variant(
            form.key, types, semiring, kind, a_type, of.u_type, end=end, lanes=32, width=format.fixed_width(form),
            kernel="pull_graded", more=more, **options,
        )  # fmt: skip
        self.variants = (variant, hubs_variant(semiring, kind, 1, end))[: 1 + (self.grades.hubs is not None)]
        self.kernel, self.join = compiled(device, variant), compiled(device, self.variants[-1])
        self.matrix = *form.unit_contents(options["ranked"]), *of.matrix.values
        self.nothing, self.one = no_output(device, end.w), of.value

    def scratch(self) -> Any:
        """Where the sums of segments go."""
        segments = self.grades.segments
        return self.of.dense(segments, self.end.z) if segments else dummy(self.of.device, self.end.z.np_type.char)

    def run(self, u: Input, mask: Allowed, old: Old, to: Output, scratch: Any = None) -> None:
        """The product into the output. scratch: what `scratch` gave, for those who must not take memory now."""
        grades, hubs = self.grades, self.grades.hubs
        parts = self.scratch() if scratch is None else scratch
        rest = *u[1:], self.held, self.of.size, grades.reached, parts, *to
        self.kernel(grades.runs, *grades.arguments(), *self.matrix, *rest)
        if hubs is not None:
            self.join(len(hubs.rows), hubs.rows, hubs.first, grades.ones, parts, *mask, *old, *to)
