"""Products with a map, reduced by row as they are computed: sum by key, then choose a key or combine the sums.

A map L has at most one entry per row: a label, a community, a part. C = A (+).(x) L sums the entries of each row of A
by the key of their column. The functions of this module reduce each row of C to one value and never store C: the
argmax of the row, its largest sum, the number of its keys. Rows are binned by degree on a GPU; each group of lanes keeps
the sums of its row in registers or in a hash table (formats/csr/map_products.cu). On the CPU each thread has one table.

Sums of integers are exact modulo 2^64 in any order, so every device gives the same bits. Sums of floats by key are added
in the order of the entries, in groups of 32: one order per device. Ties go to the smaller key.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.dtypes import BOOL, DataType

from ..store import MatrixStore, PlainValues, VectorStore
from ..typing import Array


class Keys(NamedTuple):
    """A map from the columns of A to keys: the matrix with the entry (j, key[j]) for each j with a key.

    key: INT32, one per column of A; negative: no entry. count: keys are below it, at most 2^31 - 1. dtype, values: of
    the entries, one per column, or one for all.
    """

    key: Array
    count: int
    dtype: DataType = BOOL
    values: PlainValues = np.True_


class Score(NamedTuple):
    """What is compared instead of the sums: `expr` of s (the sum), x (of the row) and y (of the key), all cast to
    `dtype`.

    expr: an expression in Python that is also C++: + - *, comparisons, where(condition, a, b), least(a, b),
    greatest(a, b). It is evaluated as written, without fused multiply-add, so CPU and GPU give the same bits. dtype: INT64
    or FP64 (no result may be NaN). row, key: arrays of dtype with one value per row of A, and per key.
    Louvain: Score("s - x * y", FP64, share * k, sigma).
    """

    expr: str
    dtype: DataType
    row: Array
    key: Array


class Choice(NamedTuple):
    """The chosen key of each row (INT32; -1: no entry of the row has a key that may be chosen), its score (or sum,
    without Score; undefined where there is no key), and the sum of the row's own key (0 if it has no entry; None if no
    own keys were given)."""

    key: Array
    score: Array
    own: Array | None


def choose_key(
    A: MatrixStore,
    keys: Keys,
    semiring: Typed[Semiring],
    *,
    largest: bool = True,
    transpose: bool = False,
    score: Score | None = None,
    own: Array | None = None,
    active: Array | None = None,
) -> Choice:
    """For each row i of A (of its transpose): the key whose sum (score) is largest, or smallest; ties go to the smaller
    key.

    semiring: its monoid sums the products of each key. Of integers, BOOL, FP32 or FP64. own: INT32, one key per row
    (negative: none) that is not chosen; its sum is returned. active: BOOL per row; other rows get key -1 and own 0.
    Raises OutOfMemory before it allocates.
    """
    raise NotImplementedError


def reduce_keys(
    A: MatrixStore, keys: Keys, semiring: Typed[Semiring], monoid: Typed[Monoid] | None, *, transpose: bool = False
) -> VectorStore:
    """The monoid's reduction of the sums of each row's keys; without a monoid their number (INT64)."""
    raise NotImplementedError
