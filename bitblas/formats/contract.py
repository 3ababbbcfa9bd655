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

EVERYWHERE = 1 << 62  # a limit that no index reaches
CSR = "csr"  # the plain form, in which entries come, and through which all others convert

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
        """Which of these places lie in it."""
        diag = cols - rows
        keep = (rows >= self.row_low) & (rows < self.row_high) & (cols >= self.col_low) & (cols < self.col_high)
        return keep & (diag >= self.diag_low) & (diag <= self.diag_high)


class Later:
    """A dict that is made when an object is first asked for it: statements make many that nobody asks for any."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        setattr(owner, self.name, found)  # not by owner.__dict__: see semirings/cached.py
        return found


class Form(Protocol):
    """What every stored form offers: the structure of a matrix as arrays on one device, immutable once made.

    A unit is what kernels count: a row, or the `rows_per_unit` rows of a tile row. Unit u holds ptr[u] .. ptr[u + 1] of
    whatever `col` lists: entries, or tiles.
    """

    formats: ClassVar[tuple[Format, ...]]  # all that forms of this class may have
    compact: bool  # asked for because it is small: as a primary form it keeps no other form beside it
    device: Device
    nrows: int
    ncols: int

    # ---- format.py ----

    @property
    def format(self) -> Format: ...

    @property
    def key(self) -> str:
        """That of its format."""

    @property
    def cache(self) -> dict[Any, Any]:
        """What is computed once per form: schedules of kernels, facts."""

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
        """What the units hold in all: entries, or tiles."""

    @property
    def nbytes(self) -> int:
        """Bytes held on the device."""

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Form, Any]:
        """The form of these rows; with `order` also order[e], the place of entry e's value in them (None: they lie in
        the same order)."""

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        """The same entries row by row; with `order` also order[e], the place of entry e's value in this form."""

    def by_rows(self, order: bool) -> tuple[Any, Any]:
        """The same in a form by rows, this one if it is one."""

    def transpose(self, order: bool) -> tuple[Form, Any]:
        """The form of the transpose; with `order` also the places of its values in this form."""

    def clip(self, region: Region, order: bool) -> tuple[Form, Any]:
        """The entries in a region, in the same form; with `order` also the places of their values in this form."""

    def filter(self, keep: Any) -> tuple[Form, Any]:
        """The entries for which `keep` (bools in entry order) is true, in the same form, and what takes their values
        from those of this form: bools that keep some, or places."""

    def equals(self, other: Any) -> bool:
        """Whether another of the same class holds the same entries."""

    def coo(self) -> tuple[Any, Any]:
        """Rows and columns (INT64) of the entries, in this form's order of entries."""

    def ranks(self) -> Any:
        """Where the values of each item begin, made at first need; None where entries are the items."""

    def is_symmetric(self) -> bool:
        """Whether it, a square one, equals its transpose, which is not made for it; with a chance of 2^-64 to be wrong
        where it does not."""

    def arrays(self) -> dict[str, Any]:
        """The arrays that it is made of, by name: what is counted as its bytes, and saved. Not what can be computed
        from them, such as ranks."""

    def numbers(self) -> dict[str, int]:
        """The numbers that it is made of besides, nrows, ncols and nvals among them."""

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Form:
        """The form of what `numbers` and `arrays` gave, as they came from a file. ValueError where they are others, or
        types and lengths do not fit each other; contents are not looked at."""

    def check(self) -> None:
        """ValueError unless the arrays hold a sound form: whatever reads it then stays within it."""

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        """Kernels that it is built, cut and read with, as registry/ lists them."""

    def adopt(self, twin: Any) -> None:
        """Take over what another build of the same form has computed besides, such as ranks."""

    # ---- call.py: how kernels get it ----

    def types(self, ranked: bool) -> Types:
        """The types of its index arrays, by the names that kernels give them (`Format.indices`)."""

    def unit_starts(self) -> tuple[Any, int]:
        """Where what each unit holds begins, and the last one's ends; the numbers that a unit has there."""

    def unit_contents(self, ranked: bool) -> tuple[Any, ...]:
        """What the units hold. ranked: with values, which are found by ranks."""

    def pushed(self, ranked: bool, longest: int) -> tuple[Any, ...]:
        """What a step that pushes reads of the form, but for values: where units begin, and what else it needs, of long
        rows in segments of `longest` too."""

    def pulled(self, ranked: bool, *, read: bool = True) -> tuple[Any, ...]:
        """What a step that pulls reads of the form by rows of the result, but for values. read: False where it never
        pulls, and nothing is made for that."""

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """The units of more than `longest` items, in segments of `part` (`longest`, unless given); None where there
        are none. share: `Format.share`."""

    def segments(self, longest: int) -> int:
        """Segments that the long rows of a step have; 0 where they are not cut."""
