"""Choose a stored format: predicted bytes and microseconds of each, and the rule.

One format serves all statements: two would take more bytes than plain CSR. So the choice for time is the format whose
*worst* verb is nearest to the best format for that verb. A mean would let a product that gains a factor of three pay
for one that loses a factor of two, at the expense of programs that run only the second. The worst ratio bounds the loss
of a program that uses any one verb; if it is close to 1, every verb has (nearly) its best format.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..config import config
from ..exceptions import InvalidValue
from ..formats import CSR, NAMES, Structure, format_of
from ..formats import FORMATS as STORED
from .costs import BFS, BITS, FLOOR, NUMBERS, WEIGHTS, Costs, costs_of
from .facts import Facts, best_known, count, error_of, estimates, facts

FORMATS = ("auto", *NAMES)  # the formats that users may request
# Number of entries up to which nothing is sampled, for time: every format takes a launch, and sampling takes 0.3 to 2
# ms.
SMALL = 1 << 12
# Standard errors by which an estimated number of tiles may be too low: if a format would then take more bytes than CSR,
# its tiles are counted before it is chosen.
ERRORS = 4.0
# Longest row over mean row, from which a matrix has hubs (meshes, grids, roads: 1 to 4; webs: from 20). CPU threads do
# not share rows, so there the prediction for tiles holds.
HUBS = {"cpu": math.inf, "gpu": 8}


def verbs_of(iso: bool, square: bool) -> tuple[str, ...]:
    """The verbs that count for a matrix: products and searches of a pattern, or the product that reads its values."""
    return (WEIGHTS,) if not iso else (BITS, NUMBERS, BFS) if square else (BITS, NUMBERS)


def takes_part(key: str, prefer: str, iso: bool) -> bool:
    """Whether a format may be chosen at all. Matrices with values stay by rows: tiles and parts find a value by its
    rank, which costs more than it saves in products (H200: 26 us on a mesh's rows, 86 on its tiles) and in programs,
    which the costs do not cover; and a bitmap has a value for each position, with an entry or without."""
    format = format_of(key)
    return (iso or not (format.ranked or format.bits)) and (prefer == "memory" or format.timed)


def has_hubs(nrows: int, nvals: int, longest: float, kind: str) -> bool:
    """Whether a matrix has hubs, and so stays by rows on a GPU, for time. The cost of a hub's tiles is not predicted
    (web-indochina-2004, Boolean: 3 us by rows, 15 by tiles, 2 predicted), and on all of 13 such graphs rows were best
    for products, or within 1.1 of the best."""
    return longest * nrows > HUBS[kind] * max(1, nvals)


def allowed(seen: Facts, prefer: str, iso: bool, *, by_rows: bool = False) -> tuple[str, ...]:
    """Formats that may be chosen (`by_rows`: only those by rows): for time, those of no more bytes than 32-bit CSR."""
    most = math.inf if prefer == "memory" else seen.bytes_of(CSR)
    keys = (key for key in seen.forms if takes_part(key, prefer, iso) and format_of(key).by_rows >= by_rows)
    if prefer == "memory":
        keys = (key for key in keys if format_of(key).may_be_smallest(seen))
    return tuple(key for key in keys if seen.bytes_of(key) <= most)


def candidates(seen: Facts, prefer: str, iso: bool, kind: str) -> tuple[str, ...]:
    """Formats to choose from: those allowed; of matrices with hubs, for time, only those by rows."""
    hubs = prefer == "time" and has_hubs(seen.nrows, seen.nvals, seen.longest, kind)
    return allowed(seen, prefer, iso, by_rows=hubs)


def worst_ratios(us: Mapping[str, Mapping[str, float]], floor: float) -> dict[str, float]:
    """For each format the largest ratio, over the verbs, of its microseconds to those of the best format. Times below
    the floor, the time of a launch, count as the floor. us: by format and verb."""
    times = np.maximum(floor, [list(of.values()) for of in us.values()])
    return dict(zip(us, (times / times.min(axis=0)).max(axis=1).tolist()))


class Weighed(NamedTuple):
    """The best format, and the microseconds of all formats that were compared, by format and verb: none for memory."""

    key: str
    us: Mapping[str, Mapping[str, float]]


def weigh(seen: Facts, costs: Costs, prefer: str, *, iso: bool, kind: str) -> Weighed:
    """prefer "memory": the format of fewest bytes. "time": of those of no more bytes than 32-bit CSR, the one that is
    nearest to the best format for every verb."""
    keys = candidates(seen, prefer, iso, kind)
    if prefer == "memory":
        return Weighed(min(keys, key=seen.bytes_of), {})
    us = costs.times(seen, keys, verbs_of(iso, seen.nrows == seen.ncols))
    worst = worst_ratios(us, FLOOR[kind])
    return Weighed(min(keys, key=lambda key: worst[key] * format_of(key).handicap), us)


def best_form(seen: Facts, costs: Costs, prefer: str, *, iso: bool, kind: str) -> str:
    """The format that these facts choose."""
    return weigh(seen, costs, prefer, iso=iso, kind=kind).key


def without_facts(nrows: int, nvals: int, prefer: str) -> bool:
    """Whether CSR is used without a sample, for time: for few entries, or one entry a row. The latter are pointers and
    permutations, which algorithms build in every round, so sampling would take longer than using them."""
    return prefer == "time" and nvals <= max(SMALL - 1, nrows)


def asked(structure: Structure, name: str, tile: int | None) -> str:
    """The key of the format of that name, with that tile; without one, its usual tile, or that of the fewest bytes.

    Raises InvalidValue for a tile size that the format does not have, or if it cannot hold the matrix.
    """
    formats = [format for format in STORED.values() if format.name == name]
    sizes = [format.tile for format in formats if format.tile is not None]
    if tile is not None and not sizes:
        raise InvalidValue(f"tile: format {name!r} has no tiles, got {tile}")
    if tile is not None and tile not in sizes:
        raise InvalidValue(f"tile: expected one of {', '.join(map(str, sizes))}, got {tile!r}")
    tile = formats[0].default_tile if tile is None else tile
    wanted = [format for format in formats if tile is None or format.tile == tile]
    fit = [format for format in wanted if not format.refusal(structure.nrows, structure.ncols)]
    if not fit:
        raise InvalidValue(f"format: {name!r} {wanted[0].refusal(structure.nrows, structure.ncols)}")
    if len(wanted) == 1:
        return fit[0].key
    sizes = [format.tile for format in fit if format.tile is not None and format.counts == "tiles"]
    keys = [format.key for format in fit]
    return min(keys, key=best_known(structure, tuple(sizes), keys).bytes_of)


def choose_form(structure: Structure, format: str = "auto", tile: int | None = None, *, iso: bool = True) -> str:
    """The key of the primary format: the requested one, or the best by facts, costs and `config.prefer`.

    Raises InvalidValue for a format or tile size that does not exist, or a format that cannot hold the matrix.
    """
    if format not in FORMATS:
        raise InvalidValue(f"format: expected one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    if format != "auto":
        return asked(structure, format, tile)
    if tile is not None:
        raise InvalidValue(f"tile: expected only with a format that has tiles, got {tile!r}")
    return weighed(structure, iso=iso).key


def weighed(structure: Structure, *, iso: bool) -> Weighed:
    """The best format of a structure. Facts come in stages, the cheapest first: sizes, which may decide; a sample,
    whose longest row may leave only formats by rows, and which estimates only what the remaining formats need; exact
    numbers of tiles, if they decide and the estimate may be wrong."""
    device, prefer = structure.device, config.prefer
    if without_facts(structure.nrows, structure.nvals, prefer):
        return Weighed(CSR, {})
    while True:
        seen = for_time(structure, iso) if prefer == "time" else best_known(structure)
        found = weigh(seen, costs_of(device), prefer, iso=iso, kind=device.kind)
        format = format_of(found.key)
        if format.counts != "tiles" or format.tile is None or _is_small(structure, seen, found.key, format.tile):
            return found
        if not count(structure, format.tile):
            return found


def for_time(structure: Structure, iso: bool) -> Facts:
    """The facts that a choice for time needs."""
    if not structure.nvals:
        return facts(structure)
    seen = estimates(structure)
    by_rows = has_hubs(structure.nrows, structure.nvals, seen.longest, structure.device.kind)
    left = [key for key in STORED if takes_part(key, "time", iso) and format_of(key).by_rows >= by_rows]
    return facts(structure, keys=[key for key in left if format_of(key).may_pay(seen.own.sample)])


def _is_small(structure: Structure, seen: Facts, key: str, tile: int) -> bool:
    """Whether tiles take no more bytes than CSR, even if the estimate of their number is as wrong as it may be."""
    more = ERRORS * error_of(structure, tile)
    most = tuple((t, number + more if t == tile else number) for t, number in seen.tiles)
    return replace(seen, tiles=most).bytes_of(key) <= seen.bytes_of(CSR)
