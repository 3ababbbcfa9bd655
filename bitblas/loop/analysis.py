"""Analysis of a body: which vectors are read, written, iso and full; products that can be advances; sparse vectors.

Pure functions of statements and facts, used by both executors. Sparse vectors: where none of them has an entry, the
round does nothing, so element-wise kernels over all positions can run on a worklist instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from semirings import Monoid, Typed
from semirings.dtypes import DataType, cast_scalar

from .. import tuning
from ..operations.ewise_vector import same_value
from ..operations.multivector import LinesProduct
from ..operations.variants import BOTH, LEFT
from ..plan.product import WORDS, kind_of
from ..store import PlainValues, VectorStore
from .fuse import Advance, FusedElementwise, Pull, Round
from .ir import (
    Block,
    Body,
    Const,
    Elementwise,
    Exchange,
    Gather,
    InitializeCells,
    IsoValues,
    MapProduct,
    Masked,
    MultivectorProduct,
    Part,
    Product,
    Reduce,
    Scal,
    Scatter,
    Stacked,
    Statement,
    Term,
    Value,
    Vec,
    flat,
    reads_first,
    scalar_is_read_first,
)

if TYPE_CHECKING:
    from ..typing import Array

# ---- Choose the storage of a body's vectors and the kernels of its products: pure functions of statements and facts.


@dataclass(frozen=True)
class BodyFacts:
    """What the executors need to know about a body.

    body: without needless initializations of cells. loaded: the vectors whose contents a run begins with. changed,
    changed_scalars: what it stores at its end. inputs: full vectors that are only read, so that their values can be
    used in place. iso, full: as in `iso_values` and `full_vectors`. fresh: the numbers of Scalars whose earlier value
    no run reads.
    """

    body: Body
    loaded: tuple[Vec, ...]
    changed: tuple[Vec, ...]
    changed_scalars: tuple[Scal, ...]
    inputs: tuple[Vec, ...]
    iso: IsoValues
    full: frozenset[Vec]
    fresh: frozenset[int]


def loaded_vectors(body: Body, condition: Vec | Scal) -> tuple[Vec, ...]:
    """The vectors whose contents a run begins with."""
    used = {x for s in body.all for x in s.named} | {b.condition for b in body.blocks}
    begun = any(s.target == condition for s in flat(body.begin))  # otherwise it is evaluated before the first statement
    return tuple(x for x in body.vectors if (x == condition and not begun) or (x in used and reads_first(body, x)))


def analyze(
    body: Body,
    stores: Mapping[int, VectorStore],
    never_iso: frozenset[Vec] = frozenset(),
    never_full: frozenset[Vec] = frozenset(),
) -> BodyFacts:
    """The facts about a body. stores: the contents of its loaded vectors, by number. never_iso, never_full: vectors for
    which other ranks found otherwise."""
    iso, full = iso_values(body, stores, never_iso), full_vectors(body, stores, never_full)
    written = {s.target for s in body.all}
    loaded = tuple(x for x in body.vectors if x.id in stores)
    reduced = without_needless_inits(body, full)
    return BodyFacts(
        reduced,
        loaded,
        tuple(x for x in body.vectors if x in written and x not in body.own),
        tuple(s for s in body.scalars if s in written and s.id not in body.unknown),
        tuple(x for x in loaded if x in full and x not in written and x.id not in iso),
        iso,
        full,
        frozenset(s.id for s in body.scalars if not scalar_is_read_first(reduced, s)),
    )


def iso_values(
    body: Body, held: Mapping[int, VectorStore], never: frozenset[Vec] = frozenset()
) -> dict[int, np.generic]:
    """The vectors whose entries have the same value throughout the loop, and that value, by vector number.

    Starts with the values of the first statements or of the objects, and drops a vector once anything else is written
    to it. `never`: vectors for which other ranks found otherwise.
    """
    iso: dict[int, np.generic] = {}
    for x in body.vectors:
        if x in never:
            continue
        store = held.get(x.id)
        if store is not None and store.count != 0:
            if store.iso:
                iso[x.id] = store.values
            continue
        first = next((s for s in body.all if s.target == x), None)
        if first is not None and (value := _constant(first, x.dtype, iso)) is not None:
            iso[x.id] = value
    while True:
        spoiled = {
            s.target.id for s in body.all if isinstance(s.target, Vec) and s.target.id in iso and not _keeps(s, iso)
        }
        if not spoiled:
            return iso
        for number in spoiled:
            del iso[number]


def full_vectors(body: Body, held: Mapping[int, VectorStore], never: frozenset[Vec] = frozenset()) -> frozenset[Vec]:
    """The vectors that have an entry at every position whenever a statement reads them: they start full or are written
    everywhere first, and no statement removes an entry."""
    full = {x for x in body.vectors if x not in never and (x.id not in held or held[x.id].nvals == x.size)}
    full &= {s.target for s in body.all} | {x for x in full if x.id in held}
    certain = certain_scalars(body)
    while True:
        spoiled = set[Vec]()
        for part in (body.begin, body.statements, body.end):
            _spoil(part, full, certain, spoiled)
        if not spoiled:
            return frozenset(full)
        full -= spoiled


def certain_scalars(body: Body) -> frozenset[int]:
    """The numbers of the Scalars that are never empty when a statement reads them: each is written first by a statement
    that certainly runs, and never by an expression that may have no value."""
    late = {x for s in flat(body.end) for x in _read(s)}
    certain = set[int]()
    for s in reversed(body.all):  # the first statement that names a Scalar decides
        certain -= _read(s)
        if isinstance(s.target, Scal):
            runs = s in body.begin or (s in body.statements and s.target.id not in late)
            first = runs and s.accum is None and s.target.id not in _read(s)
            (certain.add if first else certain.discard)(s.target.id)
    while True:
        spoiled = {s.target.id for s in body.all if isinstance(s.target, Scal) and not _gives(s, certain)} & certain
        if not spoiled:
            return frozenset(certain)
        certain -= spoiled


def _read(s: Statement) -> set[int]:
    return {t.id for t in s.terms if isinstance(t, Scal)}


def _gives(s: Statement, certain: Set[int]) -> bool:
    """Whether a Scalar has a value after a statement, if those of `certain` have one before."""
    if s.accum is not None:
        return True
    return s.value.default is not None if isinstance(s.value, Reduce) else _is_everywhere(s.value, set(), certain)


def _spoil(part: Part, full: Set[Vec], certain: Set[int], spoiled: set[Vec]) -> None:
    """Add to `spoiled` the vectors of `full` that the statements leave with an entry missing. Other vectors may be full
    temporarily."""
    now = set(full)
    for s in part:
        if isinstance(s, Block):
            _spoil(s.statements, full, certain, spoiled)
            now &= full  # the block may or may not have run
        elif isinstance(s.target, Vec):
            if _fills(s, now, certain):
                now.add(s.target)
            else:
                now.discard(s.target)
                if s.target in full:
                    spoiled.add(s.target)


def _fills(s: Statement, full: Set[Vec], certain: Set[int]) -> bool:
    """Whether the target of a statement is full after it, if the vectors of `full` are before."""
    was = s.target in full
    if isinstance(s.value, (Scatter, InitializeCells)):
        return was
    if s.mask is not None and s.replace:
        return False
    if was and s.accum is not None:
        return True
    if s.mask is not None and s.mask.structure and not s.mask.complement:
        full = full | {s.mask.vec}  # it has an entry wherever it is read
    return (was or s.mask is None) and _is_everywhere(s.value, full, certain)


def _is_everywhere(e: Value, full: Set[Vec], certain: Set[int]) -> bool:
    if isinstance(e, Gather):
        return e.source in full and e.index in full
    if isinstance(e, Exchange):
        return e.u in full
    if isinstance(e, MapProduct):
        return True
    if not isinstance(e, Elementwise) or e.keep or e.under is not None:
        return False
    there = [
        t in full
        if isinstance(t, Vec)
        else t.value is not None
        if isinstance(t, Const)
        else t.id < 0 or t.id in certain
        for t in e.terms
    ]
    return there[0] if e.mode == LEFT else all(there) if e.mode == BOTH else any(there)


def without_needless_inits(body: Body, full: frozenset[Vec]) -> Body:
    """The body without statements that initialize cells of vectors that are full, or already initialized for the same
    monoid: each would end a kernel (a spanning forest takes 97 launches with them, 89 without)."""

    def part(statements: Part) -> Part:
        found: list[Statement | Block] = []
        ready: dict[Vec | Scal, Typed[Monoid]] = {}
        for s in statements:
            if isinstance(s, Block):
                ready.clear()
                found.append(replace(s, statements=part(s.statements)))
            elif not isinstance(s.value, InitializeCells):
                if not isinstance(s.value, Scatter) or s.value.monoid != ready.get(s.target):
                    ready.pop(s.target, None)
                found.append(s)
            elif s.target not in full and ready.get(s.target) != s.value.monoid:
                ready[s.target] = s.value.monoid
                found.append(s)
        return tuple(found)

    return replace(body, statements=part(body.statements), begin=part(body.begin), end=part(body.end))


def _keeps(s: Statement, iso: IsoValues) -> bool:
    value = _constant(s, s.target.dtype, iso)
    return s.accum is None and value is not None and same_value(value, iso[s.target.id])


def _constant(s: Statement, dtype: DataType, iso: IsoValues) -> np.generic | None:
    """The single value that a statement writes, or None if it may write several."""
    e = s.value
    if isinstance(e, Product) and not isinstance(e, MapProduct):
        kind, value = product_kind(e, iso)
        return cast_scalar(value, dtype) if kind == WORDS else None
    if isinstance(e, Exchange):
        return iso.get(e.u.id) if isinstance(e.u, Vec) else None
    if isinstance(e, Stacked):
        return cast_scalar(np.True_, dtype)
    if not isinstance(e, Elementwise) or not (e.op is None or e.keep):
        return None
    if isinstance(e.u, Const):
        return None if e.u.value is None else cast_scalar(e.u.value, dtype)
    return cast_scalar(iso[e.u.id], dtype) if isinstance(e.u, Vec) and e.u.id in iso else None


def planned_operand(product: Product, iso: IsoValues) -> Array | np.generic:
    """The values of the product's vector in the form that plans expect: a scalar if it is iso, else an array."""
    u = product.u
    return iso[u.id] if u.id in iso else np.empty(0, u.dtype.np_type)


def lines_product(product: MultivectorProduct, values: PlainValues) -> LinesProduct:
    """A product with a multivector, as statements run it. values: of the multivector."""
    p, u = product, product.u
    return LinesProduct(p.matrix, p.transpose, u.dtype, values, p.inner, p.lines, p.semiring, p.flip)


def product_kind(product: Product, iso: IsoValues) -> tuple[int, np.generic | None]:
    """WORDS, COUNT or VALUES, and the value of all products if they are equal."""
    return kind_of(product.semiring, product.matrix.raw, planned_operand(product, iso), flip=product.flip)


def can_write_directly(s: Statement, iso: IsoValues) -> bool:
    """Whether the advance of a statement may write the target itself."""
    assert isinstance(s.value, Product) and isinstance(s.target, Vec)
    if not s.overwrites:
        return False
    if product_kind(s.value, iso)[0] == WORDS:
        return s.target.id in iso
    return s.target.id not in iso and s.target.dtype is s.value.semiring.return_type


def with_added(facts: BodyFacts, round_: Round) -> BodyFacts:
    """The facts, including the iso values of vectors that fusion added."""
    known, iso = facts.body.vectors, dict(facts.iso)
    for item in round_.all:
        if isinstance(item, (Advance, Pull)) and item.target not in known:
            how, value = product_kind(item.product, facts.iso)
            if how == WORDS:
                iso[item.target.id] = item.target.dtype.np_type.type(value)
        elif isinstance(item, FusedElementwise):
            for s in item.statements:
                masks = isinstance(s.value, Elementwise) and isinstance(s.value.u, Const)
                if masks and s.target not in known and isinstance(s.target, Vec):
                    iso[s.target.id] = np.bool_(True)
    return replace(facts, iso=iso)


# ---- Find the sparse vectors of a round: where none of them has an entry, the round does nothing. Element-wise
# kernels over all positions can then run on a worklist instead. Pure functions of statements.


def sparse_vectors(
    elementwise: Sequence[FusedElementwise], needed: Iterable[Vec], never: frozenset[int] = frozenset()
) -> frozenset[Vec] | None:
    """The smallest set of vectors, including `needed` and excluding `never` (by number), such that the kernels do
    nothing where none of them has an entry; None if there is none. A gather through an index vector does nothing where
    its mask is closed."""
    first = frozenset(needed)
    statements = [s for p in elementwise for s in p.statements]
    if not all(isinstance(s.value, (Elementwise, Reduce, Gather)) for s in statements):
        return None
    local = {number for p in elementwise for number in p.local}
    named = {x for s in statements for x in _named(s) if x.id not in local | never}
    lasting = [s for s in statements if isinstance(s.target, Scal) or s.target.id not in local]
    others = sorted(named - first, key=lambda x: x.id)
    if len(others) > tuning.count("loop.sparse_candidates"):
        return None
    for count in range(len(others) + 1):
        for more in itertools.combinations(others, count):
            empty = first | set(more)
            if all(does_nothing(s, _with_local(statements, local, empty)) for s in lasting):
                return empty
    return None


def _with_local(statements: Sequence[Statement], local: set[int], empty: frozenset[Vec]) -> frozenset[Vec]:
    """The vectors without an entry at positions where those of `empty` have none, including vectors local to one
    kernel, which have only the entries that it writes."""
    may_have: set[Vec] = set()
    for s in statements:
        if isinstance(s.target, Vec) and s.target.id in local:
            assert isinstance(s.value, (Elementwise, Gather))
            if _is_open(s.mask, empty) is not False and _has(s.value, empty) is not False:
                may_have.add(s.target)
            empty = empty - may_have if s.target in may_have else empty | {s.target}
    return empty


def _named(s: Statement) -> list[Vec]:
    return [*s.vectors, *([s.target] if isinstance(s.target, Vec) else [])]


def does_nothing(s: Statement, empty: frozenset[Vec]) -> bool:
    """Whether a statement changes nothing at a position where these vectors have no entry."""
    if isinstance(s.target, Scal):
        return not isinstance(s.value, Reduce) or s.value.u in empty
    assert isinstance(s.value, (Elementwise, Gather))
    is_open, has = _is_open(s.mask, empty), _has(s.value, empty)
    if is_open is not False and has is not False:
        return False  # something may be written
    taken_away = (is_open is not True and s.replace) or (is_open is not False and s.accum is None)
    return not taken_away or s.target in empty


def _is_open(mask: Masked | None, empty: frozenset[Vec]) -> bool | None:
    """Whether a mask is open there; None if unknown."""
    if mask is None:
        return True
    return mask.complement if mask.vec in empty else None


def _has(e: Elementwise | Gather, empty: frozenset[Vec]) -> bool | None:
    """Whether there is a value; None if unknown."""
    if isinstance(e, Gather):
        return None  # a missing index must be reported
    sides = [_term(t, empty) for t in e.terms]
    if e.under is not None:
        sides.append(_is_open(e.under, empty))
    if e.mode in (LEFT, BOTH):
        sides = sides[:1] + sides[2:] if e.mode == LEFT and e.v is not None else sides
        return False if False in sides else None
    return False if all(side is False for side in sides) else None


def _term(t: Term, empty: frozenset[Vec]) -> bool | None:
    if isinstance(t, Vec):
        return False if t in empty else None
    return False if isinstance(t, Const) and t.value is None else None
