"""The choice of a form: what the plan sees of a matrix, as a table, and the tiles of a Split; see plan.py."""

from __future__ import annotations

from dataclasses import dataclass

from .exceptions import InvalidValue
from .facts import Facts, facts
from .formats import Structure, tile_of
from .formats.b2sr.format import TILES
from .formats.csr.format import KEY as CSR
from .formats.split import format as split


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
        for key in (CSR, *(f"b2sr{t}" for t in TILES), *(split.key_of(t) for t, _ in f.parts)):
            fill = ""
            if key.startswith("b2sr"):
                fill = f"{f.nvals / max(1.0, dict(f.tiles)[tile_of(key)]):.2f}"
            elif key.startswith("split"):  # of the tiles that pay, and how much of all they hold
                tiles, in_rest = dict(f.parts)[tile_of(key)]
                fill = f"{(f.nvals - in_rest) / max(1.0, tiles):.2f}" if tiles else "0.00"
            size = f.bytes_of(key)
            note = (" <- auto" if key == self.chosen else "") + (" (held)" if key in self.held else "")
            lines.append(f"{key:8s} {fill:>12s} {size:>14d} {size / max(1, f.nvals):>12.2f}{note}")
        return "\n".join(lines)
