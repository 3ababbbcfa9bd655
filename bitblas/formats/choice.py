"""Interface of a format: what it can hold, predicted bytes and time, compile-time choices of its kernels.

The class in <format>/choice.py defines what there is to choose; its subclass in <format>/call.py defines what kernels
are compiled with. Both override only what differs from `Format`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from ..exceptions import Panic
from .contract import CSR, Types

if TYPE_CHECKING:
    from .contract import Form
    from .csr.format import Csr
    from .sample import Sample

Constants = list[tuple[str, int]]


class Seen(Protocol):
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


class Listing(NamedTuple):
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
    mask: tuple[Any, ...]
    left: tuple[Any, ...]
    right: tuple[Any, ...]


class Format:
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
    by_rows: ClassVar[bool] = False  # units are rows, entries in row order: such formats share one value order
    ranked: ClassVar[bool] = True  # kernels find values by ranks, because entries are not in unit order
    packed: ClassVar[bool] = False  # column numbers of rows are packed
    bits: ClassVar[bool] = False  # has a bit per position; operations treat it as a vector (verbs/narrow.py)
    renumbers: ClassVar[bool] = False  # hypersparse: renumbers rows and columns (verbs/hyper.py)
    composed: ClassVar[bool] = False  # has virtual nodes; products run on their graph (verbs/virtual.py)
    usual: ClassVar[bool] = True  # none of bits, renumbers, composed
    # ---- capabilities and costs ----
    timed: ClassVar[bool] = True  # considered when choosing for time, and calibrated
    handicap: float = 1.0  # factor on its time relative to the best (plan/forms.py)
    fused: bool = False  # pulls include the epilogue; each is another kernel, so only for formats of programs
    wide: bool = False  # the CPU has a SIMD kernel for whole tiles (b2sr/lanes.cpu.py)
    ends_units: bool = False  # the CPU's presence pull stops once all rows of a tile row have a hit
    reads_nan: ClassVar[bool] = False  # the CPU's pull accepts NaN for missing entries (csr/pull.cpu.py)
    shares_pushes: ClassVar[bool] = False  # CPU: units of a push are words of the output, not of the vector
    spreads: ClassVar[bool] = False  # has a push for CPU loops (spread.cpu.py)
    part_lanes: ClassVar[int] = 32  # lanes that share a segment of a long unit in a pull of sums
    reads_values: ClassVar[bool] = False  # an advance that pulls reads values (loop/fused/steps.py)
    heavy: ClassVar[bool] = False  # items take many registers: tiles, and single entries
    opens: ClassVar[bool] = False  # has a pull over a list of rows (csr/pull_some.cu)
    warms: ClassVar[bool] = True  # degree-binned pulls may keep hot columns in shared memory
    grades_masked: ClassVar[bool] = False  # degree-binned pulls accept a mask
    picks: ClassVar[bool] = False  # can decode single rows (coded.py: some_rows)
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

    def unanswered(self, question: str) -> Panic:
        """The error for a method that this format does not implement; its capability flags tell callers what to use."""
        return Panic(f"{self!r} does not implement `{question}`")

    # ---- sizes and costs ----

    def refusal(self, nrows: int, ncols: int) -> str:
        """Why the format cannot store a matrix of that shape: its limit, and the shape given. "" if it can."""
        return ""

    def knows(self, seen: Seen) -> bool:
        """Whether the facts suffice to predict its size."""
        return not self.refusal(seen.nrows, seen.ncols)

    def count(self, rows: Csr) -> Any:
        """Its own fact for these rows, counted exactly."""
        raise self.unanswered("count")

    def sample(self, of: Sample) -> Any:
        """Its own fact, estimated from a sample."""
        raise self.unanswered("sample")

    def may_be_smallest(self, seen: Seen) -> bool:
        """Whether it is considered when choosing for memory."""
        return True

    def may_pay(self, of: Sample) -> bool:
        """Whether it may be fast enough that estimating its size is worthwhile."""
        return True

    def fact(self, told: Any) -> Any:
        """Its own fact, restored from JSON."""
        return told

    def units(self, nrows: int) -> int:
        """Rows or tile rows."""
        return -(-nrows // self.rows_per_unit)

    def listing(self, seen: Seen) -> Listing:
        """What a layout of that structure would store."""
        raise self.unanswered("listing")

    def predict_bytes(self, seen: Seen) -> int:
        """Bytes of a layout of that structure, without values."""
        raise self.unanswered("predict_bytes")

    def scratch(self, seen: Seen) -> int:
        """Bytes that `from_csr` needs in addition to the rows and the result."""
        raise self.unanswered("scratch")

    def rows_key(self) -> str:
        """The format by rows in which such a matrix is read row by row."""
        return CSR

    def dot_key(self, shared: bool) -> str:
        """The format in which dot products with such a matrix run; shared: on a device whose threads share rows."""
        return self.key

    def dot_beside(self, other: Format, nrows: int, ncols: int) -> str:
        """The format of this operand in a dot product whose other operand has format `other`; the shape is this
        operand's."""
        return self.key

    def dot_lanes(self, form: Any) -> int:
        """GPU lanes per position of the mask. form: the left operand, possibly of another format."""
        raise self.unanswered("dot_lanes")

    def kept_as(self, key: str) -> str:
        """The format that is kept when `key` is requested for such a matrix."""
        return key

    def lanes(self, form: Any, nrows: int, kind: int, *, push: bool) -> int:
        """GPU lanes per row or tile row of the layout, or (nrows: its rows) of its transpose."""
        raise self.unanswered("lanes")

    def share(self, kind: int) -> int:
        """Lanes that process a tile together: its cost in entries."""
        return 1

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        """Items of a unit that one group of GPU lanes processes; longer units are cut into segments."""
        raise self.unanswered("longest")

    def segment(self) -> int:
        """Items of a long unit that `part_lanes` sum: eight steps."""
        raise self.unanswered("segment")

    def walked(self, entries: int) -> int:
        """Items of a row that a group of lanes walks in an advance, where it would walk that many plain entries; longer
        rows are cut into segments of that length."""
        return entries

    def pull_threshold(self, form: Any) -> int:
        """Items in the units of a frontier above which an advance pulls."""
        raise self.unanswered("pull_threshold")

    def is_uneven(self, form: Any) -> bool:
        """Whether a GPU block may read the entries of its rows as one run, because row lengths differ much."""
        return False

    def active(self, form: Any, bits: Any) -> int | None:
        """Items of the units set in `bits`, if counting them is cheaper than reading `ptr`; else None."""
        return None

    def is_graded(self, form: Any) -> bool:
        """Whether a GPU uses a degree-binned pull for such rows and a full vector."""
        return False

    def grades(self, form: Any, part: Any = None) -> Any:
        """The degree-binned schedule of its rows (csr/grades.py); part: of some rows only, for coded rows
        (graded.py)."""
        raise self.unanswered("grades")

    def graded_contents(self, form: Any, ranked: bool) -> tuple[Any, ...]:
        """Arguments of a degree-binned pull in addition to its schedule."""
        contents: tuple[Any, ...] = form.unit_contents(ranked)
        return contents

    def hot(self, form: Any, columns: int) -> int:
        """Number of leading columns whose vector values a block of a degree-binned pull keeps in shared memory, with
        space for `columns`; 0: too few entries would use it."""
        raise self.unanswered("hot")

    def fixed_width(self, form: Any) -> int:
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
        raise self.unanswered("pull_constants")

    def graded_constants(self, shared: int) -> Constants:
        """Additional constants of a degree-binned pull. shared: bytes of shared memory per block."""
        raise self.unanswered("graded_constants")

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        """Compile-time constants of a push, or of a loop's advance."""
        raise self.unanswered("push_constants")

    def wide_constants(self) -> Constants:
        """Compile-time constants of the CPU's SIMD kernel `lanes` for whole tiles."""
        raise self.unanswered("wide_constants")

    def dot_constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        """Compile-time constants of a dot product. mask: the format of the mask."""
        raise self.unanswered("dot_constants")

    def dot_mask(self, structure: Any) -> Form:
        """The layout of a mask for its dot products."""
        form: Form = structure.form(self.key)
        return form

    def dot(self, left: Any, right: Any, mask: Any, ranked: tuple[bool, bool]) -> Dot:
        """Arguments of the dot products of two such layouts. ranked: which of them has values."""
        raise self.unanswered("dot")
