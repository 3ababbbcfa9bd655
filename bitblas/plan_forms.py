"""The choice of a stored form: the bytes and microseconds that each is predicted to take, and the rule; see plan.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semirings.dtypes import DataType

from .config import config
from .costs import BITS, NUMBERS, WEIGHTS, Costs, costs_of
from .device import Device
from .exceptions import InvalidValue
from .facts import Facts, facts
from .formats import CSR, MPLG, ROWS, Structure, tile_of
from .formats.b2sr.format import TILES
from .formats.mplg.format import Mplg
from .formats.packing import packed_words
from .formats.split import layout as split
from .formats.values import PackedValues, fit
from .plan_limit import limited
from .store import MatrixStore

FORMATS = ("auto", "csr", "mplg", "b2sr", "split")  # what may be asked for
SMALL = 1 << 12  # entries; below, rows are as good as tiles, and a build would cost more than it saves (not measured)
DEFAULT_TILE = 8  # smallest in bytes on meshes; one 64-bit word, no shuffles on the GPU (measured)

# Threads that a GPU needs to be busy: 32 lanes for each tile row are fewer where these are few and long, and then rows
# are faster (H200, Boolean, Mycielskian 14 with 1,536 tile rows of 8: 17 us, its rows 7).
BUSY = 1 << 18


def verbs_of(iso: bool) -> tuple[str, ...]:
    """The products that count for a matrix: those of a pattern, or those that read its values."""
    return (BITS, NUMBERS) if iso else (WEIGHTS,)


def candidates(seen: Facts, prefer: str, iso: bool, gpu: bool) -> tuple[str, ...]:
    """Forms to choose from. For time plain rows and tiles: packed columns are decoded, in the same kernels, and Split
    makes rows for some verbs. With values rows alone: tiles and parts find them by rank, which costs more than it saves
    (min_plus, H200: 26 us on a mesh's rows, 86 on its tiles)."""
    if prefer == "time":
        tiles = [key for key in seen.forms if iso and key.startswith("b2sr")]
        return CSR, *(key for key in tiles if not gpu or 32 * seen.nrows >= BUSY * tile_of(key))
    return seen.forms if iso else tuple(key for key in seen.forms if key in ROWS)


def slowness(seen: Facts, costs: Costs, key: str, iso: bool) -> float:
    """The predicted time in units of that of plain rows: the geometric mean over the products that count."""
    ratios = [costs.predict(seen, key, verb) / costs.predict(seen, CSR, verb) for verb in verbs_of(iso)]
    return float(math.prod(ratios) ** (1 / len(ratios)))


def best_form(seen: Facts, costs: Costs, prefer: str, *, iso: bool, gpu: bool = False) -> str:
    """prefer "memory": the form of fewest bytes. "time": the fastest one of no more bytes than 32-bit CSR."""
    keys = candidates(seen, prefer, iso, gpu)
    if prefer == "memory":
        return min(keys, key=seen.bytes_of)
    fit = [key for key in keys if seen.bytes_of(key) <= seen.bytes_of(CSR)]
    return min(fit, key=lambda key: slowness(seen, costs, key, iso))


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
    if config.prefer == "time" and structure.nvals <= max(SMALL - 1, structure.nrows):
        return CSR  # also of an entry a row (pointers, permutations): nothing to gather in tiles
    device = structure.device
    return best_form(facts(structure), costs_of(device), config.prefer, iso=iso, gpu=device.is_gpu)


def wants_packed(nvals: int) -> bool:
    """Whether values may be packed though nobody asks: for bytes, and of so many entries that it matters."""
    return config.prefer == "memory" and nvals >= SMALL


def packed_bytes(nvals: int, width: int) -> int:
    """Bytes of that many packed values of `width` bits."""
    return 4 * packed_words(nvals, width)


def packs(device: Device, dtype: DataType, nvals: int, found: tuple[np.generic, int] | str) -> bool:
    """Whether values are packed though nobody asks. found: their base and bits, or why they have none."""
    if isinstance(found, str):
        return False
    needed = packed_bytes(nvals, found[1])
    return needed < nvals * dtype.nbytes and not device.missing(needed)


class ValueBytes(NamedTuple):
    """Bytes of the values of a matrix: as an array of their type, packed to `width` bits, and as they are held.
    plain is 0 where one value is all, width where they cannot be packed."""

    plain: int
    width: int
    packed: int
    held: int

    def __str__(self) -> str:
        if not self.plain:
            return "values: one for all entries"
        packed = f"packed to {self.width} bits: {self.packed} bytes" if self.width else "cannot be packed"
        return f"values: {self.plain} bytes, {packed}; held: {self.held}"


def value_bytes(A: MatrixStore) -> ValueBytes:
    """Looks at all values, unless they are packed."""
    raw = A.raw
    if isinstance(raw, np.generic) or not A.nvals:
        return ValueBytes(0, 0, 0, 0)
    plain = A.nvals * A.dtype.nbytes
    if isinstance(raw, PackedValues):
        size = packed_bytes(A.nvals, raw.width)
        return ValueBytes(plain, raw.width, size, size)
    found = fit(A.device, A.dtype, raw)
    if isinstance(found, str):
        return ValueBytes(plain, 0, 0, plain)
    return ValueBytes(plain, found[1], packed_bytes(A.nvals, found[1]), plain)


@dataclass(frozen=True)
class Profile:
    """Facts, predicted bytes per form and microseconds per product and form, and the choice; prints as a table.

    values: the bytes of the values, which come to those of every form. measured: microseconds by (form, verb) where
    they were measured.
    """

    facts: Facts
    costs: Costs
    chosen: str
    held: tuple[str, ...]
    verbs: tuple[str, ...]
    values: ValueBytes
    reason: str = ""  # why a limit of memory chose, if it did
    measured: tuple[tuple[tuple[str, str], float], ...] = ()

    def _fill(self, key: str) -> str:
        f = self.facts
        if key in ROWS:
            return ""
        if not key.startswith("split"):
            return f"{f.nvals / max(1.0, dict(f.tiles)[tile_of(key)]):.2f}"
        parts = dict(f.parts)[tile_of(key)]  # of the tiles that pay
        return f"{(f.nvals - parts.in_rest) / parts.tiles:.2f}" if parts.tiles else "0.00"

    def __str__(self) -> str:
        f, measured = self.facts, dict(self.measured)
        times = "".join(f" {verb + ' us':>12s}" + f" {'measured':>9s}" * bool(measured) for verb in self.verbs)
        lines = [
            f"{f.nrows} x {f.ncols}, {f.nvals} entries, {f.fill:.2f} entries per 8x8 tile (sampled); "
            f"times: {self.costs.device}, {self.costs.source}",
            f"{'form':8s} {'entries/tile':>12s} {'bytes':>14s} {'bytes/entry':>12s}{times}",
        ]
        for key in f.forms:
            size = f.bytes_of(key)
            line = f"{key:8s} {self._fill(key):>12s} {size:>14d} {size / max(1, f.nvals):>12.2f}"
            for verb in self.verbs:
                line += f" {self.costs.predict(f, key, verb):>12.1f}"
                line += f" {measured[key, verb]:>9.1f}" if measured else ""
            lines.append(line + (" <- auto" if key == self.chosen else "") + (" (held)" if key in self.held else ""))
        return "\n".join([*lines, str(self.values)] + [self.reason] * bool(self.reason))


def profile(A: MatrixStore) -> Profile:
    """What the plan sees in a matrix, and what it would choose."""
    held = tuple(key for key, transposed, _, _ in A.structure.forms() if not transposed)
    chosen, reason = limited(A.structure, choose_form(A.structure, iso=A.iso), A.iso)
    return Profile(facts(A.structure), costs_of(A.device), chosen, held, verbs_of(A.iso), value_bytes(A), reason)
