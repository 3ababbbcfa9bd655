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

FORMATS = ("auto", *NAMES)  # what may be asked for
# Entries below which nothing is looked at, for time: every form takes that of a launch, and looking takes 0.3 to 2 ms.
SMALL = 1 << 12
# Standard errors by which an estimated number of tiles may be too low: those of a form that would then take more bytes
# than CSR are counted before it is chosen.
ERRORS = 4.0
# Times the mean that the longest row has where there are hubs (meshes, grids, roads: 1 to 4; webs: from 20). A CPU's
# threads do not share rows, so that its tiles take what is predicted.
HUBS = {"cpu": math.inf, "gpu": 8}


def verbs_of(iso: bool, square: bool) -> tuple[str, ...]:
    """What counts for a matrix: products and searches of a pattern, or the product that reads its values."""
    return (WEIGHTS,) if not iso else (BITS, NUMBERS, BFS) if square else (BITS, NUMBERS)


def takes_part(key: str, prefer: str, iso: bool) -> bool:
    """Whether a form may be chosen at all. With values those by rows: tiles and parts find a value by its rank, which
    costs more than it saves in products (H200: 26 us on a mesh's rows, 86 on its tiles) and in programs, which the
    costs do not know; and a bitmap has a value for each place, with an entry or without."""
    format = format_of(key)
    return (iso or not (format.ranked or format.bits)) and (prefer == "memory" or format.timed)


def has_hubs(nrows: int, nvals: int, longest: float, kind: str) -> bool:
    """Whether a matrix has hubs, and so stays by rows on a GPU, for time. What the tiles of a hub take is not predicted
    (web-indochina-2004, Boolean: 3 us by rows, 15 by tiles, where 2 were predicted), and on all of 13 such graphs rows
    were best, or within 1.1 of it, for products."""
    return longest * nrows > HUBS[kind] * max(1, nvals)


def allowed(seen: Facts, prefer: str, iso: bool, *, by_rows: bool = False) -> tuple[str, ...]:
    """Forms that may be chosen (`by_rows`: of those by rows): for time those of no more bytes than 32-bit CSR."""
    most = math.inf if prefer == "memory" else seen.bytes_of(CSR)
    keys = (key for key in seen.forms if takes_part(key, prefer, iso) and format_of(key).by_rows >= by_rows)
    if prefer == "memory":
        keys = (key for key in keys if format_of(key).may_be_smallest(seen))
    return tuple(key for key in keys if seen.bytes_of(key) <= most)


def candidates(seen: Facts, prefer: str, iso: bool, kind: str) -> tuple[str, ...]:
    """Forms to choose from: those allowed, but of matrices with hubs, for time, those by rows."""
    hubs = prefer == "time" and has_hubs(seen.nrows, seen.nvals, seen.longest, kind)
    return allowed(seen, prefer, iso, by_rows=hubs)


def worst_ratios(us: Mapping[str, Mapping[str, float]], floor: float) -> dict[str, float]:
    """For each form the largest ratio, over the verbs, of its microseconds to those of the best form there. Times below
    the floor count as the floor: they are those of a launch. us: by form and verb."""
    times = np.maximum(floor, [list(of.values()) for of in us.values()])
    return dict(zip(us, (times / times.min(axis=0)).max(axis=1).tolist()))


class Weighed(NamedTuple):
    """The best form, and the microseconds of all that were weighed, by form and verb: none for memory."""

    key: str
    us: Mapping[str, Mapping[str, float]]


def weigh(seen: Facts, costs: Costs, prefer: str, *, iso: bool, kind: str) -> Weighed:
    """prefer "memory": the form of fewest bytes. "time": of those of no more bytes than 32-bit CSR, the one that is
    nearest to the best form for every verb."""
    keys = candidates(seen, prefer, iso, kind)
    if prefer == "memory":
        return Weighed(min(keys, key=seen.bytes_of), {})
    us = costs.times(seen, keys, verbs_of(iso, seen.nrows == seen.ncols))
    worst = worst_ratios(us, FLOOR[kind])
    return Weighed(min(keys, key=lambda key: worst[key] * format_of(key).handicap), us)


def best_form(seen: Facts, costs: Costs, prefer: str, *, iso: bool, kind: str) -> str:
    """The form that is chosen by these facts."""
    return weigh(seen, costs, prefer, iso=iso, kind=kind).key


def without_facts(nrows: int, nvals: int, prefer: str) -> bool:
    """Whether rows are taken unseen, for time: where there is little, or an entry a row: pointers and permutations,
    which algorithms make in every round, so that looking would take longer than using them."""
    return prefer == "time" and nvals <= max(SMALL - 1, nrows)


def asked(structure: Structure, name: str, tile: int | None) -> str:
    """The key of the format of that name, with that tile; without one, its usual tile, or that of the fewest bytes.

    Raises InvalidValue for a tile that it has not, or where it does not hold the matrix.
    """
    formats = [format for format in STORED.values() if format.name == name]
    sizes = [format.tile for format in formats if format.tile is not None]
    if tile is not None and not sizes:
        raise InvalidValue(f"tile: format {name!r} has none, got {tile}")
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
    """The key of the primary form: as asked, or the one that facts, costs and `config.prefer` say is best.

    Raises InvalidValue for a format or tile size that does not exist, or a format that does not hold the matrix.
    """
    if format not in FORMATS:
        raise InvalidValue(f"format: expected one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    if format != "auto":
        return asked(structure, format, tile)
    if tile is not None:
        raise InvalidValue(f"tile: expected together with a format that has tiles, got {tile!r}")
    return weighed(structure, iso=iso).key


def weighed(structure: Structure, *, iso: bool) -> Weighed:
    """The best form of a structure. Facts come in stages, the cheapest first: sizes, which may decide; one look, of
    which the longest row may say that only forms by rows are left, and what no form that is left needs is not
    estimated; numbers of tiles that decide, and may be wrong, are counted."""
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
    """Whether tiles take no more bytes than CSR, by as much as their number may be wrong."""
    more = ERRORS * error_of(structure, tile)
    most = tuple((t, number + more if t == tile else number) for t, number in seen.tiles)
    return replace(seen, tiles=most).bytes_of(key) <= seen.bytes_of(CSR)
