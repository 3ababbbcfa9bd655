"""The structure of a matrix: one primary layout that fixes the order of its values, and others built on demand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from semirings.cached import cached_property

from .contract import CSR, Form, Later
from .convert import convert

if TYPE_CHECKING:
    from ..device import Device
    from .csr.format import Csr


class Structure:
    """Where the entries of a matrix are: one primary form, which fixes the order of values, and others made on demand.

    Immutable but for that cache; shared by all matrices that differ in values only. Beside a compact primary form only
    its transpose is kept: a statement that needs another form makes it, and lets it go.
    """

    # What a new one has; statements make many that nobody asks for any of it.
    _symmetric: bool | None = None  # None: nobody has asked
    # For plan/choice.py. Counts that threads share may lose one: nothing depends on the exact number.
    reads = read_besides = 0  # by products with vectors, and by what else reads rows
    pushed = 0.0  # entries, along tiles (plan/beside.py)
    missed = 0.0  # reads that going without the transpose has cost (plan/transpose.py)
    choices: dict[Any, Any] | None = None
    _forms = Later()  # beside the primary one, by (key, transposed)
    _orders = Later()
    due = (1, 1)  # the reads at which to ask again, for matrices of several values and of one

    def __init__(self, primary: Form) -> None:
        self.primary = primary
        # Plain attributes: every statement asks for them several times.
        self.device: Device = primary.device
        self.nrows: int = primary.nrows
        self.ncols: int = primary.ncols
        self.usual: bool = primary.format.usual
        if self.usual:  # else entries are counted when somebody asks
            self.nvals = primary.nvals

    @cached_property
    def nvals(self) -> int:
        return self.primary.nvals

    @property
    def renumbers(self) -> bool:
        """Whether rows and columns that have entries are listed."""
        return self.primary.format.renumbers

    @property
    def composed(self) -> bool:
        """Whether products run on the smaller graph that it is held as."""
        return self.primary.format.composed

    @property
    def bits(self) -> bool:
        """Whether it is a bitmap."""
        return self.primary.format.bits

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
        return self.held(key, transposed=transposed) is not None

    def held(self, key: str, *, transposed: bool) -> Form | None:
        """The form in which `key` is kept, where it is there."""
        return self._known(self.kept_as(key), transposed)

    def _known(self, key: str, transposed: bool) -> Form | None:
        primary = key == self.primary.key and not transposed
        return self.primary if primary else self._forms.get((key, transposed))

    def kept_as(self, key: str) -> str:
        """The form that is kept where `key` is asked for: another one is made for a statement and dropped."""
        return self.primary.format.kept_as(key)

    def rows(self, *, transposed: bool = False) -> Any:
        """The structure (or its transpose) in a form by rows, as it lies there: plain or packed."""
        self.read_besides += 1
        if not transposed and self.primary.format.by_rows:
            return self.primary
        return self.form(self.primary.format.rows_key(), transposed=transposed)

    def plain_rows(self) -> Csr:
        """The structure as plain rows: those that are kept, else some that are made for this alone."""
        kept = self.has(CSR) and self.kept_as(CSR) == CSR
        found: Any = self.form(CSR) if kept else self.primary.to_csr(False)[0]
        rows: Csr = found
        return rows

    def form(self, key: str, *, transposed: bool = False) -> Form:
        """The structure (or its transpose) in the form `key`, built once, but for what `kept_as` and `keeps` say."""
        if self.kept_as(key) != key:
            return self.form(self.kept_as(key), transposed=transposed).to_csr(False)[0]
        known = self._known(key, transposed)
        return self._make(key, transposed, order=False)[0] if known is None else known

    def led_by(self, key: str) -> Structure:
        """The same entries with that form as the primary one, alone."""
        made = Structure(self.form(key))
        made._symmetric = self._symmetric
        return made

    def order(self, key: str, *, transposed: bool = False) -> Any:
        """For each entry of that form the place of its value in the primary form; None: the same order."""
        key = self.kept_as(key)
        if key == self.primary.key and not transposed:
            return None
        if (key, transposed) not in self._orders:
            return self._make(key, transposed, order=True)[1]
        return self._orders[key, transposed]

    def keeps(self, key: str) -> bool:
        """Whether a form, once made, is kept."""
        return key == self.primary.key or not self.primary.compact

    def _make(self, key: str, transposed: bool, order: bool) -> tuple[Form, Any]:
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
        if self._known(key, transposed) is None:
            self._forms[key, transposed] = form
        if order is not None:
            self._orders[key, transposed] = order

    def forms(self) -> Iterator[tuple[str, bool, Form, Any]]:
        """All forms held: key, transposed, form, order (None where none is held)."""
        yield self.primary.key, False, self.primary, None
        for (key, transposed), form in list(self._forms.items()):
            yield key, transposed, form, self._orders.get((key, transposed))
