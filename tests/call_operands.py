"""Operands for the statements of kernel_calls.py, and limits of sizes that small ones reach."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from battery import generator, values

import bitblas as gb
from bitblas import tuning
from bitblas.formats import coded
from bitblas.operations import ewise_vector

SIZE = 150


@contextmanager
def limits(**changed: Any) -> Iterator[None]:
    """With other limits of sizes, so that small operands reach them."""
    rows = {
        "iterations": ("rows.iterations",),
        "graded": ("csr.binned_from",),
        "hot": ("rows.hot_share",),
        "coded": ("coded.binned_from",),
        "shared": ("spgemm.shared.words",),
        "push": ("push_cost.cpu", "push_cost.gpu"),
    }
    places: dict[str, tuple[Any, str]] = {"chunk": (ewise_vector, "CHUNK"), "short": (coded, "SHORT")}
    before = {name: getattr(*places[name]) for name in changed if name not in rows}
    try:
        for name in before:
            setattr(*places[name], changed[name])
        with tuning.override({row: changed[name] for name in rows if name in changed for row in rows[name]}):
            yield
    finally:
        for name, value in before.items():
            setattr(*places[name], value)


def a_vector(dtype: str, *, size: int = SIZE, full: bool = False, iso: bool = False) -> gb.Vector:
    """Of every third position, or all."""
    at = np.arange(0, size, 1 if full else 3)
    x = values(generator("vector", dtype), dtype, len(at))
    return gb.Vector.from_coo(at, x[0] if iso else x, dtype, size=size)


def a_matrix(dtype: str, *, seed: int = 0, iso: bool = False, n: int = SIZE, m: int = SIZE, **form: Any) -> gb.Matrix:
    keys = np.unique(np.random.default_rng(seed).integers(0, n * m, 900))
    x = True if iso else values(generator("matrix", dtype), dtype, len(keys))
    return gb.Matrix.from_coo(keys // m, keys % m, x, dtype, nrows=n, ncols=m, **form)
