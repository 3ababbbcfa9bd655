"""Facts about the structure of a matrix: size, tiles of each size, what each format counts, levels of a search."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from semirings.cached import cached_property

from .. import tuning
from ..formats import FORMATS, ItemCounts, Structure, format_of
from ..formats.b2sr.cost import TILES
from ..formats.b2sr.layout import count_tiles
from ..formats.sampling import SAMPLES, Sample, StructureSample, sample_structure
from ..formats.structure import is_by_rows

# ---- Estimate the number of levels of a breadth-first search.


def levels_of(n: int, balls: list[float], ended: bool) -> float:
    """The radius at which a ball contains all n vertices, if the balls of radius 0, 1, 2, .. have the sizes `balls` and
    go on to grow as (radius)^d: d is 1 on a path, 2 on a mesh, and so large in a power-law graph that few levels
    remain. ended: they no longer grow."""
    last = len(balls) - 1
    if last < 1 or ended:
        return float(last + 1)
    half = max(1, last // 2)
    growth = math.log(balls[last] / balls[half], last / half) if last > 1 else math.log2(balls[1])
    return max(1.0, last * max(1.0, n / balls[last]) ** (1 / max(1.0, growth)))


def mean_balls(sizes: Any) -> tuple[list[float], bool]:
    """The mean size of balls of radius 0, 1, 2, .. as far as all of them are known, and whether they no longer grow.
    sizes: of each ball by radius, 0 if not known."""
    known = [sum(column) / len(column) for column in zip(*sizes.tolist(), strict=True) if min(column)]
    for last in range(1, len(known)):
        if known[last] == known[last - 1]:
            return known[: last + 1], True
    return known, False


# ---- Facts about the structure of a matrix: its size, the tiles of each size, and what each format counts in
# addition.


@dataclass(frozen=True)
class Facts:
    """Predicted or counted facts about a structure. tiles: (tile size, number of non-empty tiles); own: (key, what its
    format counts itself); levels: of a breadth-first search, estimated (0: not square); heads: entries among the first
    32 of their row, beyond which a Boolean product reads nothing if many vertices are active; longest: entries of the
    longest row."""

    nrows: int
    ncols: int
    nvals: int
    tiles: tuple[tuple[int, float], ...]
    own: tuple[tuple[str, Any], ...] = ()
    levels: float = 0.0
    heads: float = 0.0
    longest: float = 0.0

    @cached_property
    def tiles_of(self) -> dict[int, float]:
        """The number of non-empty tiles by tile size."""
        return dict(self.tiles)

    @cached_property
    def own_of(self) -> dict[str, Any]:
        """What formats count themselves, by format key."""
        return dict(self.own)

    @property
    def fill(self) -> float:
        """Entries per non-empty 8x8 tile."""
        return self.nvals / max(1.0, self.tiles_of[8])

    @cached_property
    def uneven(self) -> bool:
        """Whether row lengths differ so much that products use another kernel."""
        return self.longest * self.nrows > tuning.value("csr.uneven") * self.nvals

    @property
    def forms(self) -> tuple[str, ...]:
        """The formats that can hold such a structure, and for which these facts predict the size."""
        return tuple(key for key, format in FORMATS.items() if format.cost.can_predict(self))

    def bytes_of(self, key: str) -> int:
        """Predicted bytes of the structure in a format, without values."""
        return self.holding(key)[0]

    def listing_in(self, key: str) -> ItemCounts:
        """Tiles of a format, entries in them, and entries that are listed one by one."""
        return self.holding(key)[1]

    @cached_property
    def _held(self) -> dict[str, tuple[int, ItemCounts, int]]:
        return {}

    def holding(self, key: str) -> tuple[int, ItemCounts, int]:
        """The bytes, the listing and the units of a format, cached: a choice needs them many times."""
        found = self._held.get(key)
        if found is None:
            format = format_of(key)
            units = max(1, format.units(self.nrows))
            found = self._held[key] = format.cost.predict_bytes(self), format.cost.listing(self), units
        return found

    @staticmethod
    def from_json(made: Any) -> Facts:
        """The inverse of `json` of `dataclasses.asdict`. TypeError, KeyError, ValueError for anything else."""
        if missing := {field.name for field in fields(Facts)} - set(made):
            raise KeyError(*missing)
        tiles = tuple((int(tile), float(count)) for tile, count in made["tiles"])
        own = tuple((str(key), _own(format_of(key).cost.nothing, value)) for key, value in made["own"])
        return Facts(**{**made, "tiles": tiles, "own": own})


def _own(nothing: Any, value: Any) -> Any:
    """What a format counts itself, from JSON: of the same class as for an empty matrix."""
    return type(nothing)(*value) if isinstance(nothing, tuple) else value


class Own(dict[str, Any]):
    """What formats estimate themselves from a sample, by format key: computed at the first access."""

    def __init__(self, of: Sample) -> None:
        self.sample = of

    def __missing__(self, key: str) -> Any:
        found = self[key] = format_of(key).cost.sample(self.sample)
        return found


class Estimates(NamedTuple):
    """Estimates from one sample of a structure. errors: standard errors of the numbers of tiles."""

    tiles: dict[int, float]
    errors: dict[int, float]
    own: Own
    levels: float
    heads: float
    longest: float


def facts(
    structure: Structure, sizes: tuple[int, ...] = TILES, keys: Container[str] = FORMATS, *, exact: bool = False
) -> Facts:
    """Tiles of these sizes, and what formats of these keys count themselves. Estimated from one sample
    (formats/sampling.py), on every device, unless already counted; with `exact` everything is counted."""
    nrows, ncols, nvals = structure.nrows, structure.ncols, structure.nvals
    costs = {key: format.cost for key, format in FORMATS.items()}
    fit = {key: cost for key, cost in costs.items() if key in keys and not cost.refusal(nrows, ncols)}
    own = {key: cost for key, cost in fit.items() if cost.counts == "own"}
    counts = own | {key: cost for key, cost in fit.items() if cost.counts == "exact"}
    if not nvals:
        nothing = tuple((tile, 0.0) for tile in sizes), tuple((key, cost.nothing) for key, cost in counts.items())
        return Facts(nrows, ncols, nvals, *nothing)
    counted: dict[Any, Any] = structure.primary.cache.setdefault("counted", {})
    if exact and not counted.keys() >= {*sizes, *counts}:
        rows = structure.plain_rows()
        counted |= {tile: float(count_tiles(rows, tile)) for tile in sizes if tile not in counted}
        counted |= {key: cost.count(rows) for key, cost in counts.items() if key not in counted}
    seen = estimates(structure)
    tiles = tuple((tile, counted.get(tile, seen.tiles[tile])) for tile in sizes)
    parts = tuple((key, counted[key] if key in counted else seen.own[key]) for key in own)
    late = "exact", "asked"
    parts += tuple((key, counted[key]) for key, cost in costs.items() if cost.counts in late and key in counted)
    return Facts(nrows, ncols, nvals, tiles, parts, seen.levels, seen.heads, seen.longest)


def best_known(structure: Structure, sizes: tuple[int, ...] = TILES, keys: Container[str] = FORMATS) -> Facts:
    """For choices by bytes rather than by time: counted if that takes milliseconds."""
    exact = structure.device.is_simt or structure.nvals <= tuning.count("facts.counted_entries")
    return facts(structure, sizes, keys, exact=exact)


def estimates(structure: Structure) -> Estimates:
    """Estimates of a structure with entries, computed once. Columns are read as they are stored, bit-packed ones
    too."""
    cache = structure.primary.cache
    if "estimates" not in cache:
        primary = structure.primary
        cache["estimates"] = estimated(sample_structure(primary if is_by_rows(primary) else structure.plain_rows()))
    found: Estimates = cache["estimates"]
    return found


def estimated(of: StructureSample) -> Estimates:
    """Estimates from a sample."""
    sample, n = of.sample, of.sample.nrows
    levels = levels_of(n, *mean_balls(of.balls)) if n == sample.ncols else 0.0
    return Estimates(*sample.sums(), Own(sample), levels, float(of.heads), float(of.longest))


def error_of(structure: Structure, tile: int) -> float:
    """The standard error of the number of tiles of that size; 0 if they were counted."""
    if not structure.nvals or tile in structure.primary.cache.get("counted", ()):
        return 0.0
    return estimates(structure).errors[tile]


def is_sampled(structure: Structure) -> bool:
    """Whether the numbers of tiles are estimates."""
    return structure.nvals > SAMPLES and not structure.primary.cache.get("counted", {}).keys() >= {*TILES}


def count(structure: Structure, tile: int) -> bool:
    """Replace the estimated number of tiles of that size by the exact one; False if that was the same."""
    before, after = (facts(structure, (tile,), (), exact=exact).tiles for exact in (False, True))
    return bool(before != after)
