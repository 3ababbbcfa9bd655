"""What a plan knows of a structure: its size, how many tiles of each size it has, what formats count besides."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats import FORMATS, Listing, Structure, format_of
from ..formats.b2sr.choice import TILES
from ..formats.b2sr.merging import count_tiles
from ..formats.csr.choice import UNEVEN
from ..formats.sample import Sample, picked
from .walk import Walked, walked

if TYPE_CHECKING:
    from ..formats.csr.format import Csr


@dataclass(frozen=True)
class Facts:
    """What the profile of a structure knows, predicted or counted. tiles: (tile size, number of non-empty tiles);
    own: (key, what its format counts by itself); levels: those of a breadth-first search, estimated (0: not square);
    heads: entries among the first 32 of their row, of which a Boolean product reads no more where many are active;
    longest: entries of the longest row."""

    nrows: int
    ncols: int
    nvals: int
    tiles: tuple[tuple[int, float], ...]
    own: tuple[tuple[str, Any], ...] = ()
    levels: float = 0.0
    heads: float = 0.0
    longest: float = 0.0

    @property
    def fill(self) -> float:
        """Entries per non-empty 8x8 tile."""
        return self.nvals / max(1.0, dict(self.tiles)[8])

    @property
    def uneven(self) -> bool:
        """Whether rows are of so different lengths that products read them in another way."""
        return self.longest * self.nrows > UNEVEN * self.nvals

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that hold such a structure, and of which these facts say what they would hold."""
        return tuple(key for key, format in FORMATS.items() if format.knows(self))

    def bytes_of(self, key: str) -> int:
        """Predicted bytes of the structure in a form, values not counted."""
        return format_of(key).predict_bytes(self)

    def listing_in(self, key: str) -> Listing:
        """Tiles of a form, entries in them, and entries that are listed one by one."""
        return format_of(key).listing(self)

    @staticmethod
    def from_json(made: Any) -> Facts:
        """What `json` made of `dataclasses.asdict`. TypeError, KeyError, ValueError for anything else."""
        if missing := {field.name for field in fields(Facts)} - set(made):
            raise KeyError(*missing)
        tiles = tuple((int(tile), float(count)) for tile, count in made["tiles"])
        own = tuple((str(key), format_of(key).fact(told)) for key, told in made["own"])
        return Facts(**{**made, "tiles": tiles, "own": own})


def facts(
    structure: Structure, sizes: tuple[int, ...] = TILES, keys: Container[str] = FORMATS, *, exact: bool = False
) -> Facts:
    """Tiles of these sizes, and what formats of these keys count that are not told by tiles. A CPU samples up to 64
    blocks of 64 rows (formats/sample.py). A GPU counts all, which takes less time than bringing a sample to the host;
    with `exact` the CPU does so too."""
    nrows, ncols, nvals = structure.nrows, structure.ncols, structure.nvals
    own = {key: f for key, f in FORMATS.items() if f.counts == "own" and key in keys and not f.refusal(nrows, ncols)}

    def count_own(rows: Csr, key: str) -> Any:
        return own[key].count(rows)

    def sample_own(of: Sample) -> list[tuple[str, Any]]:
        return [(key, format.sample(of)) for key, format in own.items()]

    tiles = _known(
        structure, "tiles", dict.fromkeys(sizes, 0.0), exact, lambda *of: float(count_tiles(*of)), _sample_tiles
    )
    held = _known(structure, "own", {key: f.nothing for key, f in own.items()}, exact, count_own, sample_own)
    rows = walked(structure) if sizes else Walked()
    return Facts(nrows, ncols, nvals, tiles, held, *rows)


def _known(
    structure: Structure, name: str, wanted: dict[Any, Any], exact: bool, count: Callable[[Csr, Any], Any],
    sample: Callable[[Sample], Iterable[tuple[Any, Any]]],
) -> tuple[Any, ...]:  # fmt: skip
    """(what is wanted, what was counted or sampled for it); looked at once. wanted: with what no entries give."""
    counts = exact or not _samples(structure)
    known: dict[Any, Any] = structure.primary.cache.setdefault(f"{name}, counted" if exact else name, {})
    missing = {what: nothing for what, nothing in wanted.items() if what not in known}
    if missing and not structure.nvals:
        known.update(missing)
    elif missing and counts:
        rows = structure.plain_rows()
        known.update((what, count(rows, what)) for what in missing)
    elif missing:  # a sample reads packed columns as they lie
        primary = structure.primary
        known.update(sample(picked(primary if primary.format.by_rows else structure.plain_rows())))
    return tuple((what, known[what]) for what in wanted)


def _samples(structure: Structure) -> bool:
    """Whether the host reads a sample where it lies; elsewhere counting takes less time than bringing one."""
    return structure.device.host_memory


def count(structure: Structure, tile: int) -> bool:
    """Put the number of tiles of that size in the place of what was sampled; False if it was known."""
    if not _samples(structure):
        return False
    sampled = structure.primary.cache["tiles"]
    ((_, counted),) = facts(structure, (tile,), (), exact=True).tiles
    found, sampled[tile] = sampled[tile] != counted, counted
    return bool(found)


def _sample_tiles(of: Sample) -> list[tuple[int, float]]:
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
