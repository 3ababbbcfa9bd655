"""Operator namespaces in python-graphblas's style: `semiring.min_plus`, `binary["plus"]`, `unary.mine.twice`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any


class Delayed:
    """An entry that is made when it is asked for, and goes where it cannot be made (ValueError)."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


class Namespace:
    """Operators by name; iterates over the names.

    `missing` may make an entry on demand (semirings are the product of two lists), and `names` are those that it can
    make, for dir(). `helpers` are what else stands in the namespace (from_string, register_new, numpy), which iterating
    leaves out. A name with dots leads through namespaces inside this one.
    """

    def __init__(
        self,
        family: str,
        entries: MutableMapping[str, Any],
        missing: Callable[[str], Any] | None = None,
        names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._family, self._entries, self._missing, self._names = family, entries, missing, names
        self._helpers: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if "_helpers" not in self.__dict__:  # while it is unpickled or copied
            raise AttributeError(name)
        found = self._find(name)
        if found is None and name not in self._helpers:
            raise AttributeError(f"{self._family} has no operator {name!r}; known: {', '.join(self._entries)}")
        if name in self._entries:  # as an attribute it is found without this function, which a statement would notice
            self.__dict__[name] = found
        return self._helpers[name] if found is None else found

    def __delattr__(self, name: str) -> None:
        if name not in self._entries:
            raise AttributeError(f"{self._family} has no operator {name!r}")
        del self._entries[name]
        self.__dict__.pop(name, None)

    def _find(self, name: str) -> Any:
        """The operator, or the namespace inside this one; None where there is none."""
        found = self._entries.get(name)
        if isinstance(found, Delayed):
            found = self._made(name, found)
        if found is None and self._missing is not None and not name.startswith("_"):
            found = self._missing(name)
        return found

    def _made(self, name: str, entry: Delayed) -> Any:
        try:
            self._entries[name] = entry.make()
        except ValueError:
            del self._entries[name]
            raise
        return self._entries.get(name)

    def __getitem__(self, name: str) -> Any:
        head, dot, rest = name.partition(".")
        found = getattr(self, head)
        if dot and not isinstance(found, Namespace):
            raise AttributeError(f"{self._family}.{head} is an operator, not a namespace")
        return found[rest] if dot else found

    @property
    def ss(self) -> Namespace:
        """python-graphblas keeps SuiteSparse's positional operators here; in bitblas they are the same entries."""
        return self

    def _place(self, name: str) -> tuple[Namespace, str]:
        """The namespace that a dotted name lies in, made where it is missing, and the last part of the name.

        Raises ValueError for what is no name, AttributeError where an operator or a helper stands in the way.
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
        """AttributeError where the name is taken; otherwise as `_place`."""
        space, last = self._place(name)
        if last in space:
            raise AttributeError(f"{self._family}.{name} is already defined")

    def _add(self, name: str, operator: Any) -> None:
        """Enter an operator under a name that may have dots. AttributeError where the name is taken."""
        self._refuse_taken(name)
        space, last = self._place(name)
        space._entries[last] = operator

    def _help(self, **helpers: Any) -> None:
        """Add what is no operator."""
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
        """What `from bitblas.semiring import *` takes: all that has a name."""
        return list(dict.fromkeys((*self._entries, *self._names())))

    def __repr__(self) -> str:
        return f"<{self._family}: {', '.join(self._entries)}>"
