"""What a plan knows of a structure: its size, how many tiles of each size it has and how many of them pay, sampled."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from ..formats import FORMATS, Held, Structure, format_of
from ..formats.b2sr.choice import TILES
from ..formats.b2sr.merging import count_tiles
from ..formats.csr.choice import UNEVEN
from ..formats.split import layout
from ..formats.split.counting import count_parts
from ..formats.split.layout import Parts
from .depth import Walked, walked

SAMPLES = 64  # blocks of 64 rows that the profile looks at, fewer where they hold more than
SAMPLED_ENTRIES = 1 << 16  # in all; but eight blocks at least


@dataclass(frozen=True)
class Facts:
    """What the profile of a structure knows, predicted or counted. tiles: (tile size, number of non-empty tiles);
    parts: (tile size, what a Split would hold); depth: levels of a breadth-first search, estimated (0: not square);
    heads: entries among the first 32 of their row, of which a Boolean product reads no more where many are active;
    longest: entries of the longest row."""

    nrows: int
    ncols: int
    nvals: int
    tiles: tuple[tuple[int, float], ...]
    parts: tuple[tuple[int, Parts], ...] = ()
    depth: float = 0.0
    heads: float = 0.0
    longest: float = 0.0

    @property
    def fill(self) -> float:
        """Entries per non-empty 8x8 tile."""
        return self.nvals / max(1.0, dict(self.tiles)[8])

    @property
    def uneven(self) -> bool:
        """Whether rows are of so different lengths that products read them in another way (`plan.is_staged`)."""
        return self.longest * self.nrows > UNEVEN * self.nvals

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that hold such a structure, and of which these facts say what they would hold."""
        return tuple(key for key, format in FORMATS.items() if format.knows(self))

    def bytes_of(self, key: str) -> int:
        """Predicted bytes of the structure in a form, values not counted."""
        return format_of(key).predict_bytes(self)

    def held_in(self, key: str) -> Held:
        """Tiles of a form, entries in them, and entries that are listed one by one."""
        return format_of(key).held(self)

    @staticmethod
    def from_json(made: Any) -> Facts:
        """What `json` made of `dataclasses.asdict`. TypeError, KeyError, ValueError for anything else."""
        if missing := {field.name for field in fields(Facts)} - set(made):
            raise KeyError(*missing)
        tiles = tuple((int(tile), float(count)) for tile, count in made["tiles"])
        parts = tuple((int(tile), Parts(*part)) for tile, part in made["parts"])
        return Facts(**{**made, "tiles": tiles, "parts": parts})


def facts(
    structure: Structure, sizes: tuple[int, ...] = TILES, splits: tuple[int, ...] = layout.TILES, *, exact: bool = False
) -> Facts:
    """Tiles of these sizes, and the parts of a Split with those. Sampled on the CPU as in the B2SR paper (Algorithm 1):
    up to 64 blocks of 64 rows, evenly spaced, count their tiles. A GPU counts all tiles, which takes less time than
    bringing a sample to the host; with `exact` the CPU does so too. Sizes of which 32 bits cannot number the columns
    have no parts."""
    splits = tuple(tile for tile in splits if layout.fits(structure.ncols, tile))
    tiles = _known(structure, "tiles", sizes, exact, lambda rows, tile: float(count_tiles(rows, tile)), _sample_tiles)
    parts = _known(structure, "parts", splits, exact, count_parts, _sample_parts)
    rows = walked(structure) if sizes else Walked()
    return Facts(structure.nrows, structure.ncols, structure.nvals, tiles, parts, *rows)


def _known(
    structure: Structure, name: str, sizes: tuple[int, ...], exact: bool, count: Any, sample: Any
) -> tuple[Any, ...]:
    """(size, what was counted or sampled for it), for each of the sizes; looked at once."""
    counts = exact or structure.device.is_gpu
    known: dict[int, Any] = structure.primary.cache.setdefault(f"{name}, counted" if exact else name, {})
    missing = [tile for tile in sizes if tile not in known]
    if missing and not structure.nvals:
        known.update(dict.fromkeys(missing, Parts(0.0, 0.0) if name == "parts" else 0.0))
    elif missing:
        rows = _rows(structure, counts)
        if counts:
            known.update((tile, count(rows, tile)) for tile in missing)
        else:
            known.update(sample(_picked(rows), rows.nrows, rows.ncols))
    return tuple((tile, known[tile]) for tile in sizes)


def count(structure: Structure, tile: int) -> bool:
    """Put the number of tiles of that size in the place of what was sampled; False if it was known."""
    if structure.device.is_gpu:
        return False
    sampled = structure.primary.cache["tiles"]
    ((_, counted),) = facts(structure, (tile,), (), exact=True).tiles
    found, sampled[tile] = sampled[tile] != counted, counted
    return bool(found)


def _rows(structure: Structure, counts: bool) -> Any:
    """Rows to look at: those that are there, else some that are made for this alone. A sample reads packed columns as
    they lie; to count in all of them plain ones are made."""
    if not counts and structure.primary.format.by_rows:
        return structure.primary
    return structure.plain_rows()


class Sample(NamedTuple):
    """Entries of some blocks of 64 rows, the numbers of these, and how many blocks each stands for. Columns beyond
    2**34 are numbered anew, so that a number of a tile and one of a row share 64 bits."""

    rows: Any
    cols: Any
    chosen: Any
    weights: Any


def _picked(rows: Any) -> Sample:
    blocks = -(-rows.nrows // 64)
    picks = min(SAMPLES, max(8, SAMPLED_ENTRIES * rows.nrows // (64 * rows.nvals)))
    # Evenly spaced entries pick the blocks, so that a block counts by its size and a hub is not taken for the rule:
    # tiles = entries * the mean of tiles / entries over the picks.
    limits = rows.ptr[np.minimum(np.arange(blocks + 1) * 64, rows.nrows)].astype(np.int64)
    if blocks <= SAMPLES and rows.nvals <= SAMPLED_ENTRIES:  # small: look at everything
        chosen, weights = np.arange(blocks), np.ones(blocks)
    else:
        places = (np.arange(picks) + 0.5) * rows.nvals / picks
        chosen, times = np.unique(np.searchsorted(limits, places, side="right") - 1, return_counts=True)
        weights = times / np.diff(limits)[chosen] * rows.nvals / picks
    seen_rows, seen_cols = [], []
    for block in chosen:
        ptr = rows.ptr[block * 64 : block * 64 + 65].astype(np.int64)
        seen_rows.append(np.repeat(np.arange(len(ptr) - 1) + block * 64, np.diff(ptr)))
        seen_cols.append(rows.columns(int(ptr[0]), int(ptr[-1])).astype(np.int64))
    cols = np.concatenate(seen_cols)
    if rows.ncols > 1 << 34:  # what shares a tile still does
        cols = np.unique(cols >> 6, return_inverse=True)[1] << 6 | cols & 63
    return Sample(np.concatenate(seen_rows), cols, chosen, weights)


def _sample_tiles(of: Sample, nrows: int, ncols: int) -> list[tuple[int, float]]:
    r, c = of.rows, of.cols
    found = []
    for tile in TILES:  # the tiles of one size are counted from those of the size below
        shift = 2 if tile == 4 else 1
        keys = np.sort((r >> shift << 32) | (c >> shift))
        keys = keys[np.append(True, keys[1:] != keys[:-1])]  # np.unique hashes, which takes ten times as long
        r, c = keys >> 32, keys & 0xFFFFFFFF
        per_block = np.bincount(np.searchsorted(of.chosen, r // (64 // tile)), minlength=len(of.chosen))
        found.append((tile, float(per_block @ of.weights)))
    return found


def _sample_parts(of: Sample, nrows: int, ncols: int) -> list[tuple[int, Parts]]:
    found = []
    entries = np.bincount(np.searchsorted(of.chosen, of.rows // 64), minlength=len(of.chosen))

    @functools.cache
    def below() -> list[float]:
        """The entries in columns below 1, 2, 4, .. (as formats/split/counting.py counts them)."""
        weight = np.repeat(of.weights, entries)
        return [float(weight[of.cols < 1 << k].sum()) for k in range((ncols - 1).bit_length() + 1)]

    for tile in (tile for tile in layout.TILES if layout.fits(ncols, tile)):
        keys = np.sort((of.rows // tile << 32) | (of.cols // tile))
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        held = np.diff(starts, append=len(keys))
        tile_col = keys[starts] & 0xFFFFFFFF
        weight = of.weights[np.searchsorted(of.chosen, (keys[starts] >> 32) // (64 // tile))]

        def count(near_width: int, tile: int = tile, held: Any = held, col: Any = tile_col, w: Any = weight) -> Parts:
            rule = layout.rule_of(ncols, tile, near_width)
            near = col < rule.limit
            pays = held >= np.where(near, rule.near, rule.far)
            listed = w * held * ~pays
            return Parts(float(w[pays].sum()), float(listed[~near].sum()), float(listed[near].sum()), near_width)

        found.append((tile, layout.best_parts(count, below, nrows, ncols, tile)))
    return found
