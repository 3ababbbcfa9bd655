"""The contract of a stored format, in three parts: the arrays of one matrix, predictions, and kernels.

A *layout* is the structure of one matrix as arrays on one device (`Layout`, in layout.py of the format's folder). A
*format* is what all layouts with one key, such as "csr" or "b2sr8", share (`Format`): predictions from facts (`Cost`,
in cost.py) and kernels by the operation that they serve (`Kernels`, in kernels.py). A layout holds structure, never
arithmetic. Every layout converts through CSR and represents every matrix exactly.

Code outside of a format's folder looks up an operation in `format.kernels`: what is absent is not supported. Facts
about one kernel are attributes of its entry.
"""

from __future__ import annotations

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypedDict, TypeVar

import numpy as np

from ..device import dummy
from ..exceptions import Panic
from ..typing import Array

if TYPE_CHECKING:
    from typing import Self

    from semirings.dtypes import DataType

    from ..device import Device
    from .csr.layout import Csr, LayoutBuilder, Rows
    from .sampling import Sample
    from .schedule import Bins, Hubs, Part
    from .structure import Structure

EVERYWHERE = 1 << 62  # larger than any index
CSR = "csr"  # the plain format: input arrives in it, and all others convert through it

Types = tuple[tuple[str, "DataType"], ...]
Constants = list[tuple[str, int]]
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


V = TypeVar("V")


def compute_once(cache: dict[Any, Any], key: Hashable, compute: Callable[[], V]) -> V:
    """`compute()`, whose result is kept in the cache."""
    if key not in cache:
        cache[key] = compute()
    found: V = cache[key]
    return found


# ---- Layout: the structure of one matrix as arrays on one device, immutable once built.


class Layout(ABC):
    """A stored layout. A subclass is a dataclass of its arrays and writes `from_csr`, `to_csr`, `arrays`, `restored`
    and `check`; the other methods here go through CSR or those five. Override them if the format has a shorter way.

    A unit is what kernels iterate over: a row, or a tile row of `rows_per_unit` rows. Unit u holds the items ptr[u] ..
    ptr[u + 1] of `col`: entries, or tiles. Layouts without kernels of their own inherit `RowsOnDemand` (csr/layout.py).
    """

    compact: ClassVar[bool] = False  # chosen for size: when primary, no other layout is cached
    builder: ClassVar[type[LayoutBuilder] | None] = None  # builds it from bands of rows
    value_ptr: Array | None = None  # ranks, computed by `ranks` on first use; only if values need them

    if TYPE_CHECKING:
        device: Device
        nrows: int
        ncols: int

        @property
        def cache(self) -> dict[Any, Any]:
            """What is computed once per layout: kernel schedules, facts."""

        @property
        def format(self) -> Format: ...
        @property
        def nvals(self) -> int: ...
        @property
        def ptr(self) -> Array: ...
        @property
        def col(self) -> Array: ...

    @classmethod
    @abstractmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Self, Order]:
        """Build the layout from rows. With `order` also order[e], the position of entry e's value in `rows` (None: the
        same order)."""

    @abstractmethod
    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        """The same entries row by row; with `order` also order[e], the position of entry e's value in this layout."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """The arrays that define it, by name: they count as its bytes, and are saved. Derived arrays such as ranks are
        excluded."""

    def numbers(self) -> dict[str, int]:
        """The integers that define it together with the arrays; includes nrows, ncols and nvals."""
        return {"nrows": self.nrows, "ncols": self.ncols, "nvals": self.nvals}

    @classmethod
    @abstractmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Self:
        """Rebuild the layout from `numbers` and `arrays` that came from a file. ValueError if names, types or lengths
        do not match; contents are not checked."""

    @abstractmethod
    def check(self) -> None:
        """ValueError unless the arrays are a valid layout, which kernels can read without leaving it."""

    # ---- derived: override what the format can do faster ----

    def changed(self, change: Callable[[Csr], tuple[Csr, Order]], order: bool) -> tuple[Self, Order]:
        """Convert to rows, apply `change` to them, and convert back; order[e]: the position of the result's entry e in
        this layout. Peak memory: that of `to_csr`, of the change, and of `from_csr`."""
        rows, places = self.to_csr(order)
        rows, kept = change(rows)
        layout, back = self.from_csr(rows, self.format.tile, order)
        for step in (kept, back) if order else ():
            places = step if places is None else places if step is None else places[step]
        return layout, places

    def transpose(self, order: bool) -> tuple[Self, Order]:
        """The layout of the transpose; with `order` also the positions of its values in this layout."""
        return self.changed(lambda rows: rows.transpose(order), order)

    def clip(self, region: Region, order: bool) -> tuple[Self, Order]:
        """The entries in a region, in the same format; with `order` also the positions of their values in this
        layout."""
        return self.changed(lambda rows: rows.clip(region, order), order)

    def filter(self, keep: Array) -> tuple[Self, Array]:
        """The entries for which `keep` (bools in entry order) is true, in the same format, and an index that selects
        their values from this layout's: bools, or positions."""
        rows, places = self.to_csr(True)
        kept = keep if places is None else keep[places]
        layout, back = self.from_csr(rows.filter(kept)[0], self.format.tile, True)
        selected = keep if places is None else places[kept]
        return layout, selected if back is None else selected[back]

    def coo(self) -> tuple[Array, Array]:
        """Rows and columns (INT64) of the entries, in this layout's entry order."""
        rows, places = self.to_csr(True)
        found = rows.coo()
        if places is None:
            return found
        for x, of in zip(coordinates := tuple(self.device.xp.empty_like(x) for x in found), found, strict=True):
            x[places] = of
        return coordinates

    def by_rows(self, order: bool) -> tuple[Rows, Order]:
        """The same entries in a layout by rows: this one, if it is by rows."""
        return self.to_csr(order)

    def equals(self, other: Self) -> bool:
        """Whether another layout of the same class has the same entries. One synchronization."""
        pairs = [(array, other.arrays()[name]) for name, array in self.arrays().items()]
        if self.numbers() != other.numbers() or any(a.shape != b.shape for a, b in pairs):
            return False
        return bool(functools.reduce(operator.and_, [(a == b).all() for a, b in pairs]))

    def is_symmetric(self) -> bool:
        """Whether a square matrix equals its transpose, which is not built for this. A false positive has probability
        2^-64 (csr/layout.py). Peak memory: that of `to_csr`."""
        return self.to_csr(False)[0].is_symmetric()

    def ranks(self) -> Array | None:
        """The rank of each item's first entry, computed on first use; None if the items are the entries."""
        return None

    def adopt(self, twin: Self) -> None:
        """Take over what another build of the same layout has computed in addition, such as ranks."""
        if self.value_ptr is None:
            self.value_ptr = twin.value_ptr

    @property
    def key(self) -> str:
        """The key of its format."""
        return self.format.key

    @property
    def rows_per_unit(self) -> int:
        return self.format.rows_per_unit

    @property
    def units(self) -> int:
        return self.nrows

    @property
    def work(self) -> int:
        """Number of items in all units: entries, or tiles."""
        return self.nvals

    @property
    def nbytes(self) -> int:
        """Bytes used on the device."""
        ranks = () if self.value_ptr is None else (self.value_ptr,)
        return sum(int(array.nbytes) for array in (*self.arrays().values(), *ranks))

    def rank_argument(self, ranked: bool) -> Array:
        """Ranks as a kernel argument: a dummy array if the kernel does not read them."""
        ranks = self.ranks() if ranked else None
        return dummy(self.device, "int32") if ranks is None else ranks


L = TypeVar("L", bound=Layout, contravariant=True)


# ---- Cost: what a format can hold, and bytes and time predicted from facts.


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


class Cost:
    """Predictions for a format. A subclass writes `predict_bytes` and `scratch`, and overrides what differs."""

    name: ClassVar[str]  # the value of `format=`
    tile: int | None = None  # side length of its tiles; None: units are rows
    # Facts that predict its size: shape and number of entries alone (""), "tiles", its "own" fact (`count`, `sample`),
    # one that is known only where structures are counted ("exact": `count`), or only on request ("asked").
    counts: ClassVar[str] = ""
    nothing: ClassVar[Any] = None  # its own fact for an empty matrix
    timed: ClassVar[bool] = True  # considered when choosing for time, and calibrated

    def __init__(self, tile: int | None = None) -> None:
        self.tile = tile
        self.key = self.name if tile is None else f"{self.name}{tile}"

    def __repr__(self) -> str:
        return f"<cost of {self.key}>"

    def missing(self, question: str) -> Panic:
        """The error for a prediction that the format does not make; its attributes tell callers what to use."""
        return Panic(f"{self!r} does not implement `{question}`")

    def can_predict(self, facts: StructureFacts) -> bool:
        """Whether the facts suffice to predict its size."""
        if self.counts == "tiles":
            return self.tile in facts.tiles_of
        return self.key in facts.own_of if self.counts else not self.refusal(facts.nrows, facts.ncols)

    def refusal(self, nrows: int, ncols: int) -> str:
        """Why the format cannot store a matrix of that shape: its limit, and the shape given. "" if it can."""
        return ""

    def predict_bytes(self, facts: StructureFacts) -> int:
        """Bytes of a layout of that structure, without values."""
        raise self.missing("predict_bytes")

    def scratch(self, facts: StructureFacts) -> int:
        """Bytes that `from_csr` needs in addition to the rows and the result."""
        raise self.missing("scratch")

    def listing(self, facts: StructureFacts) -> ItemCounts:
        """What a layout of that structure would store: predicted times are for these."""
        return ItemCounts(0.0, 0.0, float(facts.nvals))

    def count(self, rows: Csr) -> Any:
        """Its own fact for these rows, counted exactly."""
        raise self.missing("count")

    def sample(self, of: Sample) -> Any:
        """Its own fact, estimated from a sample."""
        raise self.missing("sample")

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        """Whether it is considered when choosing for memory."""
        return True

    def may_be_fast(self, of: Sample) -> bool:
        """Whether it may be fast enough that estimating its size is worthwhile."""
        return True

    @property
    def margin(self) -> float:
        """Factor on its time relative to the best, for the error of predictions (plan/format_choice.py)."""
        return 1.0


# ---- Kernels: what a format offers, by operation.


class View(Protocol[L]):
    """How product kernels receive a layout: index types, where units start, what they contain, which are long."""

    indices: ClassVar[tuple[str, ...]]  # type names of its index arrays

    def types(self, layout: L, ranked: bool) -> Types:
        """The types of its index arrays, under the names that kernels use. ranked: with values, which are found by
        ranks."""

    def starts(self, layout: L) -> tuple[Array, int]:
        """The array of unit starts, plus the end of the last unit; and how many numbers a unit has in it."""
        return layout.ptr, 1

    def contents(self, layout: L, ranked: bool) -> Arguments:
        """The arrays of unit contents."""

    def hubs(self, layout: L, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """The units of more than `longest` items, in segments of `part` (default: `longest`); None if there are none.
        share: `Pull.share`."""

    def pieces(self, layout: L) -> tuple[int, Csr] | None:
        """If the units of a pull are runs of 64 pieces of rows: how many, and the pieces of each row as the columns of
        a matrix, whose product with the sums of pieces gives those of rows. None: they are rows or tile rows."""
        return None


class PullCase(NamedTuple):
    """What the constants of a pull depend on. ranked: values are found by ranks. neutral: sums may begin with the
    identity. padded: the last tile column is wider than the matrix. many_blocks: limit registers so that more blocks
    run at once, possible for a full vector and types of at most 32 bits. width: see `BinnedPull`."""

    ranked: bool
    neutral: bool
    padded: bool
    many_blocks: bool
    width: int


class Pull(Protocol[L]):
    """A product by rows of the output."""

    fused: bool = False  # includes the epilogue; each is another kernel, so only for formats of programs
    stops_rows: bool = True  # a row of which any entry will do ends at its first hit
    accepts_nan: bool = False  # CPU: NaN may stand for missing entries (csr/pull.cpu.py)
    stops_finished_tile_rows: bool = False  # CPU: a presence pull stops once all rows of a tile row have a hit

    def constants(self, case: PullCase) -> Constants:
        """Compile-time constants."""

    def lanes(self, layout: L, nrows: int, kind: int) -> int:
        """GPU lanes per row or tile row of the layout, or (nrows: its rows) of its transpose."""

    def longest(self, kind: int, lanes: int) -> int:
        """Items of a unit that one group of GPU lanes processes; longer units are cut into segments."""

    def segment(self) -> int:
        """Items of a long unit that `part_lanes` sum: eight steps."""

    def share(self, kind: int) -> int:
        """Lanes that process a tile together: its cost in entries."""
        return 1

    def stages(self, layout: L, ranked: bool) -> bool:
        """Whether a warp loads the entries of 32 rows together in an unmasked pull of sums (csr/pull.cu). ranked: their
        values too."""
        return False

    @property
    def part_lanes(self) -> int:
        """GPU lanes that share a segment of a long unit in a pull of sums."""
        return 32


class BinnedPull(Protocol[L]):
    """A pull from a full vector by a schedule of rows that are binned by length (csr/pull_binned.cu)."""

    keeps_hot_columns: bool = True  # may keep vector values of hot columns in shared memory

    def suits(self, layout: L) -> bool:
        """Whether there are enough entries, in rows whose lengths differ so much that it is faster."""

    def width(self, layout: L) -> int:
        """Bits of a code for which the kernel is specialized; 0: any, or no codes."""
        return 0

    def bins(self, layout: L, part: Part | None = None) -> Bins:
        """The schedule of its rows; part: of some rows only, for coded rows (schedule.py)."""

    def contents(self, layout: L, ranked: bool) -> Arguments:
        """Arguments in addition to the schedule."""

    def constants(self, shared: int) -> Constants:
        """Constants in addition to those of a pull. shared: bytes of shared memory per block."""

    def hot(self, layout: L, columns: int) -> int:
        """Number of leading columns whose vector values a block keeps in shared memory, with space for `columns`; 0:
        too few entries would use it."""
        return 0


class Push(Protocol[L]):
    """A product by entries of the vector."""

    by_output_word: bool = False  # CPU: units are words of the output, not of the vector

    def constants(self, *, ranked: bool, neutral: bool) -> Constants:
        """Compile-time constants, also of a loop's advance."""

    def lanes(self, layout: L, nrows: int, kind: int) -> int:
        """As of a pull."""

    def longest(self, lanes: int) -> int:
        """As of a pull."""

    def active(self, layout: L, bits: Array) -> int | None:
        """Items of the units set in `bits`, if counting them is cheaper than reading `ptr`; else None."""
        return None


class Advance(Protocol[L]):
    """A product with a frontier in a loop on a GPU."""

    kernel: str
    item: str = "entry"  # what units consist of: "entry", "tile", "code" (a word of packed gaps), "piece" (2^k entries)
    reads_values: bool = False  # reads values of the matrix when it pulls (loop/gpu/products.py)
    scans: bool = False  # can scan the vector's bits if entries are not listed

    def pushed(self, layout: L, ranked: bool, longest: int) -> Arguments:
        """Arguments of a push, except values: unit starts, contents, and the long rows in segments of `longest`."""

    def pulled(self, layout: L, ranked: bool, *, read: bool = True) -> Arguments:
        """Arguments of a pull by rows of the result, except values. read: False if it never pulls; then nothing is
        built for it."""

    def segments(self, layout: L, longest: int) -> int:
        """Number of segments of the long rows; 0 if rows are not cut."""
        return 0

    def longest(self, entries: int) -> int:
        """Items of a row that a group of lanes processes where it would process that many plain entries; longer rows
        are cut into segments of that length."""
        return entries


class TileProduct(Protocol[L]):
    """The product of two matrices of tiles without a mask, as tiles (formats/b2sr/mxm.cu)."""

    def grid(self, layout: L) -> Csr:
        """Where the matrix has tiles: an entry for each."""

    def multiply(self, left: L, right: L, grid: Csr, ncols: int, count: bool) -> tuple[Layout, Array | None]:
        """The product of `ncols` columns, whose grid is given; and with `count` for each of its entries the number of
        products that it sums, INT32. right: on a GPU the transpose."""


class LinesWalk(Protocol[L]):
    """Products with a multivector along rows that the layout walks: its kernels `pull_lines` and `push_lines`
    (formats/bitmap/walked.cuh). Without it they read plain rows."""

    def constants(self, *, ranked: bool) -> Constants:
        """Compile-time constants."""

    def lanes(self, layout: L) -> int:
        """GPU lanes per row if only presence matters."""

    def longest(self, entries: int) -> int:
        """Items of a row with about that many entries."""

    def hubs(self, layout: L, longest: int, part: int) -> Hubs | None:
        """The rows of more than `longest` items, in parts; None if there are none, or if rows are not cut."""


class DotArguments(NamedTuple):
    """Arguments of a format's kernel for masked dot products: number of work units, types of the index arrays, and the
    arrays and numbers of the mask and both operands, except values."""

    units: int
    types: Types
    mask: Arguments
    left: Arguments
    right: Arguments


class Dot(Protocol[L]):
    """Dot products at the entries of a mask."""

    indices: ClassVar[tuple[str, ...]]  # type names of its index arrays
    on_cpu: ClassVar[bool] = True  # the CPU has such a kernel too
    sums_units: ClassVar[bool] = False  # with TILE_SUMS 1, it sums the entries of each work unit

    def constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        """Compile-time constants. mask: the format of the mask."""

    def lanes(self, layout: Layout) -> int:
        """GPU lanes per position of the mask. layout: the left operand, possibly of another format."""

    def arguments(self, left: L, right: L, mask: L, ranked: tuple[bool, bool]) -> DotArguments:
        """Arguments for two such layouts. ranked: which of them has values."""

    def mask(self, structure: Structure, key: str) -> Layout:
        """The layout of a mask for operands in the format `key`."""
        return structure.layout(key)

    def key_with(self, format: Format, other: Format, nrows: int, ncols: int) -> str:
        """The format in which the left operand, of this `format` and shape, is read if the right one has format
        `other`."""
        return format.key


Kernels = TypedDict(
    "Kernels",
    {
        # The module of operations/ that prepares products and element-wise operations of such matrices, if they do not
        # run on the layout itself: "hypersparse", "multivector" or "virtual_nodes".
        "mxv": str,
        "mxv.pull": Pull,
        "mxv.pull.binned": BinnedPull,
        "mxv.pull.wide": Constants,  # CPU: a SIMD kernel for whole tiles, with these constants (b2sr/lanes.cpu.py)
        "mxv.pull.worklist": str,  # GPU: the kernel of a pull over a list of rows
        "mxv.push": Push,
        "mxm": TileProduct,
        "mxm.lines": LinesWalk,
        "advance": Advance,
        "advance.cpu": str,  # the kernel of a push in a loop on the CPU
        "dot": Dot,
        "dot.wide": str,  # CPU: the SIMD kernel for whole tiles
        "rows": Callable[..., "tuple[Csr, Order]"],  # (layout, row numbers, order): decodes some rows only
    },
    total=False,
)


@dataclass(eq=False, repr=False)
class Format:
    """A stored format: what all layouts with one key share."""

    cost: Cost
    view: View
    kernels: Kernels
    _: KW_ONLY
    folder: str = ""  # of its kernels, below formats/; "": its name
    by_rows: bool = False  # units are rows, entries in row order: such formats share one value order
    ranked: bool = True  # kernels find values by ranks, because entries are not in unit order
    packed: bool = False  # rows with packed column numbers, which replace plain rows once chosen
    default_tile: int | None = None  # tile size if none is requested; None: the smallest in bytes

    def __post_init__(self) -> None:
        self.name, self.tile, self.rows_per_unit = self.cost.name, self.cost.tile, self.cost.tile or 1
        self.key = self.cost.key  # the name including the tile size: "csr", "mplg", "b2sr8", "split8"
        self.rows_key = self.key if self.by_rows else CSR  # the format in which such a matrix is read row by row
        special = self.kernels.get("mxv", "")
        self.plain = not special
        self.hypersparse = special == "hypersparse"  # lists the rows and columns that have entries
        self.bitmap = special == "multivector"  # a bit per position
        self.has_virtual_nodes = special == "virtual_nodes"

    def __repr__(self) -> str:
        return f"<format {self.key}>"

    def kernel(self, name: str) -> str:
        """The path of one of its kernels."""
        return f"formats/{self.folder or self.name}/{name}"

    def units(self, nrows: int) -> int:
        """Rows or tile rows."""
        return -(-nrows // self.rows_per_unit)

    def cached_as(self, key: str) -> str:
        """The format that is kept when `key` is requested for such a matrix. Plain rows of packed ones, which would
        need up to 32 times the memory, are built for an operation and dropped."""
        return self.key if self.packed and key == CSR else key
