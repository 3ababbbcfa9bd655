"""The intermediate representation of a loop: a body as plain data, statements over numbered vectors and scalars.

Vectors and scalars are numbered in the order in which the body names them. The body runs once per round. The value of
a statement is one operation deep, because every delayed expression used as an operand becomes a statement first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from semirings import Typed
from semirings.cached import cached_property
from semirings.dtypes import DataType

from ...formats.bitmap.layout import Lines


@dataclass(frozen=True)
class Vec:
    """Vector number `id`: `size` positions of `dtype`."""

    id: int
    size: int
    dtype: DataType

    def __hash__(self) -> int:
        return self.id  # no two of a body have one; asked for some hundred thousand times while kernels are planned


@dataclass(frozen=True)
class Scal:
    """Scalar number `id`; -1 is the number of the round."""

    id: int
    dtype: DataType
    casts: tuple[DataType, ...] = ()  # on its way into the operation

    def __hash__(self) -> int:
        return self.id


@dataclass(frozen=True)
class Const:
    """A value that the host knows."""

    dtype: DataType
    value: Any  # a NumPy scalar; None: an empty Scalar


Term = Vec | Scal | Const


@dataclass(frozen=True)
class Masked:
    """Where a mask is open: `vec.S` (structure) or `vec.V`, or where it is not."""

    vec: Vec
    structure: bool
    complement: bool


@dataclass(frozen=True)
class Pointwise:
    """op(u, v) at every position, as verbs.vector.run_elementwise has it; without op a copy of u.

    mode: LEFT, BOTH, UNION, FILLED. bound: which operand is which name of the operator (variants.LET). keep: a select.
    under: a select by mask.
    """

    mode: int
    op: Typed | None
    u: Term
    v: Term | None = None
    bound: str = "xy"
    keep: bool = False
    defaults: tuple[Any, Any] = (0, 0)
    under: Masked | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.u,) if self.v is None else (self.u, self.v)


@dataclass(frozen=True, eq=False)
class Product:
    """u times a matrix (`flip`: vxm), of its transpose where `transpose`, as verbs.product.mxv has it."""

    matrix: Any  # MatrixStore
    u: Vec
    semiring: Typed
    transpose: bool
    flip: bool
    outer: int  # the size of the result
    in_share: bool = False  # whether the result is a share of the positions of u


@dataclass(frozen=True, eq=False, kw_only=True)
class LineProduct(Product):
    """A matrix times a narrow one, by lines, as verbs.narrow_product has it: u are the places of a bitmap of `inner`
    lines, the result those of one of `lines`. flip: the narrow one stands on the left."""

    inner: Lines
    lines: Lines


@dataclass(frozen=True)
class Reduce:
    """The monoid's sum of the entries of u, `default` (None: nothing) where there is none."""

    monoid: Typed
    u: Vec
    default: Any = None


@dataclass(frozen=True)
class Gather:
    """source[index]: at each position the entry of `source` that the index vector, which must be full, leads to.
    number: by which an error names it."""

    source: Vec
    index: Vec
    number: int


@dataclass(frozen=True)
class Scatter:
    """The entries u joined by a monoid at the positions of the target that the index vector leads to: at each place of
    `index` where `where` has an entry (None: everywhere). index None: the place itself. full: those that must have an
    entry at each of these places."""

    index: Vec | None
    u: Term | None  # None: the place itself
    where: Vec | None
    monoid: Typed
    full: tuple[Vec, ...]
    size: int  # places that are gone through
    number: int  # by which an error names it


@dataclass(frozen=True)
class Ready:
    """The identity of a monoid wherever the target has no entry, so that a Scatter may join to it."""

    monoid: Typed


@dataclass(frozen=True, eq=False)
class Exchange:
    """What ranks that run the same loop give each other of u, in the way of `how` (distributed/loops.py)."""

    u: Vec | Scal
    how: Any


@dataclass(frozen=True, eq=False)
class Statement:
    """target(mask, accum, replace) << value; text: how an error or `explain` names it."""

    target: Vec | Scal
    value: Pointwise | Product | Reduce | Gather | Scatter | Ready | Exchange
    mask: Masked | None = None
    accum: Typed | None = None
    replace: bool = False
    text: str = ""

    @cached_property
    def vectors(self) -> tuple[Vec, ...]:
        """The vectors that it reads, each at the position that it is at."""
        value, found = self.value, []
        if isinstance(value, Pointwise):
            found = [t for t in value.terms if isinstance(t, Vec)]
            if value.under is not None:
                found.append(value.under.vec)
        elif isinstance(value, Scatter):
            return tuple(dict.fromkeys(x for x in (value.index, value.u, value.where) if isinstance(x, Vec)))
        elif isinstance(value, Gather):
            found = [value.index]
        elif not isinstance(value, (Ready, Exchange)):
            found = [value.u]
        if self.mask is not None:
            found.append(self.mask.vec)
        if isinstance(self.target, Vec) and not self.overwrites:
            found.append(self.target)
        return tuple(dict.fromkeys(found))

    @property
    def elsewhere(self) -> tuple[Vec, ...]:
        """The vectors that it reads or changes at other positions, which an index vector names."""
        if isinstance(self.value, Scatter):
            assert isinstance(self.target, Vec)
            return (self.target,)
        if isinstance(self.value, Exchange):
            return (self.value.u,) if isinstance(self.value.u, Vec) else ()
        return (self.value.source,) if isinstance(self.value, Gather) else ()

    @property
    def written(self) -> Vec | None:
        """The vector that it writes at the position that it is at."""
        return self.target if isinstance(self.target, Vec) and not isinstance(self.value, Scatter) else None

    @property
    def overwrites(self) -> bool:
        """Nothing of what the target held before remains."""
        if isinstance(self.value, (Scatter, Ready)):
            return False
        return self.accum is None and (self.mask is None or self.replace)


@dataclass(frozen=True, eq=False)
class Block:
    """Statements that run again and again while `condition` has entries (is true), `limit` times at most."""

    statements: tuple[Statement | Block, ...]
    condition: Vec | Scal
    limit: int
    text: str


Part = tuple[Statement | Block, ...]


def flat(part: Iterable[Statement | Block]) -> Iterator[Statement]:
    """All statements, those inside of blocks too."""
    for s in part:
        if isinstance(s, Block):
            yield from flat(s.statements)
        else:
            yield s


def blocks(part: Iterable[Statement | Block]) -> Iterator[Block]:
    """All blocks, those inside of others too."""
    for s in part:
        if isinstance(s, Block):
            yield s
            yield from blocks(s.statements)


@dataclass(frozen=True)
class Body:
    """The statements of one round, those before the first and after the last; the vectors and scalars, whose numbers
    are their places here. own: vectors that nobody but the body knows, made anew by each run."""

    statements: Part
    vectors: tuple[Vec, ...]
    scalars: tuple[Scal, ...]
    begin: Part = ()
    end: Part = ()
    own: frozenset[Vec] = frozenset()
    unknown: frozenset[int] = frozenset()  # Scalars of the same kind, by number

    @property
    def all(self) -> tuple[Statement, ...]:
        return tuple(flat((*self.begin, *self.statements, *self.end)))

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(blocks((*self.begin, *self.statements, *self.end)))


def reads_first(body: Body, x: Vec) -> bool:
    """Whether a run needs what the vector held before, or keeps it where no round runs."""
    if _reads_first((*body.begin, *body.statements, *body.end), x, x in body.own):
        return True
    if not any(x in (*s.vectors, *s.elsewhere) for s in flat(body.end)):
        return False
    return _reads_first((*body.begin, *body.end), x, x in body.own)


def _reads_first(part: Part, x: Vec, own: bool) -> bool:
    """own: nobody wants it where nothing writes it."""
    found = _read_or_written(part, x)
    return not own if found is None and any(x == s.target for s in flat(part)) else found is not False


def _read_or_written(part: Part, x: Vec) -> bool | None:
    """True: read before it is written for certain; False: written first; None: neither, or written by what may not
    run."""
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
    """The same for a Scalar."""
    for s in body.all:
        terms: tuple[Any, ...] = s.value.terms + s.value.defaults if isinstance(s.value, Pointwise) else ()
        terms = (s.value.u,) if isinstance(s.value, Exchange) else terms
        if any(isinstance(t, Scal) and t.id == x.id for t in terms):
            return True
        if isinstance(s.target, Scal) and s.target.id == x.id:
            return s.accum is not None or s not in (*body.begin, *body.end)
    return True
