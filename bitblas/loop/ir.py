"""The intermediate representation of a loop: a body as plain data, statements over numbered vectors and scalars.

Vectors and scalars are numbered in the order in which the body names them. The body runs once per round. The value of
a statement is one operation deep, because every delayed expression used as an operand becomes a statement first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.cached import cached_property
from semirings.dtypes import DataType

from ..formats.bitmap.layout import Lines
from ..operations.map_products import Selection
from ..store import MatrixStore

if TYPE_CHECKING:
    from ..distributed.group import Group
    from ..distributed.shares import Shares
    from ..typing import Array

NO_LIMIT = (1 << 62) - 1  # of rounds


@dataclass(frozen=True)
class Vec:
    """Vector number `id`: `size` positions of `dtype`."""

    id: int
    size: int
    dtype: DataType

    def __hash__(self) -> int:
        return self.id  # ids are unique in a body; the hash is computed some hundred thousand times during planning


@dataclass(frozen=True)
class Scal:
    """Scalar number `id`; -1 is the number of the round."""

    id: int
    dtype: DataType
    casts: tuple[DataType, ...] = ()  # applied before the operation

    def __hash__(self) -> int:
        return self.id


@dataclass(frozen=True)
class Const:
    """A value that is known on the host."""

    dtype: DataType
    value: np.generic | None  # None: an empty Scalar


Term: TypeAlias = Vec | Scal | Const
IsoValues: TypeAlias = Mapping[int, np.generic]  # by vector number, the value that all entries of a vector have


@dataclass(frozen=True)
class Masked:
    """The positions where a mask is open: `vec.S` (structure) or `vec.V`, or the complement."""

    vec: Vec
    structure: bool
    complement: bool


@dataclass(frozen=True)
class Elementwise:
    """op(u, v) at every position, as in operations.ewise_vector.run_elementwise; without op, a copy of u.

    mode: LEFT, BOTH, UNION, FILLED. bound: which operand has which name in the operator (variants.LET). keep: a select.
    under: a select by a mask.
    """

    mode: int
    op: Typed | None
    u: Term
    v: Term | None = None
    bound: str = "xy"
    keep: bool = False
    defaults: tuple[Term, ...] = ()  # of u and v, in mode FILLED
    under: Masked | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.u,) if self.v is None else (self.u, self.v)


@dataclass(frozen=True, eq=False)
class Product:
    """u times a matrix (`flip`: vxm), or its transpose if `transpose`, as in operations.spmv.mxv."""

    matrix: MatrixStore
    u: Vec
    semiring: Typed[Semiring]
    transpose: bool
    flip: bool
    outer: int  # the size of the result
    in_share: bool = False  # whether the result is one rank's share of u's positions


@dataclass(frozen=True, eq=False, kw_only=True)
class MultivectorProduct(Product):
    """A matrix times a multivector, by rows, as in operations.multivector: u is the bitmap of `inner` rows, the result
    that of `lines` rows. flip: the multivector is the left operand."""

    inner: Lines
    lines: Lines


@dataclass(frozen=True, eq=False, kw_only=True)
class MapProduct(Product):
    """A matrix times a map, of which a selection from each row is all that is computed, as in operations.map_products.
    position: the key, INT64, -1 in rows without one; else a value, which is undefined in these rows.

    u: the key of each column, full and INT32; negative: the map has no entry there. size: keys are below it. dtype,
    value: of the map's entries.
    """

    size: int
    dtype: DataType
    value: np.generic
    selection: Selection
    position: bool


@dataclass(frozen=True)
class Reduce:
    """The monoid's sum of the entries of u; `default` (None: no value) if there are none."""

    monoid: Typed[Monoid]
    u: Vec
    default: np.generic | None = None


@dataclass(frozen=True)
class Gather:
    """source[index]: at each position the entry of `source` at the index stored in the index vector, which must be
    full. number: identifies the statement in errors."""

    source: Vec
    index: Vec
    number: int


class IndexCheck(Gather):
    """A gather from a vector with the same entry everywhere: a test that indices are in range."""


@dataclass(frozen=True)
class Scatter:
    """Combine the entries u by a monoid at the target's positions given by the index vector, for each position where
    `where` has an entry (None: everywhere). index None: the position itself. full: vectors that must have an entry at
    each of these positions."""

    index: Vec | None
    u: Term | None  # None: the position itself
    where: Vec | None
    monoid: Typed[Monoid]
    full: tuple[Vec, ...]
    size: int  # number of positions traversed
    number: int  # identifies the statement in errors


@dataclass(frozen=True)
class InitializeCells:
    """Initialize the target's cells without an entry to a monoid's identity, so that a Scatter may combine into
    them."""

    monoid: Typed[Monoid]


class Pattern(Protocol):
    """The communication of an exchange (distributed/loops.py). shares: the partition of its vector. root: the only rank
    that sends, if there is one."""

    text: str
    gathers: bool
    takes: bool
    group: Group
    shares: Shares
    root: int

    def run(self, source: Array, target: Array, bits: bool) -> None: ...

    def sent(self, source: Array, bits: bool) -> int:
        """The bytes that leave this rank."""

    def own(self) -> Pattern:
        """The inverse pattern."""


@dataclass(frozen=True, eq=False)
class Exchange:
    """Communication of u between ranks that run the same loop, in the pattern `how` (distributed/loops.py)."""

    u: Vec | Scal
    how: Pattern


@dataclass(frozen=True, eq=False)
class Stacked:
    """A frontier u that is pushed on a stack (loop/stack.py), one that is popped from it, or its removal of all.
    number: identifies the statement in errors. lines: of the multivector, or the size of the Vector."""

    stack: int  # the id of the stack
    what: str  # "push", "pop" or "clear"
    number: int
    lines: int = 0
    u: Vec | None = None


NO_TARGET = -2  # the number of a Scal: of statements without a target

Value: TypeAlias = Elementwise | Product | Reduce | Gather | Scatter | InitializeCells | Exchange | Stacked


@dataclass(frozen=True, eq=False)
class Statement:
    """target(mask, accum, replace) << value. text: its name in errors and in `explain`."""

    target: Vec | Scal
    value: Value
    mask: Masked | None = None
    accum: Typed | None = None
    replace: bool = False
    text: str = ""

    @cached_property
    def vectors(self) -> tuple[Vec, ...]:
        """The vectors that it reads at the current position."""
        value, found = self.value, []
        if isinstance(value, Elementwise):
            found = [t for t in value.terms if isinstance(t, Vec)]
            if value.under is not None:
                found.append(value.under.vec)
        elif isinstance(value, Scatter):
            return tuple(dict.fromkeys(x for x in (value.index, value.u, value.where) if isinstance(x, Vec)))
        elif isinstance(value, Gather):
            found = [value.index]
        elif isinstance(value, Stacked):
            found = [] if value.u is None else [value.u]
        elif not isinstance(value, (InitializeCells, Exchange)):
            found = [value.u]
        if self.mask is not None:
            found.append(self.mask.vec)
        if isinstance(self.target, Vec) and not self.overwrites:
            found.append(self.target)
        return tuple(dict.fromkeys(found))

    @property
    def terms(self) -> tuple[Term, ...]:
        """The operands of an element-wise statement."""
        return (*self.value.terms, *self.value.defaults) if isinstance(self.value, Elementwise) else ()

    @property
    def named(self) -> set[Vec | Scal]:
        """The vectors that it reads or writes anywhere, and its target."""
        return {*self.vectors, *self.elsewhere, self.target}

    @property
    def elsewhere(self) -> tuple[Vec, ...]:
        """The vectors that it reads or changes at other positions, given by an index vector."""
        if isinstance(self.value, Scatter):
            assert isinstance(self.target, Vec)
            return (self.target,)
        if isinstance(self.value, Exchange):
            return (self.value.u,) if isinstance(self.value.u, Vec) else ()
        return (self.value.source,) if isinstance(self.value, Gather) else ()

    @property
    def written(self) -> Vec | None:
        """The vector that it writes at the current position."""
        return self.target if isinstance(self.target, Vec) and not isinstance(self.value, Scatter) else None

    @property
    def overwrites(self) -> bool:
        """Whether nothing of the target's earlier contents remains."""
        if isinstance(self.value, (Scatter, InitializeCells)):
            return False
        return self.accum is None and (self.mask is None or self.replace)


@dataclass(frozen=True, eq=False)
class Block:
    """Statements that repeat while `condition` has entries (is true), at most `limit` times."""

    statements: tuple[Statement | Block, ...]
    condition: Vec | Scal
    limit: int
    text: str


Part = tuple[Statement | Block, ...]


def flat(part: Iterable[Statement | Block]) -> Iterator[Statement]:
    """All statements, including those inside of blocks."""
    for s in part:
        if isinstance(s, Block):
            yield from flat(s.statements)
        else:
            yield s


def blocks(part: Iterable[Statement | Block]) -> Iterator[Block]:
    """All blocks, including nested ones."""
    for s in part:
        if isinstance(s, Block):
            yield s
            yield from blocks(s.statements)


@dataclass(frozen=True)
class Body:
    """The statements of one round, of the part before the first, and of the part after the last; the numbered vectors
    and scalars. own: vectors that only the body references, created again in each run."""

    statements: Part
    vectors: tuple[Vec, ...]
    scalars: tuple[Scal, ...]
    begin: Part = ()
    end: Part = ()
    own: frozenset[Vec] = frozenset()
    unknown: frozenset[int] = frozenset()  # Scalars that only the body references, by number

    @property
    def all(self) -> tuple[Statement, ...]:
        return tuple(flat((*self.begin, *self.statements, *self.end)))

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(blocks((*self.begin, *self.statements, *self.end)))


def reads_first(body: Body, x: Vec) -> bool:
    """Whether a run needs the vector's earlier contents, or keeps them if no round runs."""
    if _reads_first((*body.begin, *body.statements, *body.end), x, x in body.own):
        return True
    if not any(x in (*s.vectors, *s.elsewhere) for s in flat(body.end)):
        return False
    return _reads_first((*body.begin, *body.end), x, x in body.own)


def _reads_first(part: Part, x: Vec, own: bool) -> bool:
    """own: its contents are not needed if nothing writes it."""
    found = _read_or_written(part, x)
    return not own if found is None and any(x == s.target for s in flat(part)) else found is not False


def _read_or_written(part: Part, x: Vec) -> bool | None:
    """True: certainly read before it is written; False: written first; None: neither, or written by a block that may
    not run."""
    for s in part:
        if isinstance(s, Block):
            if s.condition == x or _read_or_written(s.statements, x):
                return True
        elif x in s.vectors or x in s.elsewhere:
            return True
        elif s.target == x:
            return False
    return None


def scalar_is_read_first(body: Body, x: Scal) -> bool:
    """The same as `reads_first` for a Scalar."""
    for s in body.all:
        terms = (s.value.u,) if isinstance(s.value, Exchange) else s.terms
        if any(isinstance(t, Scal) and t.id == x.id for t in terms):
            return True
        if isinstance(s.target, Scal) and s.target.id == x.id:
            return s.accum is not None or s not in (*body.begin, *body.end)
    return True
