"""Interface of a stored layout: the structure of one matrix as arrays on a device.

A *layout* is one matrix's structure (`Form`; format.py and call.py in its folder). A *format* is what all layouts with
one key share, such as "csr" or "b2sr8" (`choice.Format`). A layout holds structure, never arithmetic. Every layout
converts through CSR and represents every matrix exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

if TYPE_CHECKING:
    from semirings.dtypes import DataType

    from ..device import Device
    from ..kernels.prologue import Variant
    from .choice import Format
    from .csr.format import Csr
    from .hubs import Hubs

EVERYWHERE = 1 << 62  # larger than any index
CSR = "csr"  # the plain format: input arrives in it, and all others convert through it

Types = tuple[tuple[str, "DataType"], ...]


class Region(NamedTuple):
    """A part of a matrix: rows and columns from low to below high, diagonals (column - row) from low to high."""

    row_low: int = 0
    row_high: int = EVERYWHERE
    col_low: int = 0
    col_high: int = EVERYWHERE
    diag_low: int = -EVERYWHERE
    diag_high: int = EVERYWHERE

    def covers(self, rows: Any, cols: Any) -> Any:
        """Which of these positions are in the region."""
        diag = cols - rows
        keep = (rows >= self.row_low) & (rows < self.row_high) & (cols >= self.col_low) & (cols < self.col_high)
        return keep & (diag >= self.diag_low) & (diag <= self.diag_high)


class Later:
    """A dict that is created on first access: operations create many objects that never need theirs."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        setattr(owner, self.name, found)  # not by owner.__dict__: see semirings/cached.py
        return found


class Form(Protocol):
    """A stored layout: the structure of a matrix as arrays on one device, immutable once built.

    A unit is what kernels iterate over: a row, or a tile row of `rows_per_unit` rows. Unit u holds the items ptr[u] ..
    ptr[u + 1] of `col`: entries, or tiles.
    """

    formats: ClassVar[tuple[Format, ...]]  # all formats of this class
    compact: bool  # chosen for size: when primary, no other layout is cached
    device: Device
    nrows: int
    ncols: int

    # ---- arrays and conversions ----

    @property
    def format(self) -> Format: ...

    @property
    def key(self) -> str:
        """The key of its format."""

    @property
    def cache(self) -> dict[Any, Any]:
        """What is computed once per layout: kernel schedules, facts."""

    @property
    def nvals(self) -> int: ...

    @property
    def ptr(self) -> Any: ...

    @property
    def col(self) -> Any: ...

    @property
    def units(self) -> int: ...

    @property
    def rows_per_unit(self) -> int: ...

    @property
    def work(self) -> int:
        """Number of items in all units: entries, or tiles."""

    @property
    def nbytes(self) -> int:
        """Bytes used on the device."""

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Form, Any]:
        """Build the layout from rows. With `order` also order[e], the position of entry e's value in `rows` (None: the
        same order)."""

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        """The same entries row by row; with `order` also order[e], the position of entry e's value in this layout."""

    def by_rows(self, order: bool) -> tuple[Any, Any]:
        """The same entries in a layout by rows: this one, if it is by rows."""

    def transpose(self, order: bool) -> tuple[Form, Any]:
        """The layout of the transpose; with `order` also the positions of its values in this layout."""

    def clip(self, region: Region, order: bool) -> tuple[Form, Any]:
        """The entries in a region, in the same format; with `order` also the positions of their values in this
        layout."""

    def filter(self, keep: Any) -> tuple[Form, Any]:
        """The entries for which `keep` (bools in entry order) is true, in the same format, and an index that selects
        their values from this layout's: bools, or positions."""

    def equals(self, other: Any) -> bool:
        """Whether another layout of the same class has the same entries."""

    def coo(self) -> tuple[Any, Any]:
        """Rows and columns (INT64) of the entries, in this layout's entry order."""

    def ranks(self) -> Any:
        """The rank of each item's first entry, computed on first use; None if the items are the entries."""

    def is_symmetric(self) -> bool:
        """Whether a square matrix equals its transpose, which is not built for this. A false positive has probability
        2^-64."""

    def arrays(self) -> dict[str, Any]:
        """The arrays that define it, by name: they count as its bytes, and are saved. Derived arrays such as ranks are
        excluded."""

    def numbers(self) -> dict[str, int]:
        """The integers that define it together with the arrays; includes nrows, ncols and nvals."""

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Form:
        """Rebuild the layout from `numbers` and `arrays` that came from a file. ValueError if names, types or lengths
        do not match; contents are not checked."""

    def check(self) -> None:
        """ValueError unless the arrays are a valid layout, which kernels can read without leaving it."""

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        """Kernels that build, slice and read it, for registry/ to compile ahead of time."""

    def adopt(self, twin: Any) -> None:
        """Take over what another build of the same layout has computed in addition, such as ranks."""

    # ---- kernel arguments ----

    def types(self, ranked: bool) -> Types:
        """The types of its index arrays, under the names that kernels use (`Format.indices`)."""

    def unit_starts(self) -> tuple[Any, int]:
        """The array of unit starts, plus the end of the last unit; and how many numbers a unit has in it."""

    def unit_contents(self, ranked: bool) -> tuple[Any, ...]:
        """The arrays of unit contents. ranked: with values, which are found by ranks."""

    def pushed(self, ranked: bool, longest: int) -> tuple[Any, ...]:
        """Arguments of an advance that pushes, except values: unit starts, contents, and the long rows in segments of
        `longest`."""

    def pulled(self, ranked: bool, *, read: bool = True) -> tuple[Any, ...]:
        """Arguments of an advance that pulls by rows of the result, except values. read: False if it never pulls; then
        nothing is built for it."""

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """The units of more than `longest` items, in segments of `part` (default: `longest`); None if there are none.
        share: `Format.share`."""

    def segments(self, longest: int) -> int:
        """Number of segments of an advance's long rows; 0 if rows are not cut."""
