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
    """Facts about a structure (plan/facts.py), from which a format says what a form of it would hold."""

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
    """What a form lists: tiles, the entries in them, and the entries that are listed one by one."""

    tiles: float
    inside: float
    listed: float

    @property
    def items(self) -> float:
        """What its units list: entries, or tiles, or both."""
        return self.tiles + self.listed


class Dot(NamedTuple):
    """Dot products at the entries of a mask, as the kernel of a format takes them: units of work, types of the index
    arrays, and the arrays and numbers of the mask and of both operands, but for their values."""

    units: int
    types: Types
    mask: tuple[Any, ...]
    left: tuple[Any, ...]
    right: tuple[Any, ...]


class Format:
    """What holds for every form of one key. What is said here is what holds unless a format says otherwise."""

    # ---- what it is ----
    name: ClassVar[str]  # what `format=` says
    folder: ClassVar[str]  # of its kernels, below formats/
    tile: int | None = None  # the edge of its tiles; None: its units are rows
    default_tile: ClassVar[int | None] = None  # where no tile is asked for; None: the one of the fewest bytes
    # Which facts say what it would hold: shape and entries alone (""), its "tiles", its "own" (`count`, `sample`), or
    # what was counted for who "asked" for that form.
    counts: ClassVar[str] = ""
    nothing: ClassVar[Any] = None  # of its own facts, those of no entries
    by_rows: ClassVar[bool] = False  # units are rows, entries lie row by row: one order of values for all such forms
    ranked: ClassVar[bool] = True  # kernels find values by ranks: entries do not lie as units list them
    packed: ClassVar[bool] = False  # column numbers of rows are packed
    bits: ClassVar[bool] = False  # has a bit for each place; verbs run on those as on vectors (verbs/narrow.py)
    renumbers: ClassVar[bool] = False  # lists rows and columns that have entries; verbs run on those (verbs/hyper.py)
    composed: ClassVar[bool] = False  # stands for more than it lists; products run on that (verbs/virtual.py)
    usual: ClassVar[bool] = True  # none of these
    # ---- what it takes part in ----
    timed: ClassVar[bool] = True  # in the choice for time, and in a calibration
    handicap: float = 1.0  # what the ratio of its times to the best ones is multiplied with (plan/forms.py)
    fused: bool = False  # pulls end their statement: each end is a kernel of its own, so the formats of programs alone
    wide: bool = False  # the CPU has a kernel for all places of a tile at once (b2sr/lanes.cpu.py)
    ends_units: bool = False  # the CPU's pull of presence leaves a tile row once all of its rows have a hit
    reads_nan: ClassVar[bool] = False  # the CPU's pull takes NaN where its vector has no entry (csr/pull.cpu.py)
    shares_pushes: ClassVar[bool] = False  # on the CPU units of its push are words of the output, not of the vector
    spreads: ClassVar[bool] = False  # rounds of the CPU push along it (spread.cpu.py)
    part_lanes: ClassVar[int] = 32  # that share a segment of a long unit, where units are summed
    reads_values: ClassVar[bool] = False  # a step that pulls reads values (loop/fused/steps.py)
    heavy: ClassVar[bool] = False  # the items of its units take many registers: tiles, and entries beside them
    opens: ClassVar[bool] = False  # has a kernel that pulls the rows on a list (csr/pull_some.cu)
    warms: ClassVar[bool] = True  # its graded pulls may have columns hot
    grades_masked: ClassVar[bool] = False  # rows are graded under a mask, too
    picks: ClassVar[bool] = False  # gives the rows that are asked for, and makes no others (coded.py: some_rows)
    scans: ClassVar[bool] = False  # its step finds the entries of its vector where nobody has listed them
    indices: ClassVar[tuple[str, ...]]  # names that pulls and pushes give the types of its index arrays
    dot_indices: ClassVar[tuple[str, ...]] = ()  # names that its dot kernel gives them; none: there is no such kernel
    # Which of its products registry/ lists, in all their kinds: "all", a "few", those that "packed" rows need; or each
    # kind once: "thin", of "words" alone.
    registered: str = "few"

    def __init__(self, tile: int | None = None) -> None:
        self.tile = tile

    @property
    def key(self) -> str:
        """How its forms are named: "csr", "mplg", "b2sr8", "split8"."""
        return self.name if self.tile is None else f"{self.name}{self.tile}"

    @property
    def rows_per_unit(self) -> int:
        return self.tile or 1

    def __repr__(self) -> str:
        return f"<format {self.key}>"

    def unanswered(self, question: str) -> Panic:
        """The fault of asking what a format does not answer: what it says of itself, above, tells what it is asked."""
        return Panic(f"{self!r} was asked for `{question}`, which it does not answer")

    # ---- choice.py ----

    def refusal(self, nrows: int, ncols: int) -> str:
        """Why there is no such form of a matrix of that shape: what it holds, and what was given. "": there is."""
        return ""

    def knows(self, seen: Seen) -> bool:
        """Whether facts say what a form of that structure would hold."""
        return not self.refusal(seen.nrows, seen.ncols)

    def count(self, rows: Csr) -> Any:
        """Its own fact of these rows: what a form of them would hold."""
        raise self.unanswered("count")

    def sample(self, of: Sample) -> Any:
        """The same, estimated."""
        raise self.unanswered("sample")

    def may_be_smallest(self, seen: Seen) -> bool:
        """Whether it takes part in the choice for memory."""
        return True

    def may_pay(self, of: Sample) -> bool:
        """Whether it is worth estimating, for a choice for time, what a form would hold."""
        return True

    def fact(self, told: Any) -> Any:
        """Its own fact of what JSON made of it."""
        return told

    def units(self, nrows: int) -> int:
        """Rows or tile rows."""
        return -(-nrows // self.rows_per_unit)

    def listing(self, seen: Seen) -> Listing:
        """What a form of that structure would list."""
        raise self.unanswered("listing")

    def predict_bytes(self, seen: Seen) -> int:
        """Bytes of a form of that structure, values not counted."""
        raise self.unanswered("predict_bytes")

    def scratch(self, seen: Seen) -> int:
        """Bytes that `from_csr` takes beside the rows and the result."""
        raise self.unanswered("scratch")

    def rows_key(self) -> str:
        """The form by rows in which such a matrix is read row by row."""
        return CSR

    def dot_key(self, shared: bool) -> str:
        """The form in which dot products with such a matrix are taken; shared: on a device whose threads share rows."""
        return self.key

    def dot_beside(self, other: Format, nrows: int, ncols: int) -> str:
        """The same of such a form, where the other operand has another one; the shape is that of this one."""
        return self.key

    def dot_lanes(self, form: Any) -> int:
        """Lanes of a GPU for each place of a mask. form: of the left operand, which may be of another format."""
        raise self.unanswered("dot_lanes")

    def kept_as(self, key: str) -> str:
        """The form that is kept where the form `key` of such a matrix is asked for."""
        return key

    def lanes(self, form: Any, nrows: int, kind: int, *, push: bool) -> int:
        """Lanes of a GPU per row or tile row, of the form or (nrows: its rows) of its transpose."""
        raise self.unanswered("lanes")

    def share(self, kind: int) -> int:
        """Lanes that go through a tile together: what it costs, in entries."""
        return 1

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        """What of a unit one group of lanes goes through on a GPU; longer ones are cut into segments."""
        raise self.unanswered("longest")

    def segment(self) -> int:
        """What of a long unit `part_lanes` sum: eight steps."""
        raise self.unanswered("segment")

    def walked(self, entries: int) -> int:
        """Items of a row that a group of lanes walks in a step of a loop, where they would walk so many plain entries;
        longer rows are cut into segments of that length."""
        return entries

    def pull_threshold(self, form: Any) -> int:
        """Items in the units of a frontier beyond which a step of a loop pulls."""
        raise self.unanswered("pull_threshold")

    def is_uneven(self, form: Any) -> bool:
        """Whether a block of a GPU may read the entries of its rows as one run, because they are of very different
        lengths."""
        return False

    def active(self, form: Any, bits: Any) -> int | None:
        """The items of the units that bits name, where that takes less than to read `ptr`; None where it does not."""
        return None

    def is_graded(self, form: Any) -> bool:
        """Whether a GPU pulls such rows from a full vector graded by their length."""
        return False

    def grades(self, form: Any, part: Any = None) -> Any:
        """Its rows graded (csr/grades.py); part: some of them, where rows are codes (graded.py)."""
        raise self.unanswered("grades")

    def graded_contents(self, form: Any, ranked: bool) -> tuple[Any, ...]:
        """What a graded pull reads of the form, beside its grades."""
        contents: tuple[Any, ...] = form.unit_contents(ranked)
        return contents

    def hot(self, form: Any, columns: int) -> int:
        """For how many columns, the first ones, a block of a graded pull has the vector in shared memory, where there
        is room for `columns`; 0: too few entries would read it there."""
        raise self.unanswered("hot")

    def fixed_width(self, form: Any) -> int:
        """The bits of a packed column that a staged pull is compiled for; 0: any, or plain columns."""
        return 0

    # ---- call.py ----

    def kernel(self, name: str) -> str:
        """The path of a kernel for it."""
        return f"formats/{self.folder}/{name}"

    def pull_constants(
        self, *, ranked: bool, neutral: bool, padded: bool, many_blocks: bool, staged: int, width: int
    ) -> Constants:
        """What a pull is compiled with. ranked: values are found by ranks. neutral: sums may begin with the identity.
        padded: the last tile column is wider than the matrix. many_blocks: so many run at once that registers are few,
        as all entries of the vector are there and no type is larger than 32 bits. staged, width: `is_uneven`,
        `fixed_width`."""
        raise self.unanswered("pull_constants")

    def graded_constants(self, shared: int) -> Constants:
        """What a graded pull is compiled with besides. shared: bytes of shared memory that a block takes."""
        raise self.unanswered("graded_constants")

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        """What a push, or the step of a loop, is compiled with."""
        raise self.unanswered("push_constants")

    def wide_constants(self) -> Constants:
        """What the CPU's kernel `lanes`, for all places of a tile at once, is compiled with."""
        raise self.unanswered("wide_constants")

    def dot_constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        """What a dot product is compiled with. mask: the format of the mask's form."""
        raise self.unanswered("dot_constants")

    def dot_mask(self, structure: Any) -> Form:
        """The form of a mask as its dot products take it."""
        form: Form = structure.form(self.key)
        return form

    def dot(self, left: Any, right: Any, mask: Any, ranked: tuple[bool, bool]) -> Dot:
        """Dot products of units of two such forms. ranked: which of them has values."""
        raise self.unanswered("dot")
