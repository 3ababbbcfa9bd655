"""Docstrings of the reference in NumPy's style, from the dense form of the sources: an extension of griffe."""

from __future__ import annotations

from typing import Any

import griffe

from bitblas import docstrings


class NumpyStyle(griffe.Extension):
    """Converts the docstrings of functions and classes; a class describes the parameters of `__init__`."""

    def on_package(self, *, pkg: griffe.Module, loader: Any, **kwargs: Any) -> None:
        self._convert(pkg, set())

    def _convert(self, thing: Any, seen: set[str]) -> None:
        if thing.is_alias or thing.path in seen:
            return
        seen.add(thing.path)
        for member in thing.members.values():
            self._convert(member, seen)
        if thing.docstring is None or not (thing.is_function or thing.is_class):
            return
        call = thing if thing.is_function else thing.members.get("__init__")
        found = call.parameters if call is not None and not call.is_alias and call.is_function else ()
        optional = [p.name for p in found if p.default is not None]
        thing.docstring.value = docstrings.numpy_style(
            thing.docstring.value, [p.name for p in found], optional=optional
        )
