"""Time products and searches in each stored format on a device, and fit the constants of the cost model.

Each form is timed warm on the matrices of matrices.py. The constants of a form and verb are the non-negative least
squares solution (Lawson and Hanson: Solving least squares problems. 1974, chapter 23), weighted so that an estimate of
twice the time counts as much as one of half the time. Forms of many times the bytes of CSR, which the plan never
chooses, are left out.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from semirings import dtypes
from semirings.catalog import SEMIRINGS

from .. import tuning
from ..atomic import replacing
from ..core.matrix.matrix import Matrix
from ..core.vector import Vector
from ..device import Device
from ..formats import CSR, Structure, format_of
from ..operations import convert
from ..plan import cost_model, facts
from ..plan.cost_model import BFS, BITS, NUMBERS, WEIGHTS, Costs
from ..plan.facts import Facts
from ..plan.format_choice import verbs_of
from ..plan.profile import Profile
from ..store import MatrixStore
from . import matrices

MOVES = {"cpu": 3, "gpu": 2}  # moves per copied byte: a CPU also reads the lines that it overwrites


@dataclass(frozen=True)
class Sample:
    """The measurements of one matrix: microseconds by "form verb"."""

    name: str
    facts: Facts
    us: dict[str, float]

    def to_json(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Sample:
        """Restore from `to_json`; further keys are ignored. KeyError, TypeError, ValueError for other data."""
        us = {str(name): float(time) for name, time in data["us"].items()}
        return Sample(str(data["name"]), Facts.from_json(data["facts"]), us)


def statement(A: Matrix, verb: str, source: int = 0) -> Callable[[], Vector]:
    """The timed function, which returns its result: w << A.mxv(u), or the search from a vertex."""
    if verb == BFS:
        from ..algorithms import bfs_levels

        return lambda: bfs_levels(A, source)
    device = A.device.name
    ring = {BITS: "any_pair", NUMBERS: "plus_second", WEIGHTS: "min_plus"}[verb]
    t = dtypes.BOOL if verb == BITS else dtypes.FP32
    u = Vector.from_coo(present(A.ncols), True, size=A.ncols, device=device) if verb == BITS else None
    u = Vector.from_dense(numbers(A.ncols), device=device) if u is None else u
    w, semiring = Vector(t, A.nrows, device=device), SEMIRINGS[ring][t]
    assert u.nvals >= 0  # caches the count: counting synchronizes, which a captured statement must not do

    def product() -> Vector:
        w << A.mxv(u, semiring)
        return w

    return product


def present(n: int) -> np.ndarray:
    """The entries of the multiplied Boolean vector."""
    return np.flatnonzero(np.random.default_rng(0).random(n) < tuning.value("calibrate.vector_density"))


def numbers(n: int) -> np.ndarray:
    """The multiplied full FP32 vector: small integers, so that sums are exact."""
    return np.arange(n, dtype=np.float32) % 7


def in_form(A: Matrix, key: str) -> Matrix:
    """The same matrix with `key` as its primary format."""
    return Matrix._from_store(convert.with_format(A._store, format_of(key).name, format_of(key).tile))


def measure(A: Matrix, verb: str, source: int = 0) -> float:
    """Microseconds of one product (on a GPU of its kernels, on the CPU of the statement), or of a search including the
    call and synchronization."""
    search, run = verb == BFS, statement(A, verb, source)
    warm(run, verb)
    samples = tuning.count(f"calibrate.samples.{'search' if search else 'product'}")
    return A.device.time_us(run, samples=samples, captured=not search)


def warm(run: Callable[[], object], verb: str) -> None:
    """Warm up: the first searches of a matrix run round by round on the stored format; later ones use compiled kernel
    tables, and rows in addition to tiles."""
    for _ in range(tuning.count("calibrate.warm_searches") if verb == BFS else 0):
        run()


# ---- the fit ----


def fit(rows: Sequence[tuple[tuple[float, ...], float, float]]) -> tuple[float, ...]:
    """c >= 0 that minimises sum(weight^2 (p - time)^2 / (p time)), p = c . features, over (features, time, weight):
    a ratio p / time and its inverse count alike. Relative errors would not: p = 0 would have an error of only 1.
    Solved by iteratively reweighted least squares, with the predictions of the previous round in the weights."""
    from scipy.optimize import nnls

    features = np.array([row[0] for row in rows])
    times, weights = (np.array([row[k] for row in rows]) for k in (1, 2))
    scale = times  # relative errors, to begin with
    for _ in range(tuning.count("calibrate.fit_rounds")):
        scaled = features * (weights / scale)[:, None]
        widths = np.abs(scaled).max(axis=0)  # features span nine orders of magnitude
        widths[widths == 0] = 1
        constants = nnls(scaled / widths, weights * times / scale)[0] / widths
        predicted = np.maximum(features @ constants, times / 50)
        scale = predicted * np.sqrt(times / (predicted + times))
    return tuple(float(c) for c in constants)


@dataclass(frozen=True)
class Calibration:
    """Fitted constants, and the mean and the largest relative error of each form and verb on the samples."""

    costs: Costs
    errors: dict[str, tuple[float, float]]
    samples: Sequence[Sample]

    def __str__(self) -> str:
        lines = [f"{self.costs.device}, {self.costs.source}", f"{'form verb':16s} {'mean error':>10s} {'worst':>8s}"]
        lines += [f"{name:16s} {mean:>9.0%} {worst:>8.0%}" for name, (mean, worst) in self.errors.items()]
        return "\n".join(lines)


def fitted(
    samples: Sequence[Sample], device: str, source: str, bandwidth: float = math.inf, threads: int = 1
) -> Calibration:
    """The constants that fit the samples best. The planner compares forms, so ratios matter more than times: all forms
    but CSR are fitted to the prediction for CSR times the measured ratio, and share its errors up to a factor."""
    us: dict[str, tuple[float, ...]] = {}
    errors: dict[str, tuple[float, float]] = {}
    shared = tuning.value("calibrate.shared_error")
    names = sorted({name for sample in samples for name in sample.us})
    for name in sorted(names, key=lambda name: name.split()[0] != CSR):
        key, verb = name.split()
        plain, rows = f"{CSR} {verb}", []
        timed = [sample for sample in samples if name in sample.us]
        for sample in timed:
            time, weight = sample.us[name], 1.0
            if plain in us and plain in sample.us:
                predicted = float(np.dot(us[plain], cost_model.features(sample.facts, CSR, verb)))
                time *= min(shared, max(1 / shared, predicted / sample.us[plain]))
            if sample.facts.bytes_of(key) > sample.facts.bytes_of(CSR):
                weight = tuning.value("calibrate.large_weight")
            rows.append((cost_model.features(sample.facts, key, verb), time, weight))
        us[name] = fit(rows)
        off = [
            abs(float(np.dot(us[name], cost_model.features(sample.facts, key, verb))) / sample.us[name] - 1)
            for sample in timed
        ]
        errors[name] = float(np.mean(off)), max(off)
    costs = Costs(device, source, dict(sorted(us.items())), bandwidth, threads)
    return Calibration(costs, dict(sorted(errors.items())), tuple(samples))


def calibrate(device: Device, scale: int | None = None) -> Calibration:
    """Measure and fit all forms. scale: log2 of the vertices of the samples (default 16 on a CPU, 20 on a GPU)."""
    measurements, most = [], tuning.value("calibrate.format_bytes")
    for name, n, (i, j) in matrices.samples(1 << (scale or tuning.count(f"calibrate.scale.{device.kind}"))):
        us: dict[str, float] = {}
        source = int(np.bincount(i).argmax())
        for weighted in (False, True):
            values = ((i * 7 + j) % 63 + 1).astype(np.float32) if weighted else True
            dup_op = "first" if weighted else None
            A = Matrix.from_coo(i, j, values, nrows=n, ncols=n, device=device.name, format="csr", dup_op=dup_op)
            known = facts.best_known(A._store.structure)
            keys = (key for key in known.forms if format_of(key).cost.timed)
            for key in (key for key in keys if known.bytes_of(key) <= most * known.bytes_of(CSR)):
                B = in_form(A, key)
                us |= {f"{key} {verb}": measure(B, verb, source) for verb in verbs_of(not weighted, True)}
        measurements.append(Sample(name, known, us))
    when = datetime.date.today().isoformat()
    threads = 1 if device.is_simt else device.threads
    return fitted(measurements, device.model, f"calibrated {when}", bandwidth(device), threads)


def bandwidth(device: Device) -> float:
    """Bytes that a device moves per microsecond, measured by copying an array larger than its caches, a part per
    thread."""
    xp, size = device.xp, tuning.count(f"calibrate.copied_bytes.{device.kind}")
    source, target = (xp.array_split(xp.ones(size, np.uint8), device.threads) for _ in range(2))

    def copy(part: int) -> None:
        target[part][...] = source[part]

    with ThreadPoolExecutor(device.threads) as pool:
        others = range(1, device.threads)

        def copy_parts() -> None:
            waiting = [pool.submit(copy, part) for part in others]
            copy(0)
            for copied in waiting:
                copied.result()

        return MOVES[device.kind] * size / device.time_us(copy_parts)


def measured(A: Matrix, profile: Profile) -> Profile:
    """The profile with the products of A timed in every format; each is built temporarily."""
    times, store = [], A._store
    ptr = store.structure.rows().ptr
    source = int((ptr[1:] - ptr[:-1]).argmax()) if A.nrows else 0  # of searches: a row with the most entries
    for key in profile.facts.forms:
        rows = MatrixStore(Structure(store.structure.layout(CSR)), store.dtype, store.raw_for(CSR, False))
        B = in_form(Matrix._from_store(rows), key)
        times += [((key, verb), measure(B, verb, source)) for verb in profile.verbs]
    return replace(profile, measured=tuple(times))


def save(costs: Costs, path: Path) -> None:
    """Write the constants atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as out:
        out.write(json.dumps(costs.to_json(), indent=1).encode())
