"""Fuse the statements of a body into the kernels of one round: pure functions.

Element-wise statements fuse into element-wise kernels. Statements under the mask u.S directly before a
product of u join the kernel of that product, which reads the entries of u anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

from semirings.dtypes import BOOL, DataType

from .. import tuning
from ..operations.variants import BOTH, LEFT
from .ir import (
    Block,
    Body,
    Const,
    Elementwise,
    Exchange,
    Gather,
    IsoValues,
    MapProduct,
    Masked,
    MultivectorProduct,
    Product,
    Reduce,
    Scal,
    Scatter,
    Stacked,
    Statement,
    Value,
    Vec,
    flat,
)

# ---- Decide which statements share an element-wise kernel: pure functions of what they read and write.


def group_statements(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Group statements into as few kernels as scalars, sizes, index vectors and the limits of a kernel allow."""
    found: list[list[Statement]] = []
    known, places = _Scalars(), _Places()
    size: int | None = None
    for s in statements:
        own, forbidden = size_of(s), known.forbid(s) or places.forbid(s) or not fits_one_kernel([*found[-1:], [s]])
        if not found or forbidden or (own is not None and size is not None and own != size):
            found.append([])
            known, places, size = _Scalars(), _Places(), None
        size = own if size is None else size
        known.add(s)
        places.add(s)
        found[-1].append(s)
    return found


def fits_one_kernel(parts: Sequence[Sequence[Statement]]) -> bool:
    """Whether one kernel can run all these statements."""
    statements = [s for part in parts for s in part]
    vectors = {x for s in statements for x in s.named}
    scalars = {number for s in statements for number in _read(s)}
    sums = sum(isinstance(s.value, Reduce) for s in statements)
    sizes = {"names": len(vectors) + len(scalars), "sums": sums, "statements": len(statements)}
    return all(size <= tuning.count(f"loop.kernel_{what}") for what, size in sizes.items())


def size_of(s: Statement) -> int | None:
    """The number of positions that a statement traverses; None for a statement on scalars alone."""
    if isinstance(s.value, Scatter):
        return s.value.size
    if isinstance(s.target, Vec):
        return s.target.size
    return s.value.u.size if isinstance(s.value, Reduce) else None


def _read(s: Statement) -> set[int]:
    """The scalars that a statement reads."""
    own = {s.target.id} if isinstance(s.target, Scal) and s.accum is not None else set()
    return {t.id for t in s.terms if isinstance(t, Scal)} | own


class _Scalars:
    """The scalars of an element-wise kernel: they are read and computed before all positions; sums follow the
    positions, and then come scalars computed from sums."""

    def __init__(self) -> None:
        self.by_vectors: set[int] = set()
        self.late: set[int] = set()  # written after all positions
        self.read_late: set[int] = set()
        self.written: set[int] = set()

    def is_late(self, s: Statement) -> bool:
        """Whether a statement on scalars alone runs after the sums."""
        if not isinstance(s.target, Scal) or isinstance(s.value, Reduce):
            return False
        return bool(_read(s) & self.late) or s.target.id in self.late | self.read_late

    def forbid(self, s: Statement) -> bool:
        """Whether the statement must go into the next kernel."""
        if not isinstance(s.target, Scal):
            return bool(_read(s) & self.late)
        if isinstance(s.value, Reduce):
            return s.target.id in self.late | self.read_late | self.written
        return not self.is_late(s) and s.target.id in self.by_vectors

    def add(self, s: Statement) -> None:
        if not isinstance(s.target, Scal):
            self.by_vectors |= _read(s)
        elif isinstance(s.value, Reduce):
            self.late.add(s.target.id)
        elif self.is_late(s):
            self.late.add(s.target.id)
            self.read_late |= _read(s)
        else:
            self.written.add(s.target.id)


def late_scalars(statements: Sequence[Statement]) -> list[Statement]:
    """The statements on scalars alone that run after the sums of a kernel, in order."""
    known, found = _Scalars(), []
    for s in statements:
        if known.is_late(s):
            found.append(s)
        known.add(s)
    return found


class _Places:
    """The accesses of an element-wise kernel to positions of other threads: a vector gathered from is not written in
    the same kernel, and a vector scattered to is not accessed otherwise."""

    def __init__(self) -> None:
        self.here: set[Vec] = set()
        self.written: set[Vec] = set()
        self.gathered: set[Vec] = set()
        self.joined: dict[Vec, object] = {}  # by which monoid

    def forbid(self, s: Statement) -> bool:
        """Whether the statement must go into the next kernel."""
        elsewhere = set(s.elsewhere)
        if isinstance(s.value, Scatter):
            others = any(self.joined.get(x, s.value.monoid) != s.value.monoid for x in elsewhere)
            return others or bool(elsewhere & (self.here | self.gathered) or set(s.vectors) & self.joined.keys())
        here = {*s.vectors, *([] if s.written is None else [s.written])}
        if elsewhere & (self.written | self.joined.keys()) or here & self.joined.keys():
            return True
        return s.written in self.gathered or s.written in elsewhere

    def add(self, s: Statement) -> None:
        if s.written is not None:
            self.written.add(s.written)
            self.here.add(s.written)
        self.here.update(s.vectors)
        if isinstance(s.value, Scatter):
            self.joined |= dict.fromkeys(s.elsewhere, s.value.monoid)
        else:
            self.gathered.update(s.elsewhere)


# ---- Select the statements that an advance can run at the entries of its frontier, which it reads anyway.


def statements_at_entries(waiting: list[Statement], u: Vec, target: Vec, mask: Masked | None) -> list[Statement]:
    """The last pending statements that may run at the entries of u together with the product."""
    taken: list[Statement] = []
    for s in reversed(waiting):
        w = s.target
        if not isinstance(w, Vec) or w in (u, target) or s.replace or s.mask != Masked(u, True, False):
            break
        if not isinstance(s.value, Elementwise) or s.value.under is not None:
            break
        if mask is not None and mask.vec == w and not (mask.structure and writes_all(s, u)):
            break
        if not fits_one_kernel([[s, *taken]]):
            break
        taken.insert(0, s)
    return taken


def writes_all(s: Statement, u: Vec) -> bool:
    """Whether a statement under the mask u.S writes a value at every entry of u."""
    e = s.value
    assert isinstance(e, Elementwise)
    certain = e.u == u or (isinstance(e.u, Const) and e.u.value is not None) or (isinstance(e.u, Scal) and e.u.id < 0)
    return e.mode == LEFT and not e.keep and certain


def copies(s: Statement, u: Vec, iso: IsoValues) -> bool:
    """Whether a statement at the entries of u copies their values to a vector with memory for values of this type."""
    e, x = s.value, s.target
    copied = isinstance(e, Elementwise) and e.u == u and e.op is None and e.under is None and writes_all(s, u)
    return copied and isinstance(x, Vec) and x.dtype == u.dtype and not {x.id, u.id} & set(iso)


# ---- Outputs of statements, seen from advances: which worklists stay valid, and which vectors an advance cannot
# write.


def may_add_entries(s: Statement) -> bool:
    """Whether a statement may add entries to its target, a Vector."""
    if not isinstance(s.target, Vec):
        return False
    own = s.mask is not None and s.mask.structure and not s.mask.complement and s.mask.vec == s.target
    return not own and (s.accum is not None or not _is_subset(s.value, s.target))


def _is_subset(value: Value, x: Vec) -> bool:
    """Whether a value has entries only where x has entries."""
    if not isinstance(value, Elementwise):
        return False
    return x in value.terms if value.mode == BOTH else value.mode == LEFT and value.u == x


def same_rows(a: Product, b: Product) -> bool:
    """Whether both products push along the same rows, so that a worklist for one is valid for the other."""
    return a.matrix is b.matrix and (a.transpose, a.flip) == (b.transpose, b.flip)


def indirect_targets(
    statements: Iterable[Statement], is_advance: Callable[[Statement], bool], is_direct: Callable[[Statement], bool]
) -> frozenset[Vec | Scal]:
    """The targets that advances cannot write themselves. An advance clears the buffer for the advance after it by the
    worklist that an advance built. That excludes targets to which other statements add entries, and targets of which
    another list is built, for other rows. Cells are cleared to the identity of the sum, which excludes targets of
    advances with different monoids."""
    found, made, read = set[Vec | Scal](), list[tuple[Vec | Scal, Product]](), list[Product]()
    for s in statements:
        product = s.value if isinstance(s.value, Product) and is_advance(s) else None
        if product is not None:
            read.append(product)
        if product is not None and is_direct(s):
            made.append((s.target, product))
        elif may_add_entries(s):
            found.add(s.target)
    for target, product in made:
        monoids = {x.semiring.op.monoid for t, x in made if t == target}
        if len(monoids) > 1 or any(x.u == target and not same_rows(x, product) for x in read):
            found.add(target)
    return frozenset(found)


# ---- Fuse the statements of a body into the kernels of one round: a pure function.


@dataclass(eq=False)
class FusedElementwise:
    """Fused element-wise statements on vectors of one size, sums and scalars. counted: the loop condition, if computed
    here."""

    kind: ClassVar[str] = "ewise"
    statements: list[Statement] = field(default_factory=list)
    counted: Vec | Scal | None = None
    local: frozenset[int] = frozenset()  # vectors used only in this kernel


@dataclass(eq=False)
class CompactFrontier:
    """Compact a vector into the worklist of the next advance; late: for the next round, if there is one."""

    kind: ClassVar[str] = "compact"
    vec: Vec
    product: Product
    late: bool = False


@dataclass(eq=False)
class Advance:
    """An advance: the push of a frontier (kernels/advance_rows.cuh), with the statements that run at its entries."""

    kind: ClassVar[str] = "advance"
    target: Vec
    product: Product
    mask: Masked | None
    before: tuple[Statement, ...]
    also: bool  # the mask's vector receives the entries of u in `before`
    text: str


@dataclass(eq=False)
class Pull:
    """A product by rows into a separate vector, by the kernels of single statements, or only of the rows that the mask
    lists; or a product with a map."""

    target: Vec
    product: Product
    mask: Masked | None
    text: str

    @property
    def kind(self) -> str:
        return "map" if isinstance(self.product, MapProduct) else "pull"


@dataclass(eq=False)
class Inner:
    """A nested loop inside a round, or the statements under a condition."""

    kind: ClassVar[str] = "block"
    round: Round
    condition: Vec | Scal
    limit: int
    text: str


@dataclass(eq=False)
class Between:
    """Exchanges between ranks that run together."""

    kind: ClassVar[str] = "between"
    statements: list[Statement]


@dataclass(eq=False)
class OnStack:
    """A frontier pushed on a stack or popped from it."""

    kind: ClassVar[str] = "stack"
    statement: Statement
    value: Stacked


Item = FusedElementwise | CompactFrontier | Advance | Pull | Inner | Between | OnStack


@dataclass(frozen=True)
class Round:
    """One round. vectors: those of the body, and those added for products that are merged and for masks by value.
    entering: the frontiers whose worklist the previous round builds, or, before the first round, the start of the
    loop."""

    items: tuple[Item, ...]
    vectors: tuple[Vec, ...]
    entering: dict[Vec, Product]
    begin: tuple[Item, ...] = ()  # once, before the first round
    end: tuple[Item, ...] = ()  # once, after the last

    @property
    def all(self) -> tuple[Item, ...]:
        """All items, including those of nested loops."""
        found: list[Item] = []
        for item in (*self.begin, *self.items, *self.end):
            found += [item, *item.round.all] if isinstance(item, Inner) else [item]
        return tuple(found)

    @property
    def stored(self) -> frozenset[Vec]:
        """The vectors that need memory."""
        local = {number for item in self.all if isinstance(item, FusedElementwise) for number in item.local}
        return frozenset(x for item in self.all for x in touched(item) if isinstance(x, Vec) and x.id not in local)


def fuse(
    body: Body,
    is_advance: Callable[[Statement], bool],
    is_direct: Callable[[Statement], bool],
    condition: Vec | Scal,
    *,
    lists: bool = True,
    by_columns: Callable[[Round, Vec | Scal, int | None], bool] = lambda round_, condition, limit: False,
) -> Round:
    """The kernels of one round.

    is_advance: whether a product can be computed by an advance, that is, by pushing along its frontier. is_direct:
    whether that kernel can write the target itself. condition: the Vec or Scal that is the loop's condition. lists:
    whether an advance needs a worklist built by the previous advance; there is none around a nested loop. by_columns:
    whether the columns of a round's multivectors run each on its own, from the round, the condition, and the limit of a
    nested loop; in other rounds, products with multivectors are pulls.
    """
    return _fuse_loop(_Advances(is_advance, is_direct, lists, by_columns), body, condition, None)


def _fuse_loop(how: _Advances, body: Body, condition: Vec | Scal, limit: int | None) -> Round:
    fused = _fuse(how, body, condition)
    products = [item.product for item in fused.items if isinstance(item, Advance)]
    if not any(isinstance(p, MultivectorProduct) for p in products) or how.by_columns(fused, condition, limit):
        return fused
    of_vectors = lambda s: not isinstance(s.value, MultivectorProduct) and how.is_advance(s)
    return _fuse(how._replace(is_advance=of_vectors), body, condition)


def _fuse(how: _Advances, body: Body, condition: Vec | Scal) -> Round:
    left = _Fusion(how, body, condition, {}).fresh
    kept = {x: made for x, made in left.items() if x in body.vectors}
    rounds = _Fusion(how, body, condition, dict(kept))
    if any(rounds.fresh.get(x) is None for x in kept):  # a worklist that the round itself invalidates
        kept = {}
        rounds = _Fusion(how, body, condition, {})
    # Parts that run once pull, because no earlier round built a worklist.
    counted = condition if isinstance(condition, Scal) else None
    once = replace(body, statements=body.begin, vectors=tuple(rounds.vectors))
    begin = _Fusion(how, once, counted, {}, pulls=True)
    once = replace(body, statements=body.end, vectors=tuple(begin.vectors))
    end = _Fusion(how, once, None, {}, pulls=True)
    items = tuple(rounds.items), tuple(begin.items), tuple(end.items)
    round_ = Round(items[0], tuple(end.vectors), kept, *items[1:])
    _localize(round_.all, body.own)
    return round_


class _Advances(NamedTuple):
    """Which products are advances, as in `fuse`."""

    is_advance: Callable[[Statement], bool]
    is_direct: Callable[[Statement], bool]
    lists: bool
    by_columns: Callable[[Round, Vec | Scal, int | None], bool]


def _localize(items: Sequence[Item], own: frozenset[Vec]) -> None:
    """Vectors that are used by one element-wise kernel only, which writes them before it reads them, need no memory."""
    elementwise = [item for item in items if isinstance(item, FusedElementwise)]
    for x in own:
        uses = [item for item in items if x in touched(item)]
        if len(uses) == 1 and (only := uses[0]) in elementwise and isinstance(only, FusedElementwise):
            mine = [s for s in only.statements if x in s.named]
            if mine[0].written == x and x not in mine[0].vectors and not any(x in s.elsewhere for s in mine):
                only.local |= {x.id}


def touched(item: Item) -> set[Vec | Scal]:
    """The vectors and scalars that an item reads or writes; of a nested loop, its condition."""
    if isinstance(item, (FusedElementwise, Between)):
        return {x for s in item.statements for x in s.named}
    if isinstance(item, CompactFrontier):
        return {item.vec}
    if isinstance(item, OnStack):
        return {x for x in (item.value.u, item.statement.target) if isinstance(x, Vec)}
    if isinstance(item, Inner):
        return {item.condition} if isinstance(item.condition, Vec) else set()
    before = item.before if isinstance(item, Advance) else ()
    found = {x for s in before for x in (*s.vectors, s.target)}
    return found | {item.target, item.product.u, *([] if item.mask is None else [item.mask.vec])}


class _Fusion:
    """The items of one part of a body, statement by statement. fresh: frontiers whose worklist is still valid, with the
    product that built it; at the end, those valid then. pulls: no product is an advance.

    A product that needs a worklist is no advance around nested loops either: after these, frontiers are in their first
    buffers, so no advance there may write a vector whose buffers rotate."""

    def __init__(
        self,
        how: _Advances,
        body: Body,
        condition: Vec | Scal | None,
        fresh: dict[Vec, Product],
        *,
        pulls: bool = False,
    ) -> None:
        self.how, self.condition, self.fresh = how, condition, fresh
        self.around = any(isinstance(s, Block) for s in body.statements)
        self.pulls = pulls or (how.lists and self.around)
        self.items: list[Item] = []
        self.vectors = list(body.vectors)
        self.waiting: list[Statement] = []  # element-wise statements that belong to no kernel yet
        self.advances: dict[Vec, Product] = {}  # the last advance of each vector
        direct = not (self.around or self.pulls)
        # Rounds with advances are repeated in a run of the body, so that pulls of the last ones run in vain.
        self.advancing = any(isinstance(s.value, Product) and how.is_advance(s) for s in flat(body.statements))
        self.indirect = indirect_targets(flat(body.statements), lambda s: direct and how.is_advance(s), how.is_direct)
        for s in body.statements:
            self._add(s)
        self._count_complete(body)
        self._flush()
        _count(self.items, condition)

    def _add(self, s: Statement | Block) -> None:
        if isinstance(s, Block):
            self._flush()
            for inside in flat((s,)):
                self._invalidate(inside)
            self.items.append(inner := _inner(s, tuple(self.vectors), self.how))
            self.vectors = list(inner.round.vectors)
        elif isinstance(s.value, Exchange):
            self._exchange(s, s.value)
        elif isinstance(s.value, Product):
            self._product(s, s.value)
        elif isinstance(s.value, Stacked):
            if s.value.what != "push" or any(w.written == s.value.u for w in self.waiting):
                self._flush()
            self.items.append(OnStack(s, s.value))
            self._invalidate(s)
        else:
            if isinstance(s.value, Gather) and s.target == s.value.source:  # gathered from while it is written
                t = self._vector(s.target.size, s.target.dtype)
                self.waiting.append(Statement(t, s.value, s.mask, None, s.mask is not None, s.text))
                s = replace(s, value=Elementwise(LEFT, None, t))
            self.waiting.append(s)
            self._invalidate(s)

    def _vector(self, size: int, dtype: DataType) -> Vec:
        """A new vector."""
        self.vectors.append(x := Vec(1 + max(x.id for x in self.vectors), size, dtype))
        return x

    def _flush(self) -> None:
        self.items.extend(FusedElementwise(found) for found in group_statements(self.waiting))
        self.waiting.clear()

    def _invalidate(self, s: Statement) -> None:
        """A worklist stays valid as long as entries are only removed."""
        if s.target in self.fresh and may_add_entries(s):
            del self.fresh[s.target]

    def _exchange(self, s: Statement, e: Exchange) -> None:
        self._flush()
        last = self.items[-1] if self.items else None
        if not isinstance(last, Between) or any(x.target in (e.u, s.target) for x in last.statements):
            self.items.append(last := Between([]))
        last.statements.append(s)
        self._invalidate(s)
        if isinstance(s.target, Vec) and s.target == self.condition and s.target in self.advances:
            self.fresh[s.target] = product = self.advances[s.target]
            self.items.append(CompactFrontier(s.target, product, late=True))

    def _product(self, s: Statement, product: Product) -> None:
        advance = not self.pulls and self.how.is_advance(s)
        target = s.target
        assert isinstance(target, Vec)
        if isinstance(product, MapProduct):  # its target is written by nothing else (symbolic/maps.py)
            self._flush()
            self.items.append(Pull(target, product, None, s.text))
            return
        if s.mask is not None and not s.mask.structure:
            m = self._vector(target.size, BOOL)
            true = Elementwise(LEFT, None, Const(BOOL, BOOL.np_type.type(True)))
            self.waiting.append(Statement(m, true, Masked(s.mask.vec, False, False), None, True, "the mask of values"))
            s = replace(s, mask=Masked(m, True, s.mask.complement))
        direct = not self.around and self.how.is_direct(s)
        direct = direct and (target not in self.indirect if advance else self._is_pulled_directly(s, product))
        if not direct:
            target = self._vector(product.outer, product.semiring.return_type)
        if advance:
            self._advance(s, product, target)
        else:
            self._flush()
            self.items.append(Pull(target, product, s.mask, s.text))
            self.fresh.pop(target, None)
        if not direct:
            self.waiting.append(replace(s, value=Elementwise(LEFT, None, target)))
            self._invalidate(self.waiting[-1])

    def _is_pulled_directly(self, s: Statement, product: Product) -> bool:
        """Whether a pull may write the target itself: that of a multivector, which writes every word, if it does not
        read the target, and never runs in vain."""
        reads = {product.u, self.condition, *([] if s.mask is None else [s.mask.vec])}
        return isinstance(product, MultivectorProduct) and not self.advancing and s.target not in reads

    def _advance(self, s: Statement, product: Product, target: Vec) -> None:
        known = self.fresh.get(product.u)
        before = statements_at_entries(self.waiting, product.u, target, s.mask)
        if before:
            del self.waiting[-len(before) :]
        self._flush()
        if known is None or not same_rows(known, product):
            self.items.append(CompactFrontier(product.u, product))
            self.fresh.pop(product.u, None)  # there is only one worklist
        self.advances[product.u] = product
        also = s.mask is not None and any(b.target == s.mask.vec for b in before)
        self.items.append(Advance(target, product, s.mask, tuple(before), also, s.text))
        self.fresh[target] = product
        for b in before:
            self._invalidate(b)

    def _count_complete(self, body: Body) -> None:
        """Count a condition that a block, an exchange, a scatter or a stack wrote last when it is complete."""
        condition = self.condition
        writes = lambda s: any(x.target == condition for x in flat((s,)))
        wrote = next((s for s in reversed(body.statements) if writes(s)), None)
        late_writers = Exchange, Scatter, Stacked
        whole = isinstance(wrote, Block) or (wrote is not None and isinstance(wrote.value, late_writers))
        late = any(isinstance(item, CompactFrontier) and item.late for item in self.items)
        if condition is not None and whole and not late:
            self.waiting.append(Statement(condition, Elementwise(LEFT, None, condition), text="the condition"))


def _inner(block: Block, vectors: tuple[Vec, ...], how: _Advances) -> Inner:
    """Statements under a condition run once, so they pull if an advance would need a worklist."""
    advances = how.is_advance if block.limit > 1 or not how.lists else lambda s: False
    body = Body(block.statements, vectors, ())
    round_ = _fuse_loop(how._replace(is_advance=advances), body, block.condition, block.limit)
    return Inner(round_, block.condition, block.limit, block.text)


def _count(items: list[Item], condition: Vec | Scal | None) -> None:
    """Mark the kernel that computes the condition: the last element-wise kernel that writes it, unless an advance
    writes it later."""
    for item in reversed(items):
        if (isinstance(item, Advance) and item.target == condition) or (
            isinstance(item, CompactFrontier) and item.late
        ):
            return
        if isinstance(item, FusedElementwise) and any(s.target == condition for s in item.statements):
            item.counted = condition
            return


def recount(condition: Vec | Scal) -> FusedElementwise:
    """An element-wise kernel that counts a condition, and changes nothing."""
    return FusedElementwise([Statement(condition, Elementwise(LEFT, None, condition), text="the condition")], condition)


# ---- The text of `explain` for a round: one line per launch.


class Line(NamedTuple):
    """One launch of a round: an advance, an element-wise kernel ("ewise"), a pull, a product with a map ("map": all its
    kernels) or the compaction of a frontier ("compact"); its statements; its variant. For a nested loop: "block", the
    condition, the rounds in a run of its body, followed by its launches."""

    kind: str
    statements: tuple[str, ...]
    variant: str


def statement_texts(item: Item) -> tuple[str, ...]:
    """The statements that a kernel runs."""
    if isinstance(item, (FusedElementwise, Between)):
        return tuple(s.text for s in item.statements)
    if isinstance(item, Advance):
        return (*(s.text for s in item.before), item.text)
    if isinstance(item, OnStack):
        return (item.statement.text,)
    return (item.text,) if isinstance(item, Pull) else ()
