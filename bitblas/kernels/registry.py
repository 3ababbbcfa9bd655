"""The registered variants: a finite, printed list that is compiled for every architecture and executed in CI.

The product of the named semirings, the types that programs use them with, and the kernels of every format; element-wise
kernels for the operators that the algorithms use. What is not here compiles at first use, from the same sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semirings import Typed, semiring
from semirings.catalog import BINARY, INDEXUNARY, MONOIDS, UNARY
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, UINT64, DataType

from ..formats.b2sr.format import TILES
from ..plan import COUNT, VALUES, WORDS
from ..plan_mxm import SHARED_WORDS, row_tables
from .prologue import Variant

# (semiring, type that it computes in, type of the matrix, type of the vector, kind)
PRODUCTS = (
    ("min_plus", FP32, FP32, FP32, VALUES),
    ("min_plus", FP64, FP64, FP64, VALUES),
    ("min_plus", INT64, INT64, INT64, VALUES),
    ("min_second", INT64, BOOL, INT64, VALUES),
    ("max_plus", FP64, FP64, FP64, VALUES),
    ("max_times", FP32, FP32, FP32, VALUES),
    ("plus_times", FP32, FP32, FP32, VALUES),
    ("plus_times", FP64, FP64, FP64, VALUES),
    ("plus_second", FP32, BOOL, FP32, VALUES),
    ("plus_second", FP64, BOOL, FP64, VALUES),
    ("any_secondi", BOOL, BOOL, BOOL, VALUES),
    ("lor_land", BOOL, BOOL, BOOL, VALUES),
    ("plus_pair", INT64, BOOL, BOOL, COUNT),
)
TYPES = (("PTR", INT32), ("COL", INT32))


def _typed(name: str, dtype: DataType) -> Typed:
    return semiring[name][dtype]


def products() -> Iterator[Variant]:
    """Pull, push and dot of both formats."""
    from ..verbs.matrix_variants import DOT_INDICES, dot_variant
    from ..verbs.variants import mxv_variant

    for key in ("csr", *(f"b2sr{t}" for t in TILES)):
        tile = 1 if key == "csr" else int(key[4:])
        types = TYPES if key == "csr" else (*TYPES, ("PLACE", INT32))
        indices = tuple((name, INT32) for name in DOT_INDICES[: 5 if key == "csr" else None])
        words = max(1, tile * tile // 64)
        lanes_words = 2 if key == "csr" else max(4, min(words, 32))
        lanes = 2 if key == "csr" else min(tile, 32)
        for full in (False, True):
            yield mxv_variant(
                "pull", key, types, None, WORDS, BOOL, BOOL, flip=False, full=full, ranked=False, lanes=lanes_words
            )
        yield mxv_variant("push", key, types, None, WORDS, BOOL, BOOL, flip=True, full=False, ranked=False, lanes=2)
        yield dot_variant(key, indices, None, WORDS, BOOL, BOOL, 4)
        for name, dtype, a, u, kind in PRODUCTS:
            typed = _typed(name, dtype)
            ranked = key != "csr" and name.endswith(("plus", "times", "land"))
            for full in (False, True):
                yield mxv_variant(
                    "pull", key, types, typed, kind, a, u,
                    flip=False, full=full, ranked=ranked and kind == VALUES, lanes=lanes,
                )  # fmt: skip
            if kind == VALUES and not (typed.return_type.kind == "f" and name.startswith("plus")):
                yield mxv_variant("push", key, types, typed, kind, a, u, flip=True, full=False, ranked=ranked, lanes=2)
            if name in ("plus_pair", "plus_times", "min_plus"):
                yield dot_variant(key, indices, typed, kind, a, u, 4)


def rows() -> Iterator[Variant]:
    """Products row by row on a GPU."""
    from ..verbs.matrix_variants import rows_variant

    types = (("PTR", INT32), ("INNER", INT32), ("BPTR", INT32), ("COL", INT32), ("MPTR", INT32))
    chosen = [p for p in PRODUCTS if p[0] in ("plus_pair", "plus_times", "min_plus")]
    for fill in (0, 1):
        yield Variant("formats/csr/sort_rows", types[:1], (("LANES", 1), ("FILL", fill)))
    for shared in (0, SHARED_WORDS):
        constants: tuple[tuple[str, int], ...] = (("LANES", 256), ("SHARED_WORDS", shared))
        for fill in (0, 1):
            yield rows_variant("long_rows", types, None, WORDS, BOOL, BOOL, fill, constants)
        for name, dtype, a, b, kind in chosen:
            yield rows_variant("long_rows", types, _typed(name, dtype), kind, a, b, 1, constants)
    for fill in (0, 1):
        for lanes, slots in row_tables(4):
            constants = (("LANES", lanes), ("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1))
            yield rows_variant("short_rows", types, None, WORDS, BOOL, BOOL, fill, constants)
    for name, dtype, a, b, kind in chosen:
        for lanes, slots in row_tables(4 + (8 if kind == COUNT else dtype.nbytes)):
            constants = (("LANES", lanes), ("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1))
            yield rows_variant("short_rows", types, _typed(name, dtype), kind, a, b, 1, constants)


def structural() -> Iterator[Variant]:
    """Building tiles from rows and rows from tiles; parts of both."""
    places = (*TYPES, ("PLACE", INT32))
    for tile in TILES:
        lanes = ("LANES", min(tile, 32))
        for fill, order in ((0, 0), (1, 0), (1, 1)):
            shape = (("TILE", tile), lanes, ("FILL", fill), ("ORDER", order))
            yield Variant("formats/b2sr/build", places, shape)
            yield Variant("formats/b2sr/unbuild", places, shape)
        yield Variant("formats/b2sr/coo", places, (("TILE", tile), lanes))
        yield Variant("formats/b2sr/ranks", (), (("TILE", tile), ("LANES", 1)))
        yield Variant("formats/b2sr/filter", places[2:], (("TILE", tile), ("LANES", 1)))
        for fill in (0, 1):
            yield Variant("formats/b2sr/clip", places, (("TILE", tile), lanes, ("FILL", fill)))
    yield Variant("kernels/find", (("COL", INT64),))
    for fill, order in ((0, 0), (0, 1), (1, 0), (1, 1)):
        constants = (("LANES", 8 if fill else 1), ("FILL", fill), ("ORDER", order))
        yield Variant("formats/csr/clip", places, constants)


def joins() -> Iterator[Variant]:
    """Unions and intersections of two matrices."""
    from ..verbs.matrix_variants import join_variant, match_variant

    types = (*TYPES, ("BPTR", INT32))
    yield match_variant(types)
    for name, t in (("plus", FP64), ("times", FP64), ("second", INT64), ("firsti", INT64)):
        for side, intersect, filled in ((0, False, False), (1, False, False), (0, True, False), (0, False, True)):
            how: dict[str, Any] = {"side": side, "intersect": intersect, "filled": filled}
            yield join_variant(types, BINARY[name][t], t, t, t, **how)
    for side in (0, 1):
        how = {"side": side, "intersect": False, "filled": False}
        yield join_variant(types, None, BOOL, BOOL, BOOL, **how)


def elementwise() -> Iterator[Variant]:
    """The operators of the algorithms over vectors, sums, and the merge."""
    from ..verbs.variants import BOTH, LEFT, UNION, elementwise_variant, fold_variant, merge_variant, reduce_variant

    for name, t in (("times", FP64), ("minus", FP64), ("truediv", FP64), ("plus", FP64), ("min", INT64), ("ge", FP64)):
        yield elementwise_variant(BOTH, BINARY[name][t], t, t, "xy", False, False)[0]
    for name, t in (("min", FP64), ("plus", FP64), ("plus", INT64), ("lor", BOOL)):
        yield elementwise_variant(UNION, BINARY[name][t], t, t, "xy", False, False)[0]
    for name, t in (("abs", FP64), ("ainv", FP64), ("identity", INT64), ("lnot", BOOL), ("sqrt", FP64)):
        yield elementwise_variant(LEFT, UNARY[name][t], t, t, "x", False, False)[0]
    yield elementwise_variant(LEFT, BINARY["truediv"][FP64], FP64, FP64, "yx", False, False)[0]
    for name, t in (("valuegt", FP64), ("tril", INT64), ("index", INT64)):
        keep, places = name != "index", name == "tril"
        thunk = t if name.startswith("value") else INT64
        yield elementwise_variant(LEFT, INDEXUNARY[name][t], t, thunk, "xt", keep, places)[0]
    for name, t in (("plus", FP64), ("plus", INT64), ("min", FP64), ("max", INT64), ("lor", BOOL)):
        yield reduce_variant(MONOIDS[name][t], t)[0]
    for name, t in (("plus", FP64), ("min", INT64)):
        yield fold_variant(BINARY[name][t], t)[0]
    for w, t, accum in (
        (FP64, FP64, None), (INT64, INT64, None), (BOOL, BOOL, None), (INT64, UINT64, None), (INT32, INT32, None),
        (FP64, FP64, "min"), (FP64, FP64, "plus"), (INT64, INT64, "min"), (BOOL, BOOL, "lor"), (FP32, FP32, "plus"),
    ):  # fmt: skip
        yield merge_variant(w, t, None if accum is None else BINARY[accum][w])


def hub_joins() -> Iterator[Variant]:
    """The long rows of every format and kind."""
    from ..verbs.variants import hubs_variant, mxv_variant

    plain: dict[str, Any] = {"flip": False, "full": False, "ranked": False, "lanes": 2}
    for per in (1, *TILES):
        yield hubs_variant(mxv_variant("pull", "csr", TYPES, None, WORDS, BOOL, BOOL, **plain), per)
        for name, dtype, a, u, kind in PRODUCTS[:2] + PRODUCTS[-1:]:
            yield hubs_variant(mxv_variant("pull", "csr", TYPES, _typed(name, dtype), kind, a, u, **plain), per)


def variants() -> list[Variant]:
    """All of them, each once."""
    return list(dict.fromkeys([*products(), *rows(), *structural(), *joins(), *elementwise(), *hub_joins()]))
