"""Cached property: a value computed once per object."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:
        """functools.cached_property of Python 3.12. Earlier versions held one lock for all objects during the
        computation, and a fork at that moment left it locked in the child forever.
        """

        def __init__(self, compute: Callable[[Any], object]) -> None:
            self.compute, self.__doc__ = compute, compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            if instance is None:
                return self
            found = self.compute(instance)
            # object.__setattr__ bypasses frozen classes. instance.__dict__ is avoided: materializing it makes all
            # attribute reads four times slower.
            object.__setattr__(instance, self.name, found)
            return found
