"""The public namespaces: unary, binary, indexunary, select, monoid, semiring, op."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from . import comparisons, numpy_names
from .catalog import BINARY, INDEXUNARY, MONOIDS, PARAMETERIZED, SELECT, SEMIRINGS, UNARY, find_semiring, semiring_names
from .namespace import Namespace
from .registration import register
from .text import ORDER, any_from_string, from_string, get_semiring

if TYPE_CHECKING:  # the names, for editors; written by stubs.py
    from .names import (
        BinaryNames,
        IndexbinaryNames,
        IndexunaryNames,
        MonoidNames,
        OpNames,
        SelectNames,
        SemiringNames,
        UnaryNames,
    )

unary = cast("UnaryNames", Namespace("unary", dict(UNARY)))
binary = cast("BinaryNames", Namespace("binary", {**BINARY, **PARAMETERIZED}))
indexunary = cast("IndexunaryNames", Namespace("indexunary", dict(INDEXUNARY)))
indexbinary = cast("IndexbinaryNames", Namespace("indexbinary", {}))
select = cast("SelectNames", Namespace("select", dict(SELECT)))
monoid = cast("MonoidNames", Namespace("monoid", dict(MONOIDS)))
semiring = cast("SemiringNames", Namespace("semiring", dict(SEMIRINGS), find_semiring, semiring_names))


def _of_all(name: str, spaces: Sequence[Namespace]) -> Namespace:
    """A namespace with the names of several; the first namespace that has a name wins."""

    def find(key: str) -> Any:
        return next((found for space in spaces if (found := space._find(key)) is not None), None)

    return Namespace(name, {}, find, lambda: (key for space in spaces for key in space.__all__))


op = cast("OpNames", _of_all("op", (unary, binary, monoid, semiring)))
op_numpy = _of_all("op.numpy", (numpy_names.unary, numpy_names.binary, numpy_names.monoid, numpy_names.semiring))
SPACES: dict[str, Namespace] = {
    "unary": unary, "binary": binary, "indexunary": indexunary, "select": select, "monoid": monoid,
    "semiring": semiring, "indexbinary": indexbinary,
}  # fmt: skip

for _family in ORDER:
    SPACES[_family]._help(from_string=partial(from_string, _family, spaces=SPACES))
for _family in ("unary", "binary", "monoid", "semiring"):
    SPACES[_family]._help(numpy=getattr(numpy_names, _family))
op._help(numpy=op_numpy, from_string=partial(any_from_string, spaces=SPACES))
semiring._help(get_semiring=partial(get_semiring, space=semiring))
select._help(**comparisons.helpers(select))
register(SPACES)
