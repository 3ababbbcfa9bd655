"""The namespaces that programs use: unary, binary, indexunary, select, monoid, semiring, op."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import comparisons, numpy_names
from .catalog import BINARY, INDEXUNARY, MONOIDS, PARAMETERIZED, SELECT, SEMIRINGS, UNARY, find_semiring
from .namespace import Namespace
from .registration import register
from .text import ORDER, any_from_string, from_string, get_semiring

unary = Namespace("unary", dict(UNARY))
binary = Namespace("binary", {**BINARY, **PARAMETERIZED})
indexunary = Namespace("indexunary", dict(INDEXUNARY))
select = Namespace("select", dict(SELECT))
monoid = Namespace("monoid", dict(MONOIDS))
semiring = Namespace("semiring", dict(SEMIRINGS), find_semiring)


def _any_family(name: str) -> Any:
    return next((SPACES[f][name] for f in ("unary", "binary", "monoid", "semiring") if _has(SPACES[f], name)), None)


def _has(space: Namespace, name: str) -> bool:
    return name in space or (space is semiring and find_semiring(name) is not None)


op = Namespace("op", {}, _any_family)
SPACES: dict[str, Namespace] = {
    "unary": unary, "binary": binary, "indexunary": indexunary, "select": select, "monoid": monoid,
    "semiring": semiring,
}  # fmt: skip

for _family in ORDER:
    SPACES[_family]._help(from_string=partial(from_string, _family, spaces=SPACES))
for _family in ("unary", "binary", "monoid", "semiring"):
    SPACES[_family]._help(numpy=getattr(numpy_names, _family))
op._help(from_string=partial(any_from_string, spaces=SPACES))
semiring._help(get_semiring=partial(get_semiring, space=semiring))
select._help(**comparisons.helpers(select))
register(SPACES)
