"""The structure of a matrix: one primary layout that fixes the order of its values, and others built on demand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from semirings.cached import cached_property

from ..device import Device
from ..typing import Array
from .contract import CSR, Layout, LazyDict, Order
from .csr.kernels import rows_bytes

if TYPE_CHECKING:
    from .csr.layout import Csr, Rows


def is_by_rows(layout: Layout) -> TypeGuard[Rows]:
    """Whether its units are rows, with entries in row order."""
    return layout.format.by_rows


# ---- Convert between the layouts of a structure, and restore a layout from the arrays of a file.


def convert(structure: Structure, key: str, *, transposed: bool, order: bool) -> tuple[Layout, Order]:
    """A layout of the structure (or of its transpose); with `order`, the positions of its values in the primary
    layout."""
    if transposed:
        source = structure.layout(key)  # transpose within the format
        if structure.symmetric and not order:
            return source, None  # an undirected graph is its own transpose
        layout, places = source.transpose(order)
        base = structure.order(key) if order else None
        if structure.symmetric:
            source.adopt(layout)
            layout = source
        return layout, places if base is None or places is None else base[places]
    from .catalog import class_of, format_of  # imports every format; not needed while `import bitblas` runs

    rows, places = structure.primary.to_csr(order)
    layout, layout_places = class_of(key).from_csr(rows, format_of(key).tile, order)
    return layout, places if layout_places is None else layout_places if places is None else places[layout_places]


def restored(device: Device, key: str, numbers: dict[str, int], arrays: dict[str, Array]) -> Layout:
    """Rebuild a layout from its `numbers` and `arrays`; ValueError or KeyError if they do not match."""
    from .catalog import class_of

    layout = class_of(key).restored(device, numbers, arrays)
    if layout.key != key:
        raise ValueError(f"format: expected {key!r}, got {layout.key!r}")
    return layout


# ---- The structure of a matrix: one primary layout that fixes the order of its values, and others built on demand.


class Structure:
    """Where a matrix has entries: one primary layout, which fixes the value order, and others built on demand.

    Immutable except for this cache; shared by all matrices that differ only in values. A compact primary layout keeps
    only its transpose in addition: an operation that needs another layout builds it and drops it.
    """

    # Class attributes as defaults: operations create many structures that never need these.
    _symmetric: bool | None = None  # None: not tested yet
    # For plan/format_choice.py. Threads may lose an increment; nothing depends on the exact number.
    reads = other_reads = 0  # by products with vectors, and by other operations that read rows
    # Credits towards auxiliary formats (plan/format_choice.py): entries that were pushed along tiles instead of
    # rows, reads that the lack of the transpose has cost, and products without a copy for sums
    rows_credit = transpose_credit = sums_credit = 0.0
    choices: dict[Any, Any] | None = None
    _layouts = LazyDict()  # in addition to the primary layout, by (key, transposed)
    _orders = LazyDict()
    check_at = (1, 1)  # read counts at which to plan again, for valued and for iso matrices

    def __init__(self, primary: Layout) -> None:
        self.primary = primary
        # Plain attributes: every operation reads them several times.
        self.device: Device = primary.device
        self.nrows: int = primary.nrows
        self.ncols: int = primary.ncols
        self.plain: bool = primary.format.plain
        if self.plain:  # otherwise entries are counted on first use
            self.nvals = primary.nvals

    @cached_property
    def nvals(self) -> int:
        return self.primary.nvals

    @property
    def hypersparse(self) -> bool:
        """Whether the rows and columns with entries are listed."""
        return self.primary.format.hypersparse

    @property
    def has_virtual_nodes(self) -> bool:
        """Whether products run on the smaller graph that is stored."""
        return self.primary.format.has_virtual_nodes

    @property
    def bitmap(self) -> bool:
        """Whether it has a bit per position."""
        return self.primary.format.bitmap

    @property
    def symmetric(self) -> bool:
        """Whether it equals its transpose, so that one layout serves as both. Tested once, in one pass."""
        if self._symmetric is None:
            self._symmetric = self.nrows == self.ncols and self.primary.is_symmetric()
        return self._symmetric

    def coo(self) -> tuple[Array, Array]:
        """Rows and columns (INT64) of the entries, in value order."""
        return self.primary.coo()

    def has(self, key: str, *, transposed: bool = False) -> bool:
        return self.held(key, transposed=transposed) is not None

    def held(self, key: str, *, transposed: bool) -> Layout | None:
        """The layout that is kept for `key`, if it exists."""
        return self._known(self.cached_as(key), transposed)

    def _known(self, key: str, transposed: bool) -> Layout | None:
        primary = key == self.primary.key and not transposed
        return self.primary if primary else self._layouts.get((key, transposed))

    def cached_as(self, key: str) -> str:
        """The format that is kept when `key` is requested; a layout of any other format is built for an operation and
        dropped."""
        return self.primary.format.cached_as(key)

    def rows(self, *, transposed: bool = False) -> Rows:
        """The structure (or its transpose) in its current layout by rows, plain or packed."""
        self.other_reads += 1
        found: Any = self.primary  # no type guard: each call counts in statements on small matrices
        if transposed or not found.format.by_rows:
            found = self.layout(found.format.rows_key, transposed=transposed)
        rows: Rows = found
        return rows

    @property
    def reads_plain_rows(self) -> bool:
        """Whether plain rows are soon read: it has them, or has packed ones or keeps those built, and they fit."""
        keeps = self.cached_as(CSR) == CSR
        if keeps and self.has(CSR):
            return True
        may_build = self.primary.format.by_rows or (keeps and self.keeps(CSR))
        return may_build and not self.device.missing(rows_bytes(self.nrows, self.ncols, self.nvals))

    def plain_rows(self, *, transposed: bool = False, keep: bool = False) -> Csr:
        """The structure as plain rows: the cached ones, or new ones that are not kept. Those of the transpose are
        kept, if they may be; so are all with `keep`."""
        kept = transposed or keep or (self.has(CSR) and self.cached_as(CSR) == CSR)
        found: Any = self.layout(CSR, transposed=transposed) if kept else self.primary.to_csr(False)[0]
        rows: Csr = found
        return rows

    def layout(self, key: str, *, transposed: bool = False) -> Layout:
        """The structure (or its transpose) in the format `key`, built once unless `cached_as` or `keeps` forbid it."""
        if self.cached_as(key) != key:
            return self.layout(self.cached_as(key), transposed=transposed).to_csr(False)[0]
        known = self._known(key, transposed)
        return self._make(key, transposed, order=False)[0] if known is None else known

    def with_primary(self, key: str) -> Structure:
        """A new structure with the same entries whose primary, and only, layout has the format `key`."""
        structure = Structure(self.layout(key))
        structure._symmetric = self._symmetric
        return structure

    def order(self, key: str, *, transposed: bool = False) -> Order:
        """For each entry of that layout the position of its value in the primary layout; None: the same order."""
        key = self.cached_as(key)
        if key == self.primary.key and not transposed:
            return None
        if (key, transposed) not in self._orders:
            return self._make(key, transposed, order=True)[1]
        return self._orders[key, transposed]

    def keeps(self, key: str) -> bool:
        """Whether a layout of that format is kept once built."""
        return key == self.primary.key or not self.primary.compact

    def _make(self, key: str, transposed: bool, order: bool) -> tuple[Layout, Order]:
        layout, places = convert(self, key, transposed=transposed, order=order)
        if not self.keeps(key):
            return layout, places
        known = self._layouts.setdefault((key, transposed), layout)
        if layout is not known:
            known.adopt(layout)  # computing the order also gives the ranks
        if order:
            self._orders[key, transposed] = places
        return known, places

    def keep(self, key: str, transposed: bool, layout: Layout, order: Order) -> None:
        """Add a layout (of the transpose) that was built elsewhere, and the positions of its values (None: not
        known)."""
        if self._known(key, transposed) is None:
            self._layouts[key, transposed] = layout
        if order is not None:
            self._orders[key, transposed] = order

    def forms(self) -> Iterator[tuple[str, bool, Layout, Order]]:
        """All cached layouts: key, transposed, layout, order (None if not cached)."""
        yield self.primary.key, False, self.primary, None
        for (key, transposed), layout in list(self._layouts.items()):
            yield key, transposed, layout, self._orders.get((key, transposed))
