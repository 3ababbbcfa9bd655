"""Stored formats. A format holds structure, never arithmetic; one folder = one format.

A class in <format>/format.py keeps the contract `Form`. Beside it stands `from_csr(csr, ..., order) -> (form, order)`,
order[e] being the place in the CSR of the value of entry e of the form, and a static `predict_bytes(...)`, the bytes
before anything is built. Orders are asked for by a flag: matrices without a value array never need one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from ..device import Device
    from .csr.format import Csr


EVERYWHERE = 1 << 62  # a limit that no index reaches
CSR, MPLG = "csr", "mplg"
# The forms whose units are rows and whose entries lie row by row: one order of values, and the kernels of csr/ for all.
ROWS = (CSR, MPLG)


def tile_of(key: str) -> int:
    """The size of the tiles of a form: 8 for "b2sr8" and "split8"; 1 for a form of rows."""
    name = key.rstrip("0123456789")
    return int(key[len(name) :] or 1)


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


class Form(Protocol):
    """What every stored form offers: the structure of a matrix as arrays on one device, immutable once made.

    A unit is what kernels count: a row, or the `rows_per_unit` rows of a tile row. Unit u holds ptr[u] .. ptr[u + 1] of
    whatever `col` lists: entries, or tiles.
    """

    device: Device
    nrows: int
    ncols: int
    nvals: int
    col: Any
    cache: dict[Any, Any]  # what is computed once per form: schedules of kernels, facts
    compact: bool  # asked for because it is small: as a primary form it keeps no other form beside it

    @property
    def key(self) -> str:
        """How the form is named: "csr", "mplg", "b2sr8", "split8"."""

    @property
    def ptr(self) -> Any: ...

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

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        """The same entries row by row; with `order` also order[e], the place of entry e's value in this form."""

    def coo(self) -> tuple[Any, Any]:
        """Rows and columns (INT64) of the entries, in this form's order of entries."""

    def clip(self, region: Region, order: bool) -> tuple[Form, Any]:
        """The entries in a region, in the same form; with `order` also the places of their values in this form."""

    def is_symmetric(self) -> bool:
        """Whether it is square and equals its transpose, which is not made for it: with a chance of 2^-64 to be wrong
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

    def adopt(self, twin: Any) -> None:
        """Take over what another build of the same form has computed besides, such as ranks."""


class Structure:
    """Where the entries of a matrix are: one primary form, which fixes the order of values, and others made on demand.

    Immutable but for that cache; shared by all matrices that differ in values only. Beside a compact primary form only
    its transpose is kept: a statement that needs another form makes it, and lets it go.
    """

    def __init__(self, primary: Form) -> None:
        self.primary = primary
        self._forms: dict[tuple[str, bool], Form] = {(primary.key, False): primary}
        self._orders: dict[tuple[str, bool], Any] = {(primary.key, False): None}
        self._symmetric: bool | None = None  # None: nobody has asked
        # For plan/choice.py. Counts that threads share may lose one: nothing depends on the exact number.
        self.reads, self.read_besides = 0, 0  # by products with vectors, and by what else reads rows
        self.choices: dict[Any, Any] = {}
        self.due = [1, 1]  # the reads at which to ask again, for matrices of several values and of one

    @property
    def device(self) -> Device:
        return self.primary.device

    @property
    def nrows(self) -> int:
        return self.primary.nrows

    @property
    def ncols(self) -> int:
        return self.primary.ncols

    @property
    def nvals(self) -> int:
        return self.primary.nvals

    @property
    def symmetric(self) -> bool:
        """Whether it equals its transpose, which one form then serves as too: found in one pass, once."""
        if self._symmetric is None:
            self._symmetric = self.nrows == self.ncols and self.primary.is_symmetric()
        return self._symmetric

    def coo(self) -> tuple[Any, Any]:
        """Rows and columns (INT64) of the entries in the order of the values."""
        return self.primary.coo()

    def has(self, key: str, *, transposed: bool = False) -> bool:
        return (self.kept_as(key), transposed) in self._forms

    def kept_as(self, key: str) -> str:
        """The form that is kept where `key` is asked for: the plain form of packed rows, which would need up to 32
        times the memory, is made for a statement and dropped. Entries lie in the same order in both."""
        return MPLG if key == CSR and self.primary.key == MPLG else key

    def rows(self, *, transposed: bool = False) -> Any:
        """The structure (or its transpose) in a form by rows, as it lies there: plain or packed."""
        self.read_besides += 1
        return self.form(self.primary.key if self.primary.key in ROWS else CSR, transposed=transposed)

    def form(self, key: str, *, transposed: bool = False) -> Form:
        """The structure (or its transpose) in the form `key`, built once, but for what `kept_as` and `keeps` say."""
        if self.kept_as(key) != key:
            return self.form(self.kept_as(key), transposed=transposed).to_csr(False)[0]
        known = self._forms.get((key, transposed))
        return self._make(key, transposed, order=False)[0] if known is None else known

    def led_by(self, key: str) -> Structure:
        """The same entries with that form as the primary one, alone."""
        made = Structure(self.form(key))
        made._symmetric = self._symmetric
        return made

    def order(self, key: str, *, transposed: bool = False) -> Any:
        """For each entry of that form the place of its value in the primary form; None: the same order."""
        key = self.kept_as(key)
        if (key, transposed) not in self._orders:
            return self._make(key, transposed, order=True)[1]
        return self._orders[key, transposed]

    def keeps(self, key: str) -> bool:
        """Whether a form, once made, is kept."""
        return key == self.primary.key or not self.primary.compact

    def _make(self, key: str, transposed: bool, order: bool) -> tuple[Form, Any]:
        from ..build.entries import convert

        form, places = convert(self, key, transposed=transposed, order=order)
        if not self.keeps(key):
            return form, places
        known = self._forms.setdefault((key, transposed), form)
        if form is not known:
            known.adopt(form)  # the pass that finds the order also finds the ranks
        if order:
            self._orders[key, transposed] = places
        return known, places

    def keep(self, key: str, transposed: bool, form: Form, order: Any) -> None:
        """A form (of the transpose) that was made elsewhere, and where its values lie (None: not known)."""
        self._forms.setdefault((key, transposed), form)
        if order is not None:
            self._orders[key, transposed] = order

    def forms(self) -> Iterator[tuple[str, bool, Form, Any]]:
        """All forms held: key, transposed, form, order (None where none is held)."""
        for (key, transposed), form in list(self._forms.items()):
            yield key, transposed, form, self._orders.get((key, transposed))
