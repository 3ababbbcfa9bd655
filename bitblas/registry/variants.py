"""The list of registered variants, which CI compiles for every architecture and executes.

It has the products of the named semirings with the types that programs use, the kernels of every format, and
element-wise kernels for the operators that algorithms use. Anything else compiles at first use, from the same sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semirings import Typed, semiring
from semirings.catalog import BINARY, INDEXUNARY, MONOIDS, SELECT, UNARY
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, UINT32, UINT64, DataType

from .. import tuning
from ..formats import CSR, FORMATS, Format, forms
from ..kernels.variant import Variant
from ..plan.epilogue import Epilogue
from ..plan.product import COUNT, VALUES, WORDS, row_tables

# (semiring, its type, type of the matrix, type of the vector, kind)
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
# A subset for tile sizes that the planner does not choose by itself: one of each kind of kernel.
FEW = tuple(
    p
    for p in PRODUCTS
    if p[:2]
    in (
        ("min_plus", FP32),
        ("plus_times", FP64),
        ("plus_second", FP32),
        ("any_secondi", BOOL),
        ("lor_land", BOOL),
        ("plus_pair", INT64),
    )
)
# A subset for packed rows, whose kernels differ from those of CSR only in how a column is read.
PACKED = tuple(p for p in FEW if p[0] in ("min_plus", "plus_second", "any_secondi", "plus_pair"))
LISTED = {"all": PRODUCTS, "few": FEW, "packed": PACKED}  # by `Format.registered`
PACKED_ROWS = next(format.key for format in FORMATS.values() if format.packed)
UNITS = sorted({format.rows_per_unit for format in FORMATS.values()})
# Semirings with variants that merge into the output, and their accumulators.
MERGED = {"min_plus": "min", "plus_second": "plus", "lor_land": "lor", "plus_pair": "plus"}
TYPES = (("PTR", INT32), ("COL", INT32))


def _typed(name: str, dtype: DataType) -> Typed:
    return semiring[name][dtype]


def products() -> Iterator[Variant]:
    """Pull, push and dot of every format."""
    from . import product_variants as samples

    yield from samples.packed_values()
    for format in FORMATS.values():
        yield from _all_kinds(format) if format.registered in LISTED else _thin(format)


def _all_kinds(format: Format) -> Iterator[Variant]:
    """All kinds of kernels, with sparse and full vectors."""
    from ..operations.variants import dot_variant, pull_variant, push_variant

    key, tiled = format.key, format.tile is not None
    types = tuple((name, INT32) for name in format.view.indices)
    lanes_words = max(4, min(format.kernels["mxv.pull"].share(WORDS), 32)) if tiled else 2
    lanes = min(format.rows_per_unit, 32) if tiled else 2
    plain: dict[str, Any] = {"flip": False, "full": False, "ranked": False}
    ends = [Epilogue(BOOL, BOOL, store=False)]
    if format.kernels["mxv.pull"].fused:
        ends += [Epilogue(BOOL, BOOL, merge=True, store=False), Epilogue(FP64, FP64, merge=True)]
    for end in ends:
        for full in (False, True)[: 1 if end.merge else 2]:  # with a full vector only for new outputs
            how = plain | {"full": full, "lanes": lanes_words, "end": end}
            yield pull_variant(key, types, None, WORDS, BOOL, BOOL, **how)
    yield push_variant(key, types, None, WORDS, BOOL, BOOL, flip=True, ranked=False, lanes=2)
    if dot := format.kernels.get("dot"):
        indices = tuple((name, INT32) for name in dot.indices)
        yield dot_variant(key, indices, None, WORDS, BOOL, BOOL, 4)
    for name, dtype, a, u, kind in LISTED[format.registered]:
        typed = _typed(name, dtype)
        z = typed.return_type
        ranked = format.ranked and kind == VALUES and name.endswith(("plus", "times", "land"))
        ends = [Epilogue(z, z)]
        if name in MERGED and format.kernels["mxv.pull"].fused:
            ends += [Epilogue(z, z, None, merge=True), Epilogue(z, z, BINARY[MERGED[name]][z], merge=True)]
        for end in ends:
            for full in (False, True):
                how = plain | {"full": full, "ranked": ranked, "lanes": lanes, "end": end}
                yield pull_variant(key, types, typed, kind, a, u, **how)
        if kind == VALUES and not name.startswith("any"):  # staged rows; tiles without padding
            how = plain | {"full": True, "ranked": ranked, "lanes": lanes, "end": Epilogue(z, z)}
            yield pull_variant(key, types, typed, kind, a, u, **how, staged=int(format.by_rows), padded=False)
            if format.packed:
                yield pull_variant(key, types, typed, kind, a, u, **how, staged=1, width=20)
            if format.by_rows and name == "min_second":
                yield pull_variant(key, types, typed, kind, a, u, **how | {"lanes": 1}, staged=2)
        if kind == VALUES and not (z.kind == "f" and name.startswith("plus")):
            flip = name != "min_second"  # all products of vxm with a pattern are equal
            yield push_variant(key, types, typed, kind, a, u, flip=flip, ranked=ranked, lanes=2)
        if dot and name in ("plus_pair", "plus_times", "min_plus"):
            yield dot_variant(key, indices, typed, kind, a, u, 4)


def _thin(format: Format) -> Iterator[Variant]:
    """Pulls and pushes, each kind once; for some formats only the ANY kernels on words."""
    from ..operations.variants import dot_variant, pull_variant, push_variant

    key, types = format.key, tuple((name, INT32) for name in format.view.indices)
    presence, kept = Epilogue(BOOL, BOOL, store=False), Epilogue(BOOL, BOOL, merge=True, store=False)
    how: dict[str, Any] = {"flip": False, "ranked": False, "full": False, "lanes": 8}
    yield pull_variant(key, types, None, WORDS, BOOL, BOOL, **how, end=presence)
    if format.registered == "words":
        return
    ends = (kept, False), (presence, True), (Epilogue(FP64, FP64, merge=True), False)
    for end, full in ends if format.kernels["mxv.pull"].fused else ends[1:2]:
        yield pull_variant(key, types, None, WORDS, BOOL, BOOL, **how | {"full": full}, end=end)
    for name, dtype, a, u, kind in FEW:
        typed = _typed(name, dtype)
        z = typed.return_type
        how |= {"full": dtype in (FP64, INT64), "ranked": kind == VALUES and a is not BOOL}
        yield pull_variant(key, types, typed, kind, a, u, **how, end=Epilogue(z, z))
        if name in MERGED and format.kernels["mxv.pull"].fused:
            end = Epilogue(z, z, BINARY[MERGED[name]][z], merge=True)
            yield pull_variant(key, types, typed, kind, a, u, **how, end=end)
    yield push_variant(key, types, None, WORDS, BOOL, BOOL, flip=True, ranked=False, lanes=2)
    min_plus = _typed("min_plus", FP32)
    yield push_variant(key, types, min_plus, VALUES, FP32, FP32, flip=True, ranked=True, lanes=2)
    if dot := format.kernels.get("dot"):
        indices = tuple((name, INT32) for name in dot.indices)
        yield dot_variant(key, indices, None, WORDS, BOOL, BOOL, 4)
        yield dot_variant(key, indices, min_plus, VALUES, FP32, FP32, 4)


def rows() -> Iterator[Variant]:
    """Products row by row on a GPU."""
    from ..operations.variants import packed_constants, rows_variant

    plain, packed = packed_constants(*(CSR,) * 3), packed_constants(*(PACKED_ROWS,) * 3)
    types = (("PTR", INT32), ("INNER", INT32), ("BPTR", INT32), ("COL", INT32), ("MPTR", INT32))
    table = lambda lanes, slots: (("LANES", lanes), ("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1))
    chosen = [p for p in PRODUCTS if p[0] in ("plus_pair", "plus_times", "min_plus")]
    for fill in (0, 1):
        yield Variant("formats/csr/sort_rows", (), (("LANES", 1), ("FILL", fill)))
    for shared in (0, tuning.count("spgemm.shared.words")):
        constants: tuple[tuple[str, int], ...] = (("LANES", 256), ("SHARED_WORDS", shared), *plain)
        for fill in (0, 1):
            yield rows_variant("long_rows", types, None, WORDS, BOOL, BOOL, fill, constants)
        for name, dtype, a, b, kind in chosen:
            yield rows_variant("long_rows", types, _typed(name, dtype), kind, a, b, 1, constants)
    for fill in (0, 1):
        for lanes, slots in row_tables(4):
            yield rows_variant("short_rows", types, None, WORDS, BOOL, BOOL, fill, (*table(lanes, slots), *plain))
    for name, dtype, a, b, kind in chosen:
        for lanes, slots in row_tables(4 + (8 if kind == COUNT else dtype.nbytes)):
            which = types, _typed(name, dtype), kind, a, b, 1
            yield rows_variant("short_rows", *which, (*table(lanes, slots), *plain))
    first = _typed("plus_first", FP64), VALUES, FP64, BOOL  # B has one entry per row: communities of vertices
    min_plus, long = _typed("min_plus", FP64), (("LANES", 256), ("SHARED_WORDS", tuning.count("spgemm.shared.words")))
    for fill in (0, 1):
        for lanes, slots in row_tables(12 if fill else 4):
            yield rows_variant("short_rows", types, *first, fill, (*table(lanes, slots), *plain), single=True)
        yield rows_variant("long_rows", types, *first, fill, (*long, *plain), single=True)
        which = types, min_plus, VALUES, FP64, FP64, fill
        yield rows_variant("short_rows", *which, (*table(*row_tables(12)[0]), *packed))
        yield rows_variant("long_rows", *which, (*long, *packed))


def structural() -> Iterator[Variant]:
    """Conversions between formats and CSR, slices, and kernels that depend only on types."""
    from ..operations.sorted_keys import FIND
    from ..operations.variants import blank_variant

    for layout in forms():
        yield from layout.samples()
    for rows in UNITS:
        yield Variant("kernels/weigh", TYPES[:1], (("ROWS", rows), ("LANES", 1)))
    for t in (INT64, FP32, INT32):
        yield blank_variant(MONOIDS["min"], t, t)
    yield FIND


def joins() -> Iterator[Variant]:
    """Unions and intersections of two matrices."""
    from ..operations.variants import join_variant, match_variant, packed_constants

    types = (*TYPES, ("BPTR", INT32))
    plain, packed = packed_constants(*(CSR,) * 2), packed_constants(*(PACKED_ROWS,) * 2)
    yield from (match_variant(types, plain), match_variant(types, packed))
    for name, t in (("plus", FP64), ("times", FP64), ("second", INT64), ("firsti", INT64)):
        for side, intersect, filled in ((0, False, False), (1, False, False), (0, True, False), (0, False, True)):
            how: dict[str, Any] = {"side": side, "intersect": intersect, "filled": filled}
            yield join_variant(types, plain, BINARY[name][t], t, t, t, **how)
            if name == "plus" and not filled:
                yield join_variant(types, packed, BINARY[name][t], t, t, t, **how)
    for side in (0, 1):
        how = {"side": side, "intersect": False, "filled": False}
        yield join_variant(types, plain, None, BOOL, BOOL, BOOL, **how)


def elementwise() -> Iterator[Variant]:
    """Element-wise operators of the algorithms on vectors, reductions, and the merge."""
    from ..operations.variants import (
        BOTH,
        LEFT,
        UNION,
        elementwise_variant,
        fold_variant,
        merge_variant,
        reduce_variant,
    )

    for name, t in (("times", FP64), ("minus", FP64), ("truediv", FP64), ("plus", FP64), ("min", INT64), ("ge", FP64)):
        yield elementwise_variant(BOTH, BINARY[name][t], t, t, "xy")[0]
    for name, t in (("min", FP64), ("plus", FP64), ("plus", INT64), ("lor", BOOL)):
        yield elementwise_variant(UNION, BINARY[name][t], t, t, "xy")[0]
    for name, t in (("abs", FP64), ("ainv", FP64), ("identity", INT64), ("lnot", BOOL), ("sqrt", FP64)):
        yield elementwise_variant(LEFT, UNARY[name][t], t, t, "x")[0]
    yield elementwise_variant(LEFT, BINARY["truediv"][FP64], FP64, FP64, "yx")[0]
    yield elementwise_variant(UNION, BINARY["plus"][FP64], FP64, FP64, "xy", fresh=False)[0]
    for fresh in (False, True):
        yield elementwise_variant(LEFT, SELECT["valuegt"][FP64], FP64, FP64, "xt", keep=True, fresh=fresh)[0]
    yield elementwise_variant(LEFT, UNARY["identity"][BOOL], FP64, FP64, "x", keep=True, iso=True)[0]
    yield elementwise_variant(LEFT, INDEXUNARY["rowindex"][INT64], INT64, INT64, "xt", places=True)[0]
    yield elementwise_variant(LEFT, INDEXUNARY["index"][INT64], INT64, INT64, "xt")[0]
    for name, t in (("plus", FP64), ("plus", INT64), ("min", FP64), ("max", INT64), ("lor", BOOL)):
        yield reduce_variant(MONOIDS[name][t], t)[0]
        yield reduce_variant(MONOIDS[name][t], t, flags=True)[0]
    for name, t in (("plus", FP64), ("min", INT64)):
        yield fold_variant(BINARY[name][t], t)[0]
    for w, t, accum in (
        (FP64, FP64, None),
        (INT64, INT64, None),
        (BOOL, BOOL, None),
        (INT64, UINT64, None),
        (INT32, INT32, None),
        (FP64, FP64, "min"),
        (FP64, FP64, "plus"),
        (INT64, INT64, "min"),
        (BOOL, BOOL, "lor"),
        (FP32, FP32, "plus"),
    ):
        yield merge_variant(t, Epilogue(t, w, None if accum is None else BINARY[accum][w], merge=True))
    yield merge_variant(BOOL, Epilogue(BOOL, BOOL, merge=True, store=False))


def by_index() -> Iterator[Variant]:
    """Bitsets, and access to vector entries by index."""
    from ..formats.packing import narrow_variant, widen_variant
    from ..operations.variants import place_variant, sum_by_index_variant, vector_variant
    from ..operations.vector_entries import RANGE
    from ..store import BITS, CHUNK, COUNT, DENSE, PACK

    yield from (BITS, COUNT, DENSE, PACK, RANGE)
    for number in (INT32, INT64, UINT32, FP32):
        yield from (narrow_variant(number), widen_variant(number))
    yield from (narrow_variant(INT32, gather=True), widen_variant(INT32, places=True))
    for t in (BOOL, INT32, INT64, FP64):
        yield vector_variant("dense", t)
        yield vector_variant("compact", t, LANES=256, CHUNK=CHUNK)
        yield vector_variant("equal", t, LANES=64)
        for values in (0, 1):
            yield vector_variant("put", t, DENSE=values)
            for full in (0, 1):
                yield vector_variant("gather", t, LANES=64, FULL=full, DENSE=values)
            yield from (vector_variant(name, t, LANES=64, DENSE=values) for name in ("among", "without"))
            for clear in (False, True):
                yield place_variant(t, t, values=bool(values), clear=clear)
    yield place_variant(INT64, INT64, values=True, clear=True, bits=False)
    yield from (place_variant(FP64, BOOL, values=True), place_variant(BOOL, FP64, values=True, clear=True))
    for name, t in (("min", INT64), ("plus", INT64), ("lor", BOOL), ("max", FP64), ("times", INT32)):
        yield sum_by_index_variant(t, MONOIDS[name][t])[0]


def hub_joins() -> Iterator[Variant]:
    """Hub rows of every format and kind."""
    from ..operations.variants import hubs_variant

    fused = {format.rows_per_unit for format in FORMATS.values() if format.kernels["mxv.pull"].fused}
    for per in UNITS:
        if per in fused:
            yield hubs_variant(None, WORDS, per, Epilogue(FP64, FP64, merge=True))
        for name, dtype, _, _, kind in PRODUCTS[:2] + PRODUCTS[-1:]:
            typed = _typed(name, dtype)
            z = typed.return_type
            yield hubs_variant(typed, kind, per, Epilogue(z, z))
            if per in fused:
                yield hubs_variant(typed, kind, per, Epilogue(z, z, BINARY[MERGED[name]][z], merge=True))


def programs() -> Iterator[Variant]:
    """Kernels of loops on the device."""
    from . import loop_variants as samples

    for format in (x for x in FORMATS.values() if not x.has_virtual_nodes):  # loops run on the underlying form instead
        yield from samples.steps(format)
        yield from samples.small_rounds(format)
        yield from samples.some_rows(format)
    yield from samples.others()


def variants() -> list[Variant]:
    """All registered variants, each once."""
    from .product_variants import complex_numbers, graded, narrow

    ours = products(), rows(), structural(), joins(), elementwise(), by_index(), hub_joins()
    groups = (*ours, complex_numbers(), narrow(), graded(), programs())
    return list(dict.fromkeys(variant for group in groups for variant in group))
