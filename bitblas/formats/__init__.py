"""Stored formats. A format holds structure, never arithmetic; one folder = one format.

The contract of a Form (csr/format.py and b2sr/format.py keep it):
  device, nrows, ncols, nvals, nbytes
  key                          how the form is named: "csr", "b2sr8"
  to_csr(order) -> (Csr, order)            order[e]: for entry e of the CSR, the place of its value in this form
  from_csr(csr, ..., order) -> (form, order)  order[e]: for entry e of the form, the place of its value in the CSR
  predict_bytes(facts, ...)    bytes before anything is built
`order` is asked for by a flag, because matrices without a value array never need it (None is returned then).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..device import Device
    from .b2sr.format import B2sr
    from .csr.format import Csr

    Form = Csr | B2sr


class Structure:
    """Where the entries of a matrix are: one primary form, which fixes the order of values, and others made on demand.

    Immutable but for that cache; shared by all matrices that differ in values only.
    """

    def __init__(self, primary: Form) -> None:
        self.primary = primary
        self._forms: dict[tuple[str, bool], Form] = {(primary.key, False): primary}
        self._orders: dict[tuple[str, bool], Any] = {(primary.key, False): None}

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

    def coo(self) -> tuple[Any, Any]:
        """Rows and columns (INT64) of the entries in the order of the values."""
        return self.primary.coo()

    def has(self, key: str, *, transposed: bool = False) -> bool:
        return (key, transposed) in self._forms

    def form(self, key: str, *, transposed: bool = False) -> Form:
        """The structure (or its transpose) in the form `key`, built once."""
        if (key, transposed) not in self._forms:
            self._make(key, transposed, order=False)
        return self._forms[key, transposed]

    def order(self, key: str, *, transposed: bool = False) -> Any:
        """For each entry of that form the place of its value in the primary form; None: the same order."""
        if (key, transposed) not in self._orders:
            self._make(key, transposed, order=True)
        return self._orders[key, transposed]

    def _make(self, key: str, transposed: bool, order: bool) -> None:
        from .build import convert

        form, places = convert(self, key, transposed=transposed, order=order)
        known = self._forms.setdefault((key, transposed), form)
        if form is not known and hasattr(known, "value_ptr") and known.value_ptr is None:
            known.value_ptr = form.value_ptr  # the pass that finds the order also finds the ranks
        if order:
            self._orders[key, transposed] = places

    def forms(self) -> Iterator[tuple[str, bool, Form, Any]]:
        """All forms held: key, transposed, form, order (None where none is held)."""
        for (key, transposed), form in list(self._forms.items()):
            yield key, transposed, form, self._orders.get((key, transposed))
