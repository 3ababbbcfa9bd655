"""Measures what products cost in each stored form on a device, and fits the constants of costs.py to them.

Matrices of seven kinds (a mesh, a stencil, full tiles, tiles with some entries, random, skewed, and tiny) are made from
a fixed seed; each product is timed in each form, warm; the constants of a form and verb are the non-negative ones
that minimise the sum of squared relative errors. (Lawson and Hanson: Solving least squares problems. 1974, chapter 23.)
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from semirings import dtypes
from semirings.catalog import SEMIRINGS

from . import costs, facts
from .core.matrix import Matrix
from .core.vector import Vector
from .costs import BITS, NUMBERS, WEIGHTS, Costs
from .device import Device
from .formats import CSR, Structure, build, tile_of
from .plan_forms import Profile
from .store import MatrixStore

SCALE = {"cpu": 17, "gpu": 20}  # log2 of the vertices


def grid(n: int) -> tuple[Any, Any]:
    """A square grid, row by row: four neighbours."""
    side = int(n**0.5)
    at = np.arange(side * side)
    row, col = at // side, at % side
    steps = ((1, col < side - 1), (-1, col > 0), (side, row < side - 1), (-side, row > 0))
    pairs = [(at[inside], at[inside] + step) for step, inside in steps]
    return np.concatenate([r for r, _ in pairs]), np.concatenate([c for _, c in pairs])


def stencil(n: int) -> tuple[Any, Any]:
    """Runs of three columns at nine distances, as those of a 27-point stencil."""
    side = max(2, round(n ** (1 / 3)))
    steps = [x + side * (y + side * z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    rows = np.repeat(np.arange(n // 2), len(steps))
    cols = rows + np.tile(steps, n // 2)
    inside = (cols >= 0) & (cols < n // 2)
    return rows[inside], cols[inside]


def near(n: int, degree: int, reach: int) -> tuple[Any, Any]:
    """Columns drawn within `reach` of the diagonal."""
    rng = np.random.default_rng(reach)
    rows = np.repeat(np.arange(n), degree)
    return rows, np.clip(rows + rng.integers(-reach, reach + 1, len(rows)), 0, n - 1)


def skewed(n: int, degree: int = 12) -> tuple[Any, Any]:
    """Rows and columns drawn with probability falling as 1 / number, as after ordering by degree."""
    rng = np.random.default_rng(2)
    rows, cols = (np.minimum((n ** rng.random(degree * n)).astype(np.int64), n - 1) for _ in range(2))
    return rows, cols


def samples(n: int) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """(vertices, entries) of each kind."""
    yield n, grid(n)
    yield n // 2, stencil(n)
    yield n // 4, near(n // 4, 24, 16)  # full tiles
    yield n, near(n, 6, 40)  # a mesh in a good order
    yield n, near(n, 8, 2000)  # tiles with an entry or two in lines that are read again
    yield n, near(n, 8, n)
    yield n, skewed(n)
    yield 1 << 10, near(1 << 10, 8, 1 << 10)


def _product(A: Matrix, verb: str) -> Callable[[], Any]:
    """The statement that is timed."""
    n, device = A.nrows, A.device.name
    ring = {BITS: "any_pair", NUMBERS: "plus_second", WEIGHTS: "min_plus"}[verb]
    t = dtypes.BOOL if verb == BITS else dtypes.FP32
    if verb == BITS:
        u = Vector.from_coo(np.flatnonzero(np.random.default_rng(0).random(n) < 0.3), True, size=n, device=device)
    else:
        u = Vector.from_dense(np.arange(n, dtype=np.float32) % 7, device=device)
    w, semiring = Vector(t, n, device=device), SEMIRINGS[ring][t]
    assert u.nvals >= 0  # known from here on: counting waits for the device, which a captured statement must not do

    def run() -> Any:
        w << A.mxv(u, semiring)
        return w

    return run


def in_form(A: Matrix, key: str) -> Matrix:
    """The same matrix with `key` as its primary form."""
    name = key.rstrip("0123456789") if tile_of(key) > 1 else key
    return Matrix._from_store(build.with_format(A._store, name, tile_of(key) if name != key else None))


def measure(A: Matrix, verb: str) -> float:
    """Microseconds of one product, the median of several: of the kernels on a GPU, of the statement on the CPU."""
    return A.device.time_us(_product(A, verb))


def fit(rows: list[tuple[tuple[float, ...], float]]) -> tuple[float, ...]:
    """c >= 0 that minimises sum((c . features / time - 1)^2) over (features, time)."""
    from scipy.optimize import nnls

    scaled = np.array([np.array(features) / time for features, time in rows])
    widths = np.abs(scaled).max(axis=0)  # features span nine orders of magnitude
    widths[widths == 0] = 1
    found, _ = nnls(scaled / widths, np.ones(len(rows)))
    return tuple(float(c) for c in found / widths)


@dataclass(frozen=True)
class Calibration:
    """Fitted constants, and the largest and the mean relative error of each form and verb on the samples."""

    costs: Costs
    errors: dict[str, tuple[float, float]]

    def __str__(self) -> str:
        lines = [f"{self.costs.device}, {self.costs.source}", f"{'form verb':16s} {'mean error':>10s} {'worst':>8s}"]
        lines += [f"{name:16s} {mean:>9.0%} {worst:>8.0%}" for name, (mean, worst) in self.errors.items()]
        return "\n".join(lines)


def calibrate(device: Device, scale: int | None = None) -> Calibration:
    """Measure and fit all forms. scale: log2 of the vertices of the samples (default 17 on a CPU, 20 on a GPU)."""
    how: dict[str, Any]
    rows: dict[str, list[tuple[tuple[float, ...], float]]] = {}
    for n, (i, j) in samples(1 << (scale or SCALE["gpu" if device.is_gpu else "cpu"])):
        for weighted in (False, True):
            values = ((i * 7 + j) % 63 + 1).astype(np.float32) if weighted else True
            how = {"dup_op": "first"} if weighted else {}
            A = Matrix.from_coo(i, j, values, nrows=n, ncols=n, device=device.name, format="csr", **how)
            seen = facts.facts(A._store.structure)
            for key in seen.forms:
                B = in_form(A, key)
                for verb in (WEIGHTS,) if weighted else (BITS, NUMBERS):
                    rows.setdefault(f"{key} {verb}", []).append((costs.features(seen, key, verb), measure(B, verb)))
    us = {name: fit(measured) for name, measured in sorted(rows.items())}
    errors = {}
    for name, constants in us.items():
        off = [abs(np.dot(constants, features) / time - 1) for features, time in rows[name]]
        errors[name] = float(np.mean(off)), float(np.max(off))
    when = datetime.date.today().isoformat()
    return Calibration(Costs(device.model, f"calibrated {when}", us), errors)


def measured(A: Matrix, profile: Profile) -> Profile:
    """The profile with the products of A timed in every form; each form is made for it and dropped."""
    found, held = [], A._store
    for key in profile.facts.forms:
        rows = MatrixStore(Structure(held.structure.form(CSR)), held.dtype, held.raw_for(CSR, False))
        B = in_form(Matrix._from_store(rows), key)
        found += [((key, verb), measure(B, verb)) for verb in profile.verbs]
    return replace(profile, measured=tuple(found))


def save(made: Costs, path: Path) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as out:
        json.dump(made.to_json(), out, indent=1)
    os.replace(out.name, path)
