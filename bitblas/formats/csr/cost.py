"""Sizes of plain rows, and the cost model of CSR. Other formats by rows override `predict_bytes`."""

from __future__ import annotations

import numpy as np

from ..contract import CSR, Cost, StructureFacts

UNROLL = 4  # entries that a lane of a pull loads before it uses the first
# Upper bound of how far a kernel's index passes the end of a row before the test, in the type of pointers: loads of
# all lanes, the parts of a segment (kernels/joined.cuh, csr/advance.cu, csr/patches.cu).
STRIDE = 1 << 16
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)  # dtypes: with np.int32 NumPy takes twice as long per array


def index_type(limit: int) -> np.dtype:
    """32-bit indices if they fit, otherwise 64-bit."""
    return INT32 if limit < 1 << 31 else INT64


def pointer_type(entries: int) -> np.dtype:
    """Type of pointers to that many entries or tiles: 32 bits if these and a kernel's next step fit, otherwise 64."""
    return index_type(entries + STRIDE)


def rows_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and plain columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + nvals * index_type(ncols).itemsize


class RowsCost(Cost):
    """Rows with plain columns."""

    name = CSR

    def predict_bytes(self, facts: StructureFacts) -> int:
        return rows_bytes(facts.nrows, facts.ncols, facts.nvals)

    def scratch(self, facts: StructureFacts) -> int:
        return 0
