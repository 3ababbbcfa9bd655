"""The matrix side of an advance: its format and values, and how the kernel for them is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semirings.dtypes import BOOL, DataType

from ...formats.values import PackedValues
from ...kernels.prologue import Variant
from ...plan.product import VALUES, WORDS
from ...plan.transpose import at_hand
from ...store import Raw
from ...verbs.operands import entry_values
from ..fused import layout
from ..fused.fuse import Step
from ..fused.pointwise import Text
from ..fused.steps import can_pull, step_lanes, step_variant
from ..recorded.ir import Product
from .operands import launchable


@dataclass(frozen=True, eq=False)
class Along:
    """The format that an advance traverses, with the types and values of its product."""

    form: Any
    segments: int  # of its long rows
    kind: int
    semiring: Any
    values: Raw
    ranked: bool
    a_type: DataType
    u_type: DataType
    pulls: bool
    in_share: bool  # whether its vector has other positions than the result

    @classmethod
    def of(cls, build: Any, item: Step) -> Along:
        """The matrix side of an advance of a program; the build notes a missing transpose."""
        product = item.product
        A, (form, segments) = product.matrix, build.rows_of(product)
        kind, _ = layout.kind(product, build.iso)
        values: Raw = A.raw_for(form.key, not product.transpose) if kind == VALUES else np.bool_(True)
        pulls = can_pull(form.key, product.semiring, kind)
        if pulls and not at_hand(A.structure, transposed=product.transpose, valued=kind == VALUES and not A.iso):
            pulls = False
            build.without_transpose[id(A.structure)] = A.structure
        return cls(
            form, segments, kind, None if kind == WORDS else product.semiring, values,
            form.format.ranked and not isinstance(values, np.generic), A.dtype if kind == VALUES else BOOL,
            product.u.dtype if kind == VALUES else BOOL, pulls, product.in_share,
        )  # fmt: skip

    @property
    def lanes(self) -> int:
        return step_lanes(self.form.work, self.form.units, skewed=self.segments > 0)

    @property
    def scans(self) -> bool:
        """Whether the advance can find the entries of its vector itself, without a worklist: if it needs neither the
        number of their edges nor their long rows, and if its vector and its result have the same size."""
        return bool(self.form.format.scans) and not self.pulls and not self.segments and not self.in_share

    def variant(self, item: Step, before: tuple[Text, str], *, scans: bool = False, weighs: bool = True) -> Variant:
        """The kernel of the advance, including the statements that run at entries."""
        return step_variant(
            self.form.key, self.form.types(self.ranked), self.semiring, self.kind, self.a_type, self.u_type,
            flip=item.product.flip, ranked=self.ranked, also=item.also, pulls=self.pulls, lanes=self.lanes,
            entry=before, packed=isinstance(self.values, PackedValues), scans=scans, weighs=weighs,
        )  # fmt: skip

    def matrix(self, device: Any, longest: int) -> tuple[Any, ...]:
        """The arguments for the matrix: its arrays, with rows of more than `longest` items in segments, and its
        values."""
        contents = launchable(self.form.pushed(self.ranked, longest))
        return *contents, *launchable(entry_values(device, self.a_type, self.values))

    def back(self, device: Any, back: Any, product: Product) -> tuple[Any, ...]:
        """The matrix by rows of the result, for pulling; if it does not exist, the same arrays again, which are
        unused."""
        form = self.form
        arguments = launchable((form if back is None else back).pulled(self.ranked, read=back is not None))
        if not form.format.reads_values:
            return arguments
        transposed = product.transpose if back is not None else not product.transpose
        values: Raw = product.matrix.raw_for(form.key, transposed) if self.kind == VALUES else np.bool_(True)
        return *arguments, entry_values(device, self.a_type, values).array
