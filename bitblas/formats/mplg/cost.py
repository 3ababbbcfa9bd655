"""Cost model and kernels of packed rows, where they differ from those of plain ones.

The kernels are CSR's with PACKED (csr/columns.cuh for walks through a row, csr/any_column.cuh for single entries).
"""

from __future__ import annotations

from ... import tuning
from .. import packing
from ..contract import Format, StructureFacts
from ..csr.cost import RowsCost, pointer_type
from ..csr.kernels import RowsView, rows_kernels


def packed_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and packed columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + 4 * packing.packed_words(nvals, packing.width_of(ncols))


class PackedCost(RowsCost):
    """Rows with packed columns."""

    name = "mplg"

    @property
    def margin(self) -> float:
        return tuning.value("formats.margin")

    def refusal(self, nrows: int, ncols: int) -> str:
        """Columns have at most 32 bits, also those of the transpose."""
        fits = max(nrows, ncols) <= 1 << packing.MOST_BITS
        return "" if fits else f"holds up to 2**{packing.MOST_BITS} rows and columns, got {nrows} x {ncols}"

    def predict_bytes(self, facts: StructureFacts) -> int:
        return packed_bytes(facts.nrows, facts.ncols, facts.nvals)


FORMATS = (
    Format(
        PackedCost(),
        RowsView(),
        rows_kernels(packed=True),
        folder="csr",
        by_rows=True,
        ranked=False,
        packed=True,
    ),
)
