"""Operands of an advance, in the order of its kernels' arguments: kernels/step_rows.cuh, b2sr/step.cu."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Head(NamedTuple):
    """The amount of work, the threshold from which on an advance pulls, and whether the round runs."""

    units: np.int64
    size: np.int64  # of the result
    longest: np.int64
    threshold: np.uint64
    condition: Any
    rounds: Any
    ahead: np.int64


class Source(NamedTuple):
    """The frontier that is read."""

    bits: Any
    array: Any
    iso: Any
    stride: int
    units: Any  # the list of those with entries
    state: Any
    segments: Any


class Target(NamedTuple):
    """The frontier that is written."""

    bits: Any
    array: Any
    units: Any
    state: Any
    segments: Any


class Cleared(NamedTuple):
    """The frontier that is cleared, for the next advance to write."""

    bits: Any
    array: Any
    units: Any
    state: Any


def launchable(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert Python ints for a launch."""
    return tuple(np.int64(x) if isinstance(x, int) else x for x in arguments)
