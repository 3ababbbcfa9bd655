"""Operator namespaces in python-graphblas's style: `semiring.min_plus`, `binary["plus"]`, `unary.mine.twice`.

Also operators from text, and select's deferred comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from . import numpy_operators
from .algebra import AnyOperator, Monoid, Semiring, compose
from .catalog import BINARY, INDEXUNARY, MONOIDS, PARAMETERIZED, SELECT, SEMIRINGS, UNARY, find_semiring, semiring_names
from .operators import Applicable, BinaryOp, Parameterized, Typed, monoid_of
from .registration import register

if TYPE_CHECKING:
    from . import names

Entry: TypeAlias = Any  # an operator, a nested Namespace, or a Delayed; typing it would need every operator class


class Delayed:
    """An entry that is created at first access, and removed if that raises ValueError."""

    def __init__(self, make: Callable[[], Entry]) -> None:
        self.make = make


class Namespace:
    """Operators by name; iterates over the names.

    `missing` may create an entry on demand (semirings are a product of two lists); `names` lists those entries for
    dir(). `helpers` are other attributes (from_string, register_new, numpy), which iteration omits. A dotted name goes
    through nested namespaces.
    """

    def __init__(
        self,
        family: str,
        entries: MutableMapping[str, Entry],
        missing: Callable[[str], Entry] | None = None,
        names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._family, self._entries, self._missing, self._names = family, entries, missing, names
        self._helpers: dict[str, object] = {}

    def __getattr__(self, name: str) -> Any:
        if "_helpers" not in self.__dict__:  # during unpickling or copying
            raise AttributeError(name)
        found = self._find(name)
        if found is None and name not in self._helpers:
            raise AttributeError(f"{self._family} has no operator {name!r}; known: {', '.join(self._entries)}")
        if name in self._entries:  # cache as an attribute: calling __getattr__ is measurable in a statement
            self.__dict__[name] = found
        return self._helpers[name] if found is None else found

    def __delattr__(self, name: str) -> None:
        if name not in self._entries:
            raise AttributeError(f"{self._family} has no operator {name!r}")
        del self._entries[name]
        self.__dict__.pop(name, None)

    def _find(self, name: str) -> Entry:
        """The operator or nested namespace, or None."""
        found = self._entries.get(name)
        if isinstance(found, Delayed):
            try:
                found = self._entries[name] = found.make()
            except ValueError:
                del self._entries[name]
                raise
        if found is None and self._missing is not None and not name.startswith("_"):
            found = self._missing(name)
        return found

    def __getitem__(self, name: str) -> Entry:
        head, dot, rest = name.partition(".")
        found = getattr(self, head)
        if dot and not isinstance(found, Namespace):
            raise AttributeError(f"{self._family}.{head} is an operator, not a namespace")
        return found[rest] if dot else found

    @property
    def ss(self) -> Namespace:
        """python-graphblas's namespace of SuiteSparse's positional operators; in bitblas the same entries."""
        return self

    def _place(self, name: str) -> tuple[Namespace, str]:
        """The namespace of a dotted name, created if missing, and the last part of the name.

        ValueError for an invalid name, AttributeError if a part of the path is an operator or a helper.
        """
        *path, last = name.split(".")
        if not all(part.isidentifier() and not part.startswith("_") for part in (*path, last)):
            raise ValueError(f"name: expected identifiers, with dots between them, got {name!r}")
        space = self
        for part in path:
            known = space._entries.get(part, space._helpers.get(part))
            if known is None:
                known = space._entries[part] = Namespace(f"{space._family}.{part}", {})
            if not isinstance(known, Namespace):
                raise AttributeError(f"{space._family}.{part} is already defined. Cannot use as a nested path.")
            space = known
        return space, last

    def _add(self, name: str, make: Callable[[], Entry], lazy: bool = False) -> Entry:
        """Add an operator under a name that may have dots, and return it; lazy: it is made at first access, and None is
        returned. AttributeError if the name is taken.
        """
        space, last = self._place(name)
        made = Delayed(make) if lazy or last in space else make()
        if last in space:  # before, or because `make` has added it
            raise AttributeError(f"{self._family}.{name} is already defined")
        space._entries[last] = made
        return None if lazy else made

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: str) -> bool:
        head, dot, rest = name.partition(".")
        found = self._entries.get(head, self._helpers.get(head))
        return found is not None and (not dot or (isinstance(found, Namespace) and rest in found))

    def __dir__(self) -> list[str]:
        return [*self.__all__, *self._helpers, "ss"]

    @property
    def __all__(self) -> list[str]:
        """The names for `from bitblas.semiring import *`."""
        return list(dict.fromkeys((*self._entries, *self._names())))

    def __repr__(self) -> str:
        return f"<{self._family}: {', '.join(self._entries)}>"


# ---- Operators from text: "min", "+", "min_plus[FP32]", "min.plus", "+[int]", "numpy.add", as in python-graphblas.

_COMPARISONS = {
    "<": "valuelt", ">": "valuegt", "<=": "valuele", ">=": "valuege", "!=": "valuene", "==": "valueeq",
    "col<=": "colle", "col>": "colgt", "row<=": "rowle", "row>": "rowgt", "index<=": "indexle", "index>": "indexgt",
}  # fmt: skip
SYMBOLS: dict[str, dict[str, str]] = {
    "unary": {"-": "ainv", "~": "lnot"},
    "binary": {
        "<": "lt", ">": "gt", "<=": "le", ">=": "ge", "!=": "ne", "==": "eq", "+": "plus", "-": "minus", "*": "times",
        "/": "truediv", "//": "floordiv", "%": "numpy.mod", "**": "pow", "&": "land", "|": "lor", "^": "lxor",
    },
    "monoid": {"==": "eq", "+": "plus", "*": "times", "&": "land", "|": "lor", "^": "lxor"},
    "semiring": {},
    "indexunary": _COMPARISONS,
    "select": _COMPARISONS,
}  # fmt: skip
EXAMPLES = {
    "unary": "abs[int]", "binary": "+[int]", "monoid": "+[int]", "semiring": "min.+[int]", "indexunary": "rowindex",
    "select": "tril",
}  # fmt: skip
# The order in which `op.from_string` tries the families.
ORDER = ("unary", "binary", "monoid", "semiring", "indexunary", "select")


def from_string(family: str, text: str) -> AnyOperator | Typed[Applicable]:
    """The operator of a family that a text names; `name[dtype]` gives a typed one. ValueError for unknown text."""
    base, bracket, dtype = text.strip().partition("[")
    if (bracket and not dtype.endswith("]")) or "]" in base or "[" in dtype:
        raise _unknown(family, text, "brackets do not match")
    name = SYMBOLS[family].get(base.lower(), base)
    found = _named(SPACES[family], name)
    if found is None and family == "semiring" and "." in base:
        add, _, multiply = base.partition(".")
        found = get_semiring(from_string("monoid", add), from_string("binary", multiply))
    if found is None:
        raise _unknown(family, text, f"expected one of {', '.join((*SYMBOLS[family], *SPACES[family]))}")
    return found[dtype[:-1]] if bracket else found


def any_from_string(text: str) -> AnyOperator | Typed[Applicable]:
    """The operator of any family that a text names. ValueError for unknown text."""
    for family in ORDER:
        try:
            return from_string(family, text)
        except (ValueError, KeyError):
            continue
    raise ValueError(f"op: expected the name of an operator such as 'min', '+' or 'min_plus', got {text!r}")


def _named(space: Namespace, name: str) -> Any:
    """The operator, by its name or in lower case; NumPy's names are tried last."""
    for spelled in dict.fromkeys((name, name.lower(), f"numpy.{name}")):
        try:
            found = space[spelled]
        except AttributeError:
            continue
        if hasattr(found, "types") or isinstance(found, Parameterized):
            return found
    return None


def _unknown(family: str, text: str, why: str) -> ValueError:
    return ValueError(f"op: Unknown {family} string {text!r}: {why}. Example usage: {EXAMPLES[family]!r}")


def get_semiring(
    monoid: object, binaryop: object, name: str | None = None, *, space: Namespace | None = None
) -> Semiring | Typed[Semiring]:
    """The semiring of a monoid (or a BinaryOp that has one) and a BinaryOp (or the one of a Monoid); typed if one of
    them is. With a name, it is also entered in `space`, unless the name is taken. TypeError for other operators.
    """
    add, multiply = (op.op if isinstance(op, Typed) else op for op in (monoid, binaryop))
    found = monoid_of(add) if isinstance(add, BinaryOp) else add
    if not isinstance(found, Monoid):
        raise TypeError(f"monoid: expected a Monoid, or a BinaryOp that has one, got {monoid!r}")
    if isinstance(multiply, Monoid) and isinstance(add, BinaryOp):
        raise TypeError(f"expected (monoid, binaryop), got {monoid!r} and {binaryop!r}: are they switched?")
    multiply = multiply.binaryop if isinstance(multiply, Monoid) else multiply
    if not isinstance(multiply, BinaryOp):
        raise TypeError(f"binaryop: expected a BinaryOp, got {binaryop!r}")
    ring = compose(found, multiply)
    if name is not None and space is not None and name not in space:
        space._add(name, lambda: ring)
    for op in (binaryop, monoid):
        if isinstance(op, Typed):
            return ring[op.dtype]
    return ring


# ---- Deferred comparisons for select: `select.value(A > 3)`, `select.row(A <= 2)`, `select.column`, `select.index`.

_TESTS = ("eq", "ne", "lt", "le", "gt", "ge")
_PREFIX = {"value": "value", "row": "row", "column": "col", "index": "index"}


def _select_of_comparison(what: str, expr: Any) -> object:
    """The select for a comparison with a scalar: `select.value(A > 3)` is A.select(valuegt, 3). Comparisons of
    positions are <, <=, > and >=. TypeError for other expressions, ValueError for other comparisons.
    """
    op = getattr(expr, "op", None)
    found = op.op if isinstance(op, Typed) else None
    method = "apply" if getattr(expr, "ndim", None) else "ewise_mult"  # comparing a Scalar is an ewise_mult
    if getattr(expr, "method", None) != method or not isinstance(found, BinaryOp) or len(expr.args) != 2:
        raise TypeError(
            f"Expected ScalarExpression, VectorExpression, or MatrixExpression that compares with a scalar; "
            f"found {type(expr).__name__}. Typical usage: select.{what}(x <= 5)"
        )
    tensor, thunk = expr.args
    test = found.name.removeprefix("is")
    if test not in _TESTS:
        raise ValueError(f"select.{what}: expected a comparison, got {found!r}")
    if what != "value" and test in ("lt", "ge"):  # C API 2.1 only has le and gt
        test, thunk = {"lt": "le", "ge": "gt"}[test], int(thunk) - 1
    if f"{_PREFIX[what]}{test}" not in select:
        raise ValueError(f"Unknown or unregistered select method: {_PREFIX[what]}{test}")
    return tensor.select(select[f"{_PREFIX[what]}{test}"], thunk)


# ---- The public namespaces: unary, binary, indexunary, select, monoid, semiring, op.

unary = cast("names.UnaryNames", Namespace("unary", dict(UNARY)))
binary = cast("names.BinaryNames", Namespace("binary", {**BINARY, **PARAMETERIZED}))
indexunary = cast("names.IndexunaryNames", Namespace("indexunary", dict(INDEXUNARY)))
indexbinary = cast("names.IndexbinaryNames", Namespace("indexbinary", {}))
select = cast("names.SelectNames", Namespace("select", dict(SELECT)))
monoid = cast("names.MonoidNames", Namespace("monoid", dict(MONOIDS)))
semiring = cast("names.SemiringNames", Namespace("semiring", dict(SEMIRINGS), find_semiring, semiring_names))


def _of_all(name: str, spaces: Sequence[Namespace]) -> Namespace:
    """A namespace with the names of several; the first namespace that has a name wins."""
    find = lambda key: next((found for space in spaces if (found := space._find(key)) is not None), None)
    return Namespace(name, {}, find, lambda: (key for space in spaces for key in space.__all__))


op = cast("names.OpNames", _of_all("op", (unary, binary, monoid, semiring)))
SPACES: dict[str, Namespace] = {
    "unary": unary,
    "binary": binary,
    "indexunary": indexunary,
    "select": select,
    "monoid": monoid,
    "semiring": semiring,
    "indexbinary": indexbinary,
}
_LISTS = numpy_operators.MONOID_NAMES, numpy_operators.BINARY_NAMES
_NUMPY = {
    "unary": Namespace("unary.numpy", numpy_operators.UNARY_NAMES),
    "binary": Namespace("binary.numpy", numpy_operators.BINARY_NAMES),
    "monoid": Namespace("monoid.numpy", numpy_operators.MONOID_NAMES),
    "semiring": Namespace(
        "semiring.numpy", {}, lambda name: find_semiring(name, *_LISTS), lambda: semiring_names(*_LISTS)
    ),
}

for _family in ORDER:
    SPACES[_family]._helpers["from_string"] = partial(from_string, _family)
for _family, _space in _NUMPY.items():
    SPACES[_family]._helpers["numpy"] = _space
op._helpers.update(numpy=_of_all("op.numpy", [*_NUMPY.values()]), from_string=any_from_string)
semiring._helpers["get_semiring"] = partial(get_semiring, space=semiring)
select._helpers.update({what: partial(_select_of_comparison, what) for what in _PREFIX})
register(SPACES)
