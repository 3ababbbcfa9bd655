"""A pull of rows graded by their length (formats/csr/grades.py), by blocks that hold a part of the vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plan.ending import End
from ..plan.product import HELD_BYTES
from .operands import Allowed, Input, Old, Output, dummy
from .pull import compiled, no_output
from .variants import hubs_variant, pull_variant

if TYPE_CHECKING:
    from .product import PreparedProduct


class GradedPull:
    """The kernels of a graded pull, without a mask, into a vector of which nothing stays: what PullKernels is for others."""

    __slots__ = ("end", "grades", "held", "join", "kernel", "matrix", "nothing", "of", "one", "variants")

    def __init__(self, of: PreparedProduct, end: End) -> None:
        device, form, format = of.device, of.form, of.form.format
        types, semiring, kind, a_type, options = of.algebra
        self.of, self.end = of, end
        self.grades = format.grades(form)
        self.held = format.held(form, HELD_BYTES // of.u_type.nbytes)
        more = (*format.graded_constants(HELD_BYTES if self.held else 0),)
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
