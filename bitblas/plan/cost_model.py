"""Cost model: predicted microseconds of a matrix-vector product, or of a breadth-first search, in each stored format.

    us(format, verb) = c . features(facts, format, verb),    c >= 0

A product reads bytes (of the format and the vectors), units (rows or tile rows), tiles, the entries in tiles, listed
entries, lines (64-byte lines of the vector that neighbouring rows read), and heads (one per row, for rows that stop at
their first hit). Chains are the tiles and listed entries, and the entries in tiles, of an average unit: one group of
lanes walks along a unit, so few long units take longer than many short ones. A matrix with uneven rows lists entries
that another kernel reads, at an extra cost. A search reads everything once, over all its levels; each level has a fixed
cost, a cost for each row (the vectors of a statement), and a cost for the bytes, because levels may pull. The number of
levels is an estimate (`Facts.levels`).

The constants of each format and verb are fitted to measurements (calibrate/).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import tuning
from ..device import Device
from ..device.jit import cache_dir
from ..exceptions import InvalidValue
from ..formats import format_of
from .facts import Facts

VERSION = 3
# Boolean mxv (bits in, bits out); plus_second in FP32 (no values of the matrix are read); min_plus in FP32; all levels
# of a breadth-first search.
BITS, NUMBERS, WEIGHTS, BFS = "bits", "numbers", "weights", "bfs"
VERBS = (BITS, NUMBERS, WEIGHTS, BFS)
# Columns of a tile that represents a line; 512 bits would need tiles of 512.
LINE = {BITS: 64, NUMBERS: 16, WEIGHTS: 16, BFS: 64}
# Measured on a CPU and on an H200, which is used for GPUs without a calibration.
SHIPPED = Path(__file__).parents[1] / "data" / "costs.json"


def features(seen: Facts, key: str, verb: str) -> tuple[float, ...]:
    """The features that the constants of a format and verb multiply: (1, bytes, units, tiles, entries in tiles, listed
    entries, lines, chain of tiles and listed entries, chain of entries in tiles, uneven, heads); for a search levels,
    levels * rows and levels * bytes instead of heads."""
    (one, size, *layout), (vectors, lines, *ends, _) = of_form(seen, key), of_verb(seen, verb)
    last = (ends[0], ends[1], ends[2] * size)[: COUNTS[verb] - 10]
    return (one, size + vectors, *layout[:4], lines, *layout[5:], *last)


def of_form(seen: Facts, key: str) -> tuple[float, ...]:
    """The features that are the same for all verbs, without vectors and values; lines are 0 here."""
    size, (tiles, inside, listed), units = seen.holding(key)
    items = tiles + listed
    uneven = items if seen.uneven else 0.0
    return 1.0, float(size), float(units), tiles, inside, listed, 0.0, items / units, inside / units, uneven


def vector_bytes(seen: Facts, verb: str) -> float:
    """Bytes of the vectors of a verb, and of the values that it reads."""
    if verb in (BITS, BFS):
        return (seen.ncols + 2 * seen.nrows) / 8
    return 4.125 * (seen.ncols + seen.nrows) + (4 * seen.nvals if verb == WEIGHTS else 0)


def of_verb(seen: Facts, verb: str) -> tuple[float, ...]:
    """The features of a verb that do not depend on the format: bytes of the vectors, lines, the last three (the very
    last per byte of the format), and the bytes of the values."""
    last = (seen.levels, seen.levels * seen.nrows, seen.levels) if verb == BFS else (seen.heads, 0.0, 0.0)
    values = 4.0 * seen.nvals if verb == WEIGHTS else 0.0
    return vector_bytes(seen, verb), seen.tiles_of[LINE[verb]], *last, values


COUNTS = {BITS: 11, NUMBERS: 11, WEIGHTS: 11, BFS: 13}  # number of features of each verb


@dataclass(frozen=True)
class Costs:
    """Microseconds per feature, by "form verb". source: origin of the measurements; threads: CPU threads that shared
    the work."""

    device: str
    source: str
    us: Mapping[str, tuple[float, ...]] = field(repr=False)
    bandwidth: float = math.inf  # bytes that the device moves per microsecond
    threads: int = 1
    # Constants of some formats, by verb
    tables: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def shared(self, threads: int) -> Costs:
        """Costs with this number of threads. They share everything except the fixed cost of a statement and of a search
        level."""
        share = self.threads / min(threads, tuning.value("pull.threads.cpu"))
        us = {
            name: tuple(x if k == 0 or (k == 10 and name.endswith(BFS)) else x * share for k, x in enumerate(c))
            for name, c in self.us.items()
        }
        return replace(self, us=us, bandwidth=self.bandwidth / share, threads=threads, tables={})

    def predict(self, seen: Facts, key: str, verb: str) -> float:
        """Microseconds of one product or search, at least the time that moving the bytes takes: the fit, made on
        matrices of one size, underestimates much larger ones. InvalidValue for a format that was not calibrated."""
        return self.times(seen, (key,), (verb,))[key][verb]

    def times(self, seen: Facts, keys: tuple[str, ...], verbs: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """`predict` for several formats and verbs at once, by format."""
        constants, early = self.constants(keys, verbs)
        forms = np.array([of_form(seen, key) for key in keys])
        by_verb = np.array([of_verb(seen, verb) for verb in verbs])
        size, all_features = forms[:, 1, None], np.empty(constants.shape)
        all_features[:, :, :10] = forms[:, None]
        all_features[:, :, 1] += by_verb[:, 0]
        all_features[:, :, 6] = by_verb[:, 1]
        all_features[:, :, 10:] = by_verb[:, 2:5]
        all_features[:, :, 12] *= size
        predicted = (constants * all_features).sum(axis=2)
        share = np.where(early, min(1.0, seen.heads / max(1, seen.nvals)), 1.0)
        us = np.maximum(predicted, (size * share + by_verb[:, 5]) / self.bandwidth).tolist()
        return {key: dict(zip(verbs, mine)) for key, mine in zip(keys, us)}

    def constants(self, keys: tuple[str, ...], verbs: tuple[str, ...]) -> Any:
        """The constants of some formats for some verbs, zero if a verb has fewer; and where a product reads rows that
        end early, so that it does not read all of them."""
        if (keys, verbs) not in self.tables:
            if lacks := [f"{key} {verb}" for key in keys for verb in verbs if f"{key} {verb}" not in self.us]:
                where = f"{self.device} ({self.source})"
                raise InvalidValue(f"costs: no constants of {lacks[0]} for {where}; run `bitblas calibrate`")
            found, most = np.zeros((len(keys), len(verbs), max(COUNTS.values()))), (BITS, BFS)
            for k, key in enumerate(keys):
                for v, verb in enumerate(verbs):
                    found[k, v, : COUNTS[verb]] = self.us[f"{key} {verb}"]
            early = np.array([[format_of(key).by_rows and verb in most for verb in verbs] for key in keys])
            self.tables[keys, verbs] = found, early
        return self.tables[keys, verbs]

    def to_json(self) -> dict[str, Any]:
        about = {"version": VERSION, "device": self.device, "source": self.source, "bandwidth": self.bandwidth}
        return {**about, "threads": self.threads, "us": dict(self.us)}

    @staticmethod
    def from_json(made: Any) -> Costs:
        """ValueError, LookupError or TypeError for anything that `to_json` did not write."""
        if made["version"] != VERSION:
            raise ValueError(f"version {made['version']}, expected {VERSION}")
        us = {str(name): tuple(float(c) for c in constants) for name, constants in made["us"].items()}
        for name, c in us.items():
            count = COUNTS[name.split()[1]]
            if len(c) != count or not all(math.isfinite(x) and x >= 0 for x in c):
                raise ValueError(f"{name}: expected {count} constants >= 0")
        bandwidth = float(made["bandwidth"])
        if not bandwidth > 0:
            raise ValueError(f"bandwidth: expected a number above 0, got {bandwidth}")
        threads = int(made.get("threads", 1))
        if threads < 1:
            raise ValueError(f"threads: expected at least 1, got {threads}")
        return Costs(str(made["device"]), str(made["source"]), us, bandwidth, threads)


def path_of(device: Device) -> Path:
    """Path of a device's calibration, next to the compiled kernels."""
    name = "".join(c if c.isalnum() else "-" for c in device.model)
    return cache_dir() / "costs" / f"{name}.json"


def costs_of(device: Device) -> Costs:
    """The costs calibrated on this device with the same number of threads, else the shipped ones of its kind, scaled to
    its threads. InvalidValue for a broken file."""
    return _kept(device, 1 if device.is_simt else device.threads)


@functools.cache
def _kept(device: Device, threads: int) -> Costs:
    path = path_of(device)
    if path.exists():
        import json

        try:
            return Costs.from_json(json.loads(path.read_text()))
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            wrong = f"costs: {path} is damaged or of another version ({error})"
            raise InvalidValue(f"{wrong}; `bitblas calibrate` writes a new one") from error
    return shipped(device.kind).shared(threads)


tuning.on_change(_kept.cache_clear)
forget = _kept.cache_clear  # discards what was read, after a calibration


@functools.cache
def shipped(kind: str) -> Costs:
    """The constants shipped with bitblas, for "cpu" or "gpu"."""
    import json

    return Costs.from_json(json.loads(SHIPPED.read_text())[kind])
