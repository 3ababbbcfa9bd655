"""The GraphBLAS operations, from stores to stores: plan, convert to the planned format, launch kernels.

Each returns a fresh store; statements on vectors (`Into`) write into their output. `core` has checked shapes and types.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..extras import module_of

if TYPE_CHECKING:
    from . import (
        assign_extract,
        build,
        communities,
        compressed,
        contraction,
        convert,
        dense_spmm,
        ewise_matrix,
        ewise_vector,
        hypersparse,
        lazy_map_product,
        map_products,
        multivector,
        neighbor_sampling,
        operands,
        peeling,
        permute,
        plain_spmv,
        row_sample,
        sddmm,
        sorted_keys,
        spgemm,
        spmv,
        strong,
        supports,
        udf,
        value_arrays,
        variants,
        vector_entries,
        virtual_nodes,
    )


def __getattr__(name: str) -> ModuleType:
    return module_of(__name__, name)
