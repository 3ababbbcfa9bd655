"""Interfaces of a stored layout (the structure of one matrix) and of its format (what all layouts with one key share).

A *layout* is one matrix's structure as arrays on a device (`Layout`). A *format* is what all layouts with one key, such
as "csr" or "b2sr8", share (`Format`): what it can hold, bytes and time predicted from facts, compile-time choices of
kernels. A layout holds structure, never arithmetic. Every layout converts through CSR and represents every matrix
exactly.

Each format is a folder: layout.py has the arrays, cost.py what there is to choose, and kernels.py, whose class inherits
from that of cost.py, what kernels are compiled with. Both override only what differs from `Format`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from ..device import dummy
from ..exceptions import Panic
from ..typing import Array

if TYPE_CHECKING:
    from typing import Self

    from semirings.dtypes import DataType

    from ..device import Device
    from ..kernels.variant import Variant
    from .csr.layout import Csr, Rows
    from .sampling import Sample
    from .schedule import Bins, Hubs, Part
    from .structure import Structure


# ---- Interface of a stored layout: the structure of one matrix as arrays on a device.
#
# A *layout* is one matrix's structure (`Layout`; layout.py and kernels.py in its folder). A *format* is what all
# layouts with one key share, such as "csr" or "b2sr8" (`Format`). A layout holds structure, never arithmetic.
# Every layout converts through CSR and represents every matrix exactly.

EVERYWHERE = 1 << 62  # larger than any index
CSR = "csr"  # the plain format: input arrives in it, and all others convert through it

Types = tuple[tuple[str, "DataType"], ...]
Arguments: TypeAlias = tuple[Array | np.generic | int, ...]  # of a kernel
# The position of each entry's value in another layout. None: the same order, or not requested.
Order: TypeAlias = Array | None


class Region(NamedTuple):
    """A part of a matrix: rows and columns from low to below high, diagonals (column - row) from low to high."""

    row_low: int = 0
    row_high: int = EVERYWHERE
    col_low: int = 0
    col_high: int = EVERYWHERE
    diag_low: int = -EVERYWHERE
    diag_high: int = EVERYWHERE

    def covers(self, rows: Array, cols: Array) -> Array:
        """Which of these positions are in the region."""
        diag = cols - rows
        keep = (rows >= self.row_low) & (rows < self.row_high) & (cols >= self.col_low) & (cols < self.col_high)
        return keep & (diag >= self.diag_low) & (diag <= self.diag_high)


class LazyDict:
    """A dict that is created on first access: operations create many objects that never need theirs."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: object, kind: type) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        setattr(owner, self.name, found)  # not by owner.__dict__: see semirings/cached.py
        return found


class Layout(Protocol):
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
    def ptr(self) -> Array: ...

    @property
    def col(self) -> Array: ...

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
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Self, Order]:
        """Build the layout from rows. With `order` also order[e], the position of entry e's value in `rows` (None: the
        same order)."""

    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        """The same entries row by row; with `order` also order[e], the position of entry e's value in this layout."""

    def by_rows(self, order: bool) -> tuple[Rows, Order]:
        """The same entries in a layout by rows: this one, if it is by rows."""

    def transpose(self, order: bool) -> tuple[Self, Order]:
        """The layout of the transpose; with `order` also the positions of its values in this layout."""

    def clip(self, region: Region, order: bool) -> tuple[Self, Order]:
        """The entries in a region, in the same format; with `order` also the positions of their values in this
        layout."""

    def filter(self, keep: Array) -> tuple[Self, Array]:
        """The entries for which `keep` (bools in entry order) is true, in the same format, and an index that selects
        their values from this layout's: bools, or positions."""

    def equals(self, other: Self) -> bool:
        """Whether another layout of the same class has the same entries."""

    def coo(self) -> tuple[Array, Array]:
        """Rows and columns (INT64) of the entries, in this layout's entry order."""

    def ranks(self) -> Array | None:
        """The rank of each item's first entry, computed on first use; None if the items are the entries."""

    def is_symmetric(self) -> bool:
        """Whether a square matrix equals its transpose, which is not built for this. A false positive has probability
        2^-64."""

    def arrays(self) -> dict[str, Array]:
        """The arrays that define it, by name: they count as its bytes, and are saved. Derived arrays such as ranks are
        excluded."""

    def numbers(self) -> dict[str, int]:
        """The integers that define it together with the arrays; includes nrows, ncols and nvals."""

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Self:
        """Rebuild the layout from `numbers` and `arrays` that came from a file. ValueError if names, types or lengths
        do not match; contents are not checked."""

    def check(self) -> None:
        """ValueError unless the arrays are a valid layout, which kernels can read without leaving it."""

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        """Kernels that build, slice and read it, for registry/ to compile ahead of time."""

    def adopt(self, twin: Self) -> None:
        """Take over what another build of the same layout has computed in addition, such as ranks."""

    # ---- kernel arguments ----

    def types(self, ranked: bool) -> Types:
        """The types of its index arrays, under the names that kernels use (`Format.indices`)."""

    def unit_starts(self) -> tuple[Array, int]:
        """The array of unit starts, plus the end of the last unit; and how many numbers a unit has in it."""

    def unit_contents(self, ranked: bool) -> Arguments:
        """The arrays of unit contents. ranked: with values, which are found by ranks."""

    def pushed(self, ranked: bool, longest: int) -> Arguments:
        """Arguments of an advance that pushes, except values: unit starts, contents, and the long rows in segments of
        `longest`."""

    def pulled(self, ranked: bool, *, read: bool = True) -> Arguments:
        """Arguments of an advance that pulls by rows of the result, except values. read: False if it never pulls; then
        nothing is built for it."""

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """The units of more than `longest` items, in segments of `part` (default: `longest`); None if there are none.
        share: `Format.share`."""

    def segments(self, longest: int) -> int:
        """Number of segments of an advance's long rows; 0 if rows are not cut."""


V = TypeVar("V")
L = TypeVar("L", bound=Layout)
if TYPE_CHECKING:
    _Interface = Layout  # type checkers see a layout, which subclasses complete
else:
    _Interface = object


def compute_once(cache: dict[Any, Any], key: Hashable, compute: Callable[[], V]) -> V:
    """`compute()`, whose result is kept in the cache."""
    if key not in cache:
        cache[key] = compute()
    found: V = cache[key]
    return found


class LayoutBase(_Interface):
    """What most layouts have in common: those that change by way of plain rows, and have rows as units."""

    compact = False
    value_ptr: Array | None = None  # ranks, computed by `ranks` on first use; only if values need them

    @property
    def key(self) -> str:
        return self.format.key

    @property
    def rows_per_unit(self) -> int:
        return self.format.rows_per_unit

    @property
    def units(self) -> int:
        return self.nrows

    @property
    def nbytes(self) -> int:
        ranks = () if self.value_ptr is None else (self.value_ptr,)
        return sum(int(array.nbytes) for array in (*self.arrays().values(), *ranks))

    def by_rows(self, order: bool) -> tuple[Rows, Order]:
        return self.to_csr(order)

    def is_symmetric(self) -> bool:
        """Peak memory: that of `to_csr`."""
        return self.to_csr(False)[0].is_symmetric()

    def equals(self, other: Self) -> bool:
        """One synchronization."""
        pairs = [(array, other.arrays()[name]) for name, array in self.arrays().items()]
        if self.numbers() != other.numbers() or any(a.shape != b.shape for a, b in pairs):
            return False
        return bool(functools.reduce(operator.and_, [(a == b).all() for a, b in pairs]))

    def numbers(self) -> dict[str, int]:
        return {"nrows": self.nrows, "ncols": self.ncols, "nvals": self.nvals}

    def adopt(self, twin: Self) -> None:
        if self.value_ptr is None:
            self.value_ptr = twin.value_ptr

    def rank_argument(self, ranked: bool) -> Array:
        """Ranks as a kernel argument: a dummy array if the kernel does not read them."""
        ranks = self.ranks() if ranked else None
        return dummy(self.device, "int32") if ranks is None else ranks


# ---- Interface of a format: what it can hold, predicted bytes and time, compile-time choices of its kernels.
#
# The class in <format>/cost.py defines what there is to choose; its subclass in <format>/kernels.py defines what
# kernels are compiled with. Both override only what differs from `Format`.

Constants = list[tuple[str, int]]


class StructureFacts(Protocol):
    """Facts about a structure (plan/facts.py), from which a format predicts the size of its layout."""

    @property
    def nrows(self) -> int: ...
    @property
    def ncols(self) -> int: ...
    @property
    def nvals(self) -> int: ...
    @property
    def tiles_of(self) -> Mapping[int, float]: ...
    @property
    def own_of(self) -> Mapping[str, Any]: ...


class ItemCounts(NamedTuple):
    """What a layout would store: tiles, the entries inside them, and entries listed one by one."""

    tiles: float
    inside: float
    listed: float

    @property
    def items(self) -> float:
        """Items of its units: entries, tiles, or both."""
        return self.tiles + self.listed


class Dot(NamedTuple):
    """Arguments of a format's kernel for masked dot products: number of work units, types of the index arrays, and the
    arrays and numbers of the mask and both operands, except values."""

    units: int
    types: Types
    mask: Arguments
    left: Arguments
    right: Arguments


class Format(Generic[L]):
    """A format: what all layouts with one key share. The defaults here hold unless a format overrides them."""

    # ---- identity ----
    name: ClassVar[str]  # the value of `format=`
    folder: ClassVar[str]  # folder of its kernels, below formats/
    tile: int | None = None  # side length of its tiles; None: units are rows
    default_tile: ClassVar[int | None] = None  # tile size if none is requested; None: the smallest in bytes
    # Facts that predict its size: shape and number of entries alone (""), "tiles", its "own" fact (`count`, `sample`),
    # or a count that is made only on request ("asked").
    counts: ClassVar[str] = ""
    nothing: ClassVar[Any] = None  # its own fact for an empty matrix
    item: ClassVar[str] = "entry"  # what its units consist of: "entry", "tile", "code" (a word of packed gaps)
    by_rows: ClassVar[bool] = False  # units are rows, entries in row order: such formats share one value order
    ranked: ClassVar[bool] = True  # kernels find values by ranks, because entries are not in unit order
    packed: ClassVar[bool] = False  # column numbers of rows are packed
    bits: ClassVar[bool] = False  # has a bit per position; operations treat it as a vector (operations/multivector.py)
    renumbers: ClassVar[bool] = False  # hypersparse: renumbers rows and columns (operations/hypersparse.py)
    has_virtual_nodes: ClassVar[bool] = (
        False  # has virtual nodes; products run on their graph (operations/virtual_nodes.py)
    )
    usual: ClassVar[bool] = True  # none of bits, renumbers, composed
    # ---- capabilities and costs ----
    timed: ClassVar[bool] = True  # considered when choosing for time, and calibrated
    fused: bool = False  # pulls include the epilogue; each is another kernel, so only for formats of programs
    wide: bool = False  # the CPU has a SIMD kernel for whole tiles (b2sr/lanes.cpu.py)
    stops_finished_tile_rows: bool = False  # the CPU's presence pull stops once all rows of a tile row have a hit
    accepts_nan: ClassVar[bool] = False  # the CPU's pull accepts NaN for missing entries (csr/pull.cpu.py)
    pushes_by_output_word: ClassVar[bool] = False  # CPU: units of a push are words of the output, not of the vector
    spreads: ClassVar[bool] = False  # has a push for CPU loops (the kernel `spread`)
    reads_values: ClassVar[bool] = False  # an advance that pulls reads values (loop/codegen/cuda_advance.py)
    heavy: ClassVar[bool] = False  # items take many registers: tiles, and single entries
    opens: ClassVar[bool] = False  # has a pull over a list of rows (csr/pull_some.cu)
    keeps_hot_columns: ClassVar[bool] = True  # degree-binned pulls may keep hot columns in shared memory
    bins_masked_rows: ClassVar[bool] = False  # degree-binned pulls accept a mask
    decodes_single_rows: ClassVar[bool] = False  # can decode single rows (coded.py: some_rows)
    scans: ClassVar[bool] = False  # its advance can scan the vector's bits if entries are not listed
    indices: ClassVar[tuple[str, ...]]  # type names of its index arrays in pull and push kernels
    dot_indices: ClassVar[tuple[str, ...]] = ()  # the same in its dot kernel; empty: it has none
    # Which of its products registry/ compiles ahead of time: "all", a "few", those that "packed" rows need, "thin"
    # (each kind once), or "words" (presence only).
    registered: str = "few"

    def __init__(self, tile: int | None = None) -> None:
        self.tile = tile

    @property
    def key(self) -> str:
        """The name of the format including its tile size: "csr", "mplg", "b2sr8", "split8"."""
        return self.name if self.tile is None else f"{self.name}{self.tile}"

    @property
    def rows_per_unit(self) -> int:
        return self.tile or 1

    def __repr__(self) -> str:
        return f"<format {self.key}>"

    def not_implemented(self, question: str) -> Panic:
        """The error for a method that this format does not implement; its capability flags tell callers what to use."""
        return Panic(f"{self!r} does not implement `{question}`")

    # ---- sizes and costs ----

    @property
    def handicap(self) -> float:
        """Factor on its time relative to the best (plan/format_choice.py)."""
        return 1.0

    @property
    def part_lanes(self) -> int:
        """GPU lanes that share a segment of a long unit in a pull of sums."""
        return 32

    def refusal(self, nrows: int, ncols: int) -> str:
        """Why the format cannot store a matrix of that shape: its limit, and the shape given. "" if it can."""
        return ""

    def knows(self, facts: StructureFacts) -> bool:
        """Whether the facts suffice to predict its size."""
        own = self.counts in ("own", "asked")
        return self.key in facts.own_of if own else not self.refusal(facts.nrows, facts.ncols)

    def count(self, rows: Csr) -> Any:
        """Its own fact for these rows, counted exactly."""
        raise self.not_implemented("count")

    def sample(self, of: Sample) -> Any:
        """Its own fact, estimated from a sample."""
        raise self.not_implemented("sample")

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        """Whether it is considered when choosing for memory."""
        return True

    def may_be_fast(self, of: Sample) -> bool:
        """Whether it may be fast enough that estimating its size is worthwhile."""
        return True

    def fact(self, value: Any) -> Any:
        """Its own fact, restored from JSON."""
        return value

    def units(self, nrows: int) -> int:
        """Rows or tile rows."""
        return -(-nrows // self.rows_per_unit)

    def listing(self, facts: StructureFacts) -> ItemCounts:
        """What a layout of that structure would store."""
        return ItemCounts(0.0, 0.0, float(facts.nvals))

    def predict_bytes(self, facts: StructureFacts) -> int:
        """Bytes of a layout of that structure, without values."""
        raise self.not_implemented("predict_bytes")

    def scratch(self, facts: StructureFacts) -> int:
        """Bytes that `from_csr` needs in addition to the rows and the result."""
        raise self.not_implemented("scratch")

    def rows_key(self) -> str:
        """The format by rows in which such a matrix is read row by row."""
        return CSR

    def dot_key(self, shared: bool) -> str:
        """The format in which dot products with such a matrix run; shared: on a device whose threads share rows."""
        return self.key if self.dot_indices else CSR

    def dot_key_with(self, other: Format, nrows: int, ncols: int) -> str:
        """The format of this operand in a dot product whose other operand has format `other`; the shape is this
        operand's."""
        return self.key

    def dot_lanes(self, layout: Layout) -> int:
        """GPU lanes per position of the mask. form: the left operand, possibly of another format."""
        raise self.not_implemented("dot_lanes")

    def cached_as(self, key: str) -> str:
        """The format that is kept when `key` is requested for such a matrix."""
        return key

    def lanes(self, layout: L, nrows: int, kind: int, *, push: bool) -> int:
        """GPU lanes per row or tile row of the layout, or (nrows: its rows) of its transpose."""
        raise self.not_implemented("lanes")

    def share(self, kind: int) -> int:
        """Lanes that process a tile together: its cost in entries."""
        return 1

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        """Items of a unit that one group of GPU lanes processes; longer units are cut into segments."""
        raise self.not_implemented("longest")

    def segment(self) -> int:
        """Items of a long unit that `part_lanes` sum: eight steps."""
        raise self.not_implemented("segment")

    def walked(self, entries: int) -> int:
        """Items of a row that a group of lanes walks in an advance, where it would walk that many plain entries; longer
        rows are cut into segments of that length."""
        return entries

    def is_uneven(self, layout: L) -> bool:
        """Whether a GPU block may read the entries of its rows as one run, because row lengths differ much."""
        return False

    def active(self, layout: L, bits: Array) -> int | None:
        """Items of the units set in `bits`, if counting them is cheaper than reading `ptr`; else None."""
        return None

    def is_binned(self, layout: L) -> bool:
        """Whether a GPU uses a degree-binned pull for such rows and a full vector."""
        return False

    def grades(self, layout: L, part: Part | None = None) -> Bins:
        """The degree-binned schedule of its rows (csr/binning.py); part: of some rows only, for coded rows
        (schedule.py)."""
        raise self.not_implemented("grades")

    def binned_contents(self, layout: L, ranked: bool) -> Arguments:
        """Arguments of a degree-binned pull in addition to its schedule."""
        return layout.unit_contents(ranked)

    def hot(self, layout: L, columns: int) -> int:
        """Number of leading columns whose vector values a block of a degree-binned pull keeps in shared memory, with
        space for `columns`; 0: too few entries would use it."""
        raise self.not_implemented("hot")

    def fixed_width(self, layout: L) -> int:
        """Bits of a packed column for which a staged pull is specialized; 0: any width, or plain columns."""
        return 0

    # ---- kernels ----

    def kernel(self, name: str) -> str:
        """The path of one of its kernels."""
        return f"formats/{self.folder}/{name}"

    def pull_constants(
        self, *, ranked: bool, neutral: bool, padded: bool, many_blocks: bool, staged: int, width: int
    ) -> Constants:
        """Compile-time constants of a pull. ranked: values are found by ranks. neutral: sums may begin with the
        identity. padded: the last tile column is wider than the matrix. many_blocks: limit registers so that more
        blocks run at once, possible for a full vector and types of at most 32 bits. staged, width: see `is_uneven`,
        `fixed_width`."""
        raise self.not_implemented("pull_constants")

    def binned_constants(self, shared: int) -> Constants:
        """Additional constants of a degree-binned pull. shared: bytes of shared memory per block."""
        raise self.not_implemented("binned_constants")

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        """Compile-time constants of a push, or of a loop's advance."""
        raise self.not_implemented("push_constants")

    def wide_constants(self) -> Constants:
        """Compile-time constants of the CPU's SIMD kernel `lanes` for whole tiles."""
        raise self.not_implemented("wide_constants")

    def dot_constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        """Compile-time constants of a dot product. mask: the format of the mask."""
        raise self.not_implemented("dot_constants")

    def dot_mask(self, structure: Structure) -> Layout:
        """The layout of a mask for its dot products."""
        return structure.layout(self.key)

    def dot(self, left: L, right: L, mask: L, ranked: tuple[bool, bool]) -> Dot:
        """Arguments of the dot products of two such layouts. ranked: which of them has values."""
        raise self.not_implemented("dot")
