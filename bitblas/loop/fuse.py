"""From the statements of a body to the kernels of one round: a pure function.

Statements that treat every position by itself fuse into passes; those under the mask u.S that stand right before a
product of u go into the kernel of that product, which looks at the entries of u anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from semirings.dtypes import BOOL

from .ir import Body, Const, Masked, Pointwise, Product, Reduce, Scal, Statement, Term, Vec
from .pointwise import is_subset


@dataclass(eq=False)
class Pass:
    """Fused statements over vectors of one size, sums and scalars. counted: the loop's condition, if made here."""

    statements: list[Statement] = field(default_factory=list)
    counted: Vec | Scal | None = None


@dataclass(eq=False)
class Activate:
    """The list of a vector's entries, for the step that follows."""

    vec: Vec
    product: Product


@dataclass(eq=False)
class Step:
    """A product of a frontier by pushing (see step.cu), with the statements that go along at its entries."""

    target: Vec
    product: Product
    mask: Masked | None
    before: tuple[Statement, ...]
    also: bool  # the mask's vector takes up the entries of u in `before`
    text: str


@dataclass(eq=False)
class Pull:
    """A product by rows into a vector of its own, by the kernels of single statements."""

    target: Vec
    product: Product
    mask: Masked | None
    text: str


Item = Pass | Activate | Step | Pull


@dataclass(frozen=True)
class Round:
    """One round. vectors: those of the body, and those that were added for products that merge and masks of values.
    entering: the frontiers whose list the round before made, and before
    the first round whoever starts the loop."""

    items: tuple[Item, ...]
    vectors: tuple[Vec, ...]
    entering: dict[Vec, Product]


def fuse(
    body: Body, is_step: Callable[[Statement], bool], is_direct: Callable[[Statement], bool], condition: Vec | Scal
) -> Round:
    """The kernels of one round.

    is_step: whether a product can be made by pushing along its frontier; is_direct: whether its kernel can write the
    target itself. condition: the Vec or Scal that the loop goes on by.
    """
    _, _, left = _fuse(body, is_step, is_direct, condition, {})
    kept = {x: p for x, p in left.items() if x in body.vectors}
    items, vectors, left = _fuse(body, is_step, is_direct, condition, dict(kept))
    if any(left.get(x) is None for x in kept):  # a list that the round itself spoils
        kept = {}
        items, vectors, _ = _fuse(body, is_step, is_direct, condition, {})
    return Round(tuple(items), tuple(vectors), kept)


def _fuse(
    body: Body, is_step: Callable[[Statement], bool], is_direct: Callable[[Statement], bool], condition: Any,
    fresh: dict[Vec, Product],
) -> tuple[list[Item], list[Vec], dict[Vec, Product]]:  # fmt: skip
    """fresh: frontiers whose list is still good, by the product that made it; those at the end come back."""
    items: list[Item] = []
    vectors = list(body.vectors)
    waiting: list[Statement] = []

    def flush() -> None:
        items.extend(_passes(waiting))
        waiting.clear()

    for s in body.statements:
        if not isinstance(s.value, Product):
            waiting.append(s)
            _grown(fresh, s)
            continue
        product = s.value
        step = is_step(s)
        target = s.target
        assert isinstance(target, Vec)
        if s.mask is not None and not s.mask.structure:
            m = Vec(len(vectors), target.size, BOOL)
            vectors.append(m)
            true = Pointwise(0, None, Const(BOOL, BOOL.np_type.type(True)))
            waiting.append(Statement(m, true, Masked(s.mask.vec, False, False), None, True, "the mask of values"))
            s = replace(s, mask=Masked(m, True, s.mask.complement))
        direct = step and is_direct(s)
        if not direct:
            target = Vec(len(vectors), product.outer, product.semiring.return_type)
            vectors.append(target)
        if step:
            before = _along(waiting, product.u, target, s.mask)
            if before:
                del waiting[len(waiting) - len(before) :]
            flush()
            known = fresh.get(product.u)
            if known is None or not _same_rows(known, product):
                items.append(Activate(product.u, product))
            also = s.mask is not None and any(b.target == s.mask.vec for b in before)
            items.append(Step(target, product, s.mask, tuple(before), also, s.text))
            fresh[target] = product
            for b in before:
                _grown(fresh, b)
        else:
            flush()
            items.append(Pull(target, product, s.mask, s.text))
        if not direct:
            merge = replace(s, value=Pointwise(0, None, target))
            waiting.append(merge)
            _grown(fresh, merge)
    flush()
    _count(items, condition)
    return items, vectors, fresh


def _grown(fresh: dict[Vec, Product], s: Statement) -> None:
    """A list stays good while entries only go away."""
    if isinstance(s.target, Vec) and s.target in fresh and (s.accum is not None or not is_subset(s.value, s.target)):
        del fresh[s.target]


def _same_rows(a: Product, b: Product) -> bool:
    return a.matrix is b.matrix and (a.transpose, a.flip) == (b.transpose, b.flip)


def _along(waiting: list[Statement], u: Vec, target: Vec, mask: Masked | None) -> list[Statement]:
    """The last statements that wait which may run at the entries of u while the product runs."""
    taken: list[Statement] = []
    for s in reversed(waiting):
        w = s.target
        if not isinstance(w, Vec) or w in (u, target) or s.replace or s.mask != Masked(u, True, False):
            break
        if not isinstance(s.value, Pointwise) or s.value.under is not None:
            break
        if mask is not None and mask.vec == w and not (mask.structure and _always(s.value, u)):
            break
        taken.insert(0, s)
    if mask is not None and mask.vec == u:
        return taken  # the mask reads what no statement here writes
    return taken


def _always(e: Pointwise, u: Vec) -> bool:
    """Whether the value is there at every entry of u."""
    certain = e.u == u or (isinstance(e.u, Const) and e.u.value is not None) or (isinstance(e.u, Scal) and e.u.id < 0)
    return e.mode == 0 and not e.keep and certain


def _passes(statements: list[Statement]) -> list[Pass]:
    """Statements fused as far as scalars and sizes allow."""
    found: list[Pass] = []
    known = _Scalars()
    size: int | None = None
    for s in statements:
        own = size_of(s)
        if not found or known.forbid(s) or (own is not None and size is not None and own != size):
            found.append(Pass())
            known, size = _Scalars(), None
        size = own if size is None else size
        known.add(s)
        found[-1].statements.append(s)
    return found


def size_of(s: Statement) -> int | None:
    """The positions that a statement goes through; None for one on scalars alone."""
    if isinstance(s.target, Vec):
        return s.target.size
    return s.value.u.size if isinstance(s.value, Reduce) else None


def _scalars_read(s: Statement) -> set[int]:
    terms: tuple[Term, ...] = s.value.terms + s.value.defaults if isinstance(s.value, Pointwise) else ()
    return {t.id for t in terms if isinstance(t, Scal)}


class _Scalars:
    """What a pass does with scalars: they are read and computed before all positions, sums come after them."""

    def __init__(self) -> None:
        self.by_vectors: set[int] = set()
        self.sums: set[int] = set()
        self.written: set[int] = set()

    def forbid(self, s: Statement) -> bool:
        """Whether the statement must wait for the next pass."""
        if _scalars_read(s) & self.sums:
            return True
        if not isinstance(s.target, Scal):
            return False
        known = self.by_vectors | self.sums
        return s.target.id in (known | self.written if isinstance(s.value, Reduce) else known)

    def add(self, s: Statement) -> None:
        if isinstance(s.target, Vec):
            self.by_vectors |= _scalars_read(s)
        elif isinstance(s.value, Reduce):
            self.sums.add(s.target.id)
        else:
            self.written.add(s.target.id)


def _count(items: list[Item], condition: Vec | Scal) -> None:
    """Where the condition is known: in the last pass that writes it, unless a step writes it later."""
    for item in reversed(items):
        if isinstance(item, Step) and item.target == condition:
            return
        if isinstance(item, Pass) and any(_is(s.target, condition) for s in item.statements):
            item.counted = condition
            return


def _is(target: Any, condition: Any) -> bool:
    return type(target) is type(condition) and target.id == condition.id
