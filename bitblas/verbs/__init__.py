"""The GraphBLAS operations, from stores to stores: plan, convert to the planned format, launch kernels.

Each returns a fresh store; statements on vectors (`Into`) write into their output. `core` has checked shapes and types.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..later import module_of

if TYPE_CHECKING:
    from . import (
        arrays,
        between,
        deciding,
        elements,
        equal,
        expanded,
        filled,
        graded,
        gustavson,
        hyper,
        hyper_product,
        join,
        keys,
        listed,
        local,
        masks,
        matrix,
        matrix_variants,
        merge,
        mxm,
        narrow,
        narrow_product,
        narrow_sums,
        narrow_variants,
        operands,
        product,
        pull,
        push,
        reading,
        record_work,
        records,
        records_device,
        records_host,
        regions,
        reorder,
        schedule,
        sieve,
        submatrix,
        variants,
        vector,
        vector_build,
        vector_sums,
        virtual,
        weave,
    )


def __getattr__(name: str) -> ModuleType:
    return module_of(__name__, name)
