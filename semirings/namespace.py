"""Operator namespaces in python-graphblas's style: `semiring.min_plus`, `binary["plus"]`, `unary.mine.twice`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, TypeAlias

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
            found = self._made(name, found)
        if found is None and self._missing is not None and not name.startswith("_"):
            found = self._missing(name)
        return found

    def _made(self, name: str, entry: Delayed) -> Entry:
        try:
            self._entries[name] = entry.make()
        except ValueError:
            del self._entries[name]
            raise
        return self._entries.get(name)

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

    def _refuse_taken(self, name: str) -> None:
        """AttributeError if the name is taken; otherwise like `_place`."""
        space, last = self._place(name)
        if last in space:
            raise AttributeError(f"{self._family}.{name} is already defined")

    def _add(self, name: str, operator: Entry) -> None:
        """Add an operator under a name that may have dots. AttributeError if the name is taken."""
        self._refuse_taken(name)
        space, last = self._place(name)
        space._entries[last] = operator

    def _help(self, **helpers: object) -> None:
        """Add attributes that are not operators."""
        self._helpers.update(helpers)

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
