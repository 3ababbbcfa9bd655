"""Kernels of CR2: pulls sum pieces, and then rows by the list of their pieces; all others go along the same list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semirings.dtypes import lookup_dtype

from ... import tuning
from ...typing import Array
from ..contract import (
    EVERYWHERE,
    Advance,
    Arguments,
    Constants,
    Format,
    Kernels,
    LinesWalk,
    Order,
    Pull,
    PullCase,
    Push,
    Types,
    View,
)
from ..schedule import Hubs, hubs_of, power_of_two
from .cost import Cr2Cost

if TYPE_CHECKING:
    from ..csr.layout import Csr
    from .layout import Cr2


class PiecesView(View["Cr2"]):
    """The pieces of each row, and all pieces in runs."""

    indices = ("PTR", "COL")

    def types(self, layout: Cr2, ranked: bool) -> Types:
        rows = layout.by_row()
        return ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(rows.col.dtype))

    def contents(self, layout: Cr2, ranked: bool) -> Arguments:
        narrow, wide = layout.grid.widths
        inside, between = (
            (layout.inside_rows, layout.inside_cols, narrow),
            (layout.between_rows, layout.between_cols, wide),
        )
        first = layout.inside_pieces, layout.inside, layout.log_cluster
        return layout.col, layout.runs().starts, *inside, *between, *first, layout.perm, layout.ordered

    def hubs(self, layout: Cr2, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        return hubs_of(layout, longest, part)

    def pieces(self, layout: Cr2) -> tuple[int, Csr]:
        return layout.runs().size, layout.by_row()


class PiecesPull(Pull["Cr2"]):
    """Two warps per run of 64 pieces."""

    stops_rows = False

    def constants(self, case: PullCase) -> Constants:
        return []

    def lanes(self, layout: Cr2, nrows: int, kind: int) -> int:
        return 64

    def longest(self, kind: int, lanes: int) -> int:
        return EVERYWHERE

    def segment(self) -> int:
        return EVERYWHERE


class PiecesPush(Push["Cr2"]):
    """Lanes share a piece of a row."""

    def constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return []

    def lanes(self, layout: Cr2, nrows: int, kind: int) -> int:
        return power_of_two(layout.nvals / max(1, layout.work), 1, 32)

    def longest(self, lanes: int) -> int:
        """Pieces, of up to 2^log_longest entries."""
        return tuning.count("rows.iterations")


class PiecesAdvance(Advance["Cr2"]):
    """Items are pieces. Lanes share the entries of those of a row."""

    kernel = "formats/cr2/advance"
    item = "piece"
    scans = True

    def longest(self, entries: int) -> int:
        return max(1, entries // tuning.count("cr2.entries_per_piece"))

    def segments(self, layout: Cr2, longest: int) -> int:
        found = hubs_of(layout, longest)
        return 0 if found is None else found.segments

    def pushed(self, layout: Cr2, ranked: bool, longest: int) -> Arguments:
        return layout.ptr, longest, *layout.format.view.contents(layout, ranked)

    def pulled(self, layout: Cr2, ranked: bool, *, read: bool = True) -> Arguments:
        return layout.ptr, *layout.format.view.contents(layout, ranked)


class PiecesLines(LinesWalk["Cr2"]):
    """Items are pieces."""

    def constants(self, *, ranked: bool) -> Constants:
        return [("RANKED", int(ranked))]

    def lanes(self, layout: Cr2) -> int:
        each = tuning.value("multivector.entries_per_lane")
        return power_of_two(layout.nvals / max(1, layout.nrows) / each, 1, 32)

    def longest(self, entries: int) -> int:
        return max(1, entries // tuning.count("cr2.entries_per_piece"))

    def hubs(self, layout: Cr2, longest: int, part: int) -> Hubs | None:
        return hubs_of(layout, longest, part)


def some_rows(layout: Cr2, rows: Array, order: bool) -> tuple[Csr, Order]:
    """Reads only these rows."""
    return layout.some_rows(rows, order)


KERNELS: Kernels = {
    "mxv.pull": PiecesPull(),
    "mxv.push": PiecesPush(),
    "advance": PiecesAdvance(),
    "mxm.lines": PiecesLines(),
    "rows": some_rows,
}
FORMATS = (Format(Cr2Cost(), PiecesView(), KERNELS),)
