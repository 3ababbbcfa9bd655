"""What a product of a matrix with a vector takes in each stored form, predicted from facts.

    us(form, verb) = c . (1, bytes, units, items, lines)

bytes: of the form and the vectors; units: rows or tile rows; items: entries or tiles; lines: 64-byte lines of the
vector that rows near each other read. The constants c >= 0 of each form and verb are fitted to measured products
(calibrate.py): Algorithm 1 of the B2SR paper, which counts tiles in sampled rows, says what there is; a calibration
says what it costs on this device.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .device import Device
from .exceptions import InvalidValue
from .facts import Facts
from .formats import tile_of
from .jit import cache_dir

VERSION = 1
# Boolean mxv (bits in, bits out); plus_second in FP32 (no values of the matrix are read); min_plus in FP32.
BITS, NUMBERS, WEIGHTS = "bits", "numbers", "weights"
VERBS = (BITS, NUMBERS, WEIGHTS)
LINE = {
    BITS: 64,
    NUMBERS: 16,
    WEIGHTS: 16,
}  # columns of a tile that stands for a line; 512 bits would need tiles of 512
SHIPPED = (
    Path(__file__).parent / "data" / "costs.json"
)  # of a CPU and of an H200, which stands for GPUs without their own


def features(seen: Facts, key: str, verb: str) -> tuple[float, ...]:
    """What the constants of a form and verb are multiplied with."""
    vectors = (seen.ncols + 2 * seen.nrows) / 8 if verb == BITS else 4.125 * (seen.ncols + seen.nrows)
    values = 4 * seen.nvals if verb == WEIGHTS else 0
    units = -(-seen.nrows // tile_of(key))
    return 1.0, seen.bytes_of(key) + vectors + values, float(units), seen.items_of(key), dict(seen.tiles)[LINE[verb]]


@dataclass(frozen=True)
class Costs:
    """Microseconds per feature, by "form verb". source: who measured them."""

    device: str
    source: str
    us: Mapping[str, tuple[float, ...]] = field(repr=False)

    def predict(self, seen: Facts, key: str, verb: str) -> float:
        """Microseconds of one product. InvalidValue for a form that was not calibrated."""
        constants = self.us.get(f"{key} {verb}")
        if constants is None:
            raise InvalidValue(f"costs: those of {self.device} ({self.source}) lack {key} {verb}: bitblas calibrate")
        return math.fsum(c * f for c, f in zip(constants, features(seen, key, verb), strict=True))

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "device": self.device, "source": self.source, "us": dict(self.us)}

    @staticmethod
    def from_json(made: Any) -> Costs:
        """ValueError, KeyError, TypeError for what `to_json` did not write."""
        if made["version"] != VERSION:
            raise ValueError(f"version {made['version']}, expected {VERSION}")
        us = {str(name): tuple(float(c) for c in constants) for name, constants in made["us"].items()}
        if not all(len(c) == 5 and all(math.isfinite(x) and x >= 0 for x in c) for c in us.values()):
            raise ValueError("expected five constants >= 0 for each form and verb")
        return Costs(str(made["device"]), str(made["source"]), us)


def path_of(device: Device) -> Path:
    """Where the calibration of a device is kept: beside the compiled kernels."""
    name = "".join(c if c.isalnum() else "-" for c in device.model)
    return cache_dir() / "costs" / f"{name}.json"


@functools.cache
def costs_of(device: Device) -> Costs:
    """Those that were calibrated on this device, else the shipped ones of its kind. InvalidValue for a broken file."""
    path = path_of(device)
    if path.exists():
        try:
            return Costs.from_json(json.loads(path.read_text()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidValue(f"costs: {path} is damaged ({error}); `bitblas calibrate` makes it anew") from error
    return shipped("gpu" if device.is_gpu else "cpu")


@functools.cache
def shipped(kind: str) -> Costs:
    """The constants that come with bitblas, of a "cpu" or a "gpu"."""
    return Costs.from_json(json.loads(SHIPPED.read_text())[kind])


__all__ = ["BITS", "NUMBERS", "VERBS", "WEIGHTS", "Costs", "costs_of", "features", "path_of", "shipped"]
