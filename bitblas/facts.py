"""What a plan knows of a structure: its size, and how many tiles of each size it has, sampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .formats import ROWS, Structure
from .formats.b2sr.format import TILES, B2sr, count_tiles
from .formats.csr.format import KEY as CSR
from .formats.csr.format import Csr
from .formats.mplg.format import KEY as MPLG
from .formats.mplg.format import Mplg

SAMPLES = 64  # blocks of 64 rows that the profile looks at, fewer where they hold more than
SAMPLED_ENTRIES = 1 << 16  # in all; but eight blocks at least


@dataclass(frozen=True)
class Facts:
    """What the profile of a structure knows. tiles: (tile size, number of non-empty tiles), predicted or counted."""

    nrows: int
    ncols: int
    nvals: int
    tiles: tuple[tuple[int, float], ...]

    @property
    def fill(self) -> float:
        """Entries per non-empty 8x8 tile."""
        return self.nvals / max(1.0, dict(self.tiles)[8])

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that hold such a structure."""
        by_rows = (CSR, MPLG) if Mplg.holds(self.nrows, self.ncols) else (CSR,)
        return *by_rows, *(f"b2sr{tile}" for tile, _ in self.tiles)

    def bytes_of(self, key: str) -> int:
        """Predicted bytes of the structure in a form, values not counted."""
        if key == CSR:
            return Csr.predict_bytes(self.nrows, self.ncols, self.nvals)
        if key == MPLG:
            return Mplg.predict_bytes(self.nrows, self.ncols, self.nvals)
        tile = int(key[4:])
        return B2sr.predict_bytes(self.nrows, self.ncols, round(dict(self.tiles)[tile]), tile)

    def items_of(self, key: str) -> float:
        """What the units of a form list: entries, or tiles."""
        return float(self.nvals) if key in ROWS else dict(self.tiles)[tile_of(key)]


@dataclass(frozen=True)
class Profile:
    """Facts, predicted bytes per form, and the choice; prints as a table."""

    facts: Facts
    chosen: str
    held: tuple[str, ...]

    def __str__(self) -> str:
        f = self.facts
        lines = [
            f"{f.nrows} x {f.ncols}, {f.nvals} entries, {f.fill:.2f} entries per 8x8 tile (sampled)",
            f"{'form':8s} {'entries/tile':>12s} {'bytes':>14s} {'bytes/entry':>12s}",
        ]
        for key in f.forms:
            tiles = 0.0 if key in ROWS else dict(f.tiles)[int(key[4:])]
            fill = "" if key in ROWS else f"{f.nvals / max(1.0, tiles):.2f}"
            size = f.bytes_of(key)
            note = (" <- auto" if key == self.chosen else "") + (" (held)" if key in self.held else "")
            lines.append(f"{key:8s} {fill:>12s} {size:>14d} {size / max(1, f.nvals):>12.2f}{note}")
        return "\n".join(lines)


def facts(structure: Structure, sizes: tuple[int, ...] = TILES) -> Facts:
    """Tiles of these sizes. Sampled on the CPU as in the B2SR paper (Algorithm 1): up to 64 blocks of 64 rows, evenly
    spaced, count their tiles. A GPU counts all tiles, which takes less time than bringing a sample to the host."""
    known: dict[int, float] = structure.primary.cache.setdefault("tiles", {})
    missing = [tile for tile in sizes if tile not in known]
    if missing and not structure.nvals:
        known.update(dict.fromkeys(TILES, 0.0))
    elif missing:
        rows = structure.form(CSR)
        assert isinstance(rows, Csr)
        if rows.device.is_gpu:
            known.update((tile, float(count_tiles(rows, tile))) for tile in missing)
        else:
            known.update(_sample(rows))
    return Facts(structure.nrows, structure.ncols, structure.nvals, tuple((tile, known[tile]) for tile in sizes))


def _sample(rows: Csr) -> list[tuple[int, float]]:
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
        seen_cols.append(rows.col[ptr[0] : ptr[-1]].astype(np.int64))
    r, c = np.concatenate(seen_rows), np.concatenate(seen_cols)
    found = []
    for tile in TILES:  # the tiles of one size are counted from those of the size below
        shift = 2 if tile == 4 else 1
        keys = np.sort((r >> shift << 32) | (c >> shift))
        keys = keys[np.append(True, keys[1:] != keys[:-1])]  # np.unique hashes, which takes ten times as long
        r, c = keys >> 32, keys & 0xFFFFFFFF
        per_block = np.bincount(np.searchsorted(chosen, r // (64 // tile)), minlength=len(chosen))
        found.append((tile, float(per_block @ weights)))
    return found
