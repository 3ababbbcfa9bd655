"""The choice of a stored form: the bytes and microseconds that each is predicted to take, and the rule.

One form serves all statements: two would take more bytes than plain CSR does. So the choice for time is the form whose
*worst* verb is nearest to the best form for that verb. A mean would let a product that gains three times pay for one
that loses twice, and whoever runs the second one would be better off without the choice; the worst ratio is what a user
of any one verb can lose, and where it is close to 1 all of them have (nearly) the form that is best for them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..config import config
from ..exceptions import InvalidValue
from ..formats import CSR, MPLG, ROWS, Structure, tile_of
from ..formats.b2sr.format import TILES
from ..formats.mplg.format import Mplg
from ..formats.split import layout as split
from .costs import BFS, BITS, FLOOR, NUMBERS, WEIGHTS, Costs, costs_of
from .facts import Facts, count, facts

FORMATS = ("auto", "csr", "mplg", "b2sr", "split")  # what may be asked for
DEFAULT_TILE = 8  # smallest in bytes on meshes; one 64-bit word, no shuffles on the GPU (measured)
# Entries below which nothing is looked at, for time: every form takes that of a launch, and looking takes 1 to 10 ms.
SMALL = 1 << 12
# Of the bytes of CSR, from which on a sampled number of tiles is counted before they are chosen: with blocks of two
# kinds, full tiles and single entries, its standard deviation is 0.18 at most.
SURE = 0.5
# What forms must gain against CSR, which every verb reads: predictions err by as much, and what the costs do not know
# (products of matrices, unions, selections) decodes MPLG, and makes rows of tiles once, of Split for each statement.
# Pulls on tiles of other sizes than 8 end their statement with a pass more (plan.FUSED).
TILED, OTHER_TILES, COMPACT = 1.05, 1.2, 1.1
HUBS = 8  # times the mean that the longest row has where there are hubs (meshes, grids, roads: 1 to 4; webs: from 20)


def verbs_of(iso: bool, square: bool) -> tuple[str, ...]:
    """What counts for a matrix: products and searches of a pattern, or the product that reads its values."""
    return (WEIGHTS,) if not iso else (BITS, NUMBERS, BFS) if square else (BITS, NUMBERS)


def allowed(seen: Facts, prefer: str, iso: bool) -> tuple[str, ...]:
    """Forms that may be chosen: for time those of no more bytes than 32-bit CSR. With values those by rows: tiles and
    parts find a value by its rank, which costs more than it saves in products (H200: 26 us on a mesh's rows, 86 on its
    tiles) and in programs, which the costs do not know."""
    keys = [key for key in seen.forms if iso or key in ROWS]
    return tuple(key for key in keys if prefer == "memory" or seen.bytes_of(key) <= seen.bytes_of(CSR))


def candidates(seen: Facts, prefer: str, iso: bool, gpu: bool) -> tuple[str, ...]:
    """Forms to choose from: those allowed, but of matrices with hubs, on a GPU, for time, those by rows. What the tiles
    of a hub take is not predicted (web-indochina-2004, Boolean: 3 us by rows, 15 by tiles, where 2 were predicted), and
    on all of 13 such graphs rows were best, or within 1.1 of it, for products."""
    keys = allowed(seen, prefer, iso)
    by_rows = gpu and prefer == "time" and seen.longest * seen.nrows > HUBS * seen.nvals
    return tuple(key for key in keys if key in ROWS or not by_rows)


def worst_ratios(us: Mapping[str, Mapping[str, float]], floor: float) -> dict[str, float]:
    """For each form the largest ratio, over the verbs, of its microseconds to those of the best form there. Times below
    the floor count as the floor: they are those of a launch. us: by form and verb."""
    verbs = next(iter(us.values()))
    best = {verb: max(floor, min(times[verb] for times in us.values())) for verb in verbs}
    return {key: max(max(floor, times[verb]) / best[verb] for verb in verbs) for key, times in us.items()}


def best_form(seen: Facts, costs: Costs, prefer: str, *, iso: bool, gpu: bool = False) -> str:
    """prefer "memory": the form of fewest bytes. "time": of those of no more bytes than 32-bit CSR, the one that is
    nearest to the best form for every verb."""
    keys = candidates(seen, prefer, iso, gpu)
    if prefer == "memory":
        return min(keys, key=seen.bytes_of)
    verbs = verbs_of(iso, seen.nrows == seen.ncols)
    us = {key: {verb: costs.predict(seen, key, verb) for verb in verbs} for key in keys}
    worst = worst_ratios(us, FLOOR["gpu" if gpu else "cpu"])
    return min(keys, key=lambda key: worst[key] * handicap(key))


def handicap(key: str) -> float:
    """What the ratio of a form to the best one is multiplied with."""
    if not key.startswith("b2sr"):
        return 1.0 if key == CSR else COMPACT
    return TILED if tile_of(key) == DEFAULT_TILE else OTHER_TILES


def without_facts(nrows: int, nvals: int, prefer: str) -> bool:
    """Whether rows are taken unseen, for time: where there is little, or an entry a row: pointers and permutations,
    which algorithms make in every round, so that looking would take longer than using them."""
    return prefer == "time" and nvals <= max(SMALL - 1, nrows)


def choose_split(structure: Structure, tile: int | None = None) -> str:
    """The key of a Split with tiles of that size, or with those that need the fewest bytes.

    Raises InvalidValue for more columns than 32 bits can number.
    """
    sizes = [size for size in ((tile,) if tile else split.TILES) if split.fits(structure.ncols, size)]
    if not sizes:
        limit = (1 << 32) // (tile or split.TILES[0])
        raise InvalidValue(f"format: 'split' holds up to {limit} columns, got {structure.ncols}")
    if tile:
        return split.key_of(tile)
    seen = facts(structure, (), tuple(sizes))
    return min(map(split.key_of, sizes), key=seen.bytes_of)


def choose_form(structure: Structure, format: str = "auto", tile: int | None = None, *, iso: bool = True) -> str:
    """The key of the primary form: as asked, or the one that facts, costs and `config.prefer` say is best.

    Raises InvalidValue for a format or tile size that does not exist, or a format that does not hold the matrix.
    """
    if format not in FORMATS:
        raise InvalidValue(f"format: expected one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    sizes = split.TILES if format == "split" else TILES
    if tile is not None and tile not in sizes:
        raise InvalidValue(f"tile: expected one of {', '.join(map(str, sizes))}, got {tile!r}")
    if format in ROWS and tile is not None:
        raise InvalidValue(f"tile: format {format!r} has none, got {tile}")
    if format == MPLG and not Mplg.holds(structure.nrows, structure.ncols):
        shape = f"{structure.nrows} x {structure.ncols}"
        raise InvalidValue(f"format: 'mplg' holds up to 2**32 rows and columns, got {shape}")
    if format == "split":
        return choose_split(structure, tile)
    if format in ROWS:
        return format
    if format == "b2sr" or tile is not None:
        return f"b2sr{tile or DEFAULT_TILE}"
    if without_facts(structure.nrows, structure.nvals, config.prefer):
        return CSR
    device = structure.device
    while True:
        seen = facts(structure)
        key = best_form(seen, costs_of(device), config.prefer, iso=iso, gpu=device.is_gpu)
        if not key.startswith("b2sr") or seen.bytes_of(key) <= SURE * seen.bytes_of(CSR):
            return key
        if not count(structure, tile_of(key)):
            return key
