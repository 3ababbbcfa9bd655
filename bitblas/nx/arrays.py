"""Python objects to NumPy arrays: node numbers, edge attributes, exact sums; types, and the exception for fallback."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import chain
from types import WrapperDescriptorType
from typing import Any, TypeAlias

import numpy as np

from .. import tuning
from ..device.dictionaries import hashes

# ---- The exception that sends a call back to NetworkX when bitblas does not support a graph or an argument.


class Refused(NotImplementedError):  # NetworkX's dispatch catches this base class and runs its own function
    """bitblas does not support this call; NetworkX runs it. The message gives the reason and is logged once."""


# ---- Types of arguments and results of NetworkX's functions: nodes, edges, numbers by node.

Node: TypeAlias = Hashable
Nodes: TypeAlias = Iterable[Hashable]
Edge: TypeAlias = tuple[Hashable, Hashable]
Start: TypeAlias = Mapping[Hashable, float]  # a number by node, as an argument
Scores: TypeAlias = dict[Hashable, float]  # a number by node, as a result
NodeOrNodes: TypeAlias = Any  # a node, several nodes, or None: all nodes
Attributes: TypeAlias = dict[str, Any]  # of a node, an edge or a graph; values are any objects
Number: TypeAlias = int | float


# ---- Overflow-free sums of weights: exact for integers beyond 64 bits, as in Python.
#
# INT64 arrays are summed directly if the sum of all magnitudes fits. Otherwise each number is split into two words,
# which are summed separately; the sums are joined as Python ints in object arrays.

LIMIT = 2.0**62  # half of INT64's range, because the bound is summed in FP64 and rounded
WORD = 32  # bits of the lower word


def fits_int64(values: np.ndarray, times: float = 1) -> bool:
    """Whether no sum of these values, each taken up to `times` times, overflows INT64; True for other dtypes."""
    if values.dtype.kind != "i" or not len(values):
        return True
    largest = max(int(values.max()), -int(values.min()))
    return largest * len(values) * times < LIMIT or float(np.abs(values.astype(np.float64)).sum()) * times < LIMIT


def exact_sum(values: np.ndarray) -> Number:
    """The sum as a Python number, exact for integers and for object arrays of Python ints."""
    if values.dtype.kind != "i" or fits_int64(values):
        found = values.sum()
        return found.item() if isinstance(found, np.generic) else found
    high, low = split_words(values)
    return (int(high.sum()) << WORD) + int(low.sum())


def sum_by_group(values: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """The sums of the values per group number below `count`: INT64, FP64, or Python ints if sums may exceed INT64."""
    if fits_int64(values):
        found = np.zeros(count, values.dtype)
        np.add.at(found, groups, values)
        return found
    return join_words(*(sum_by_group(word, groups, count) for word in split_words(values)))


def split_words(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The upper and lower word of each integer: values = upper * 2^32 + lower, INT64."""
    return values >> WORD, values & ((1 << WORD) - 1)


def join_words(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The Python ints of these words, or of sums of them."""
    return high.astype(object) * (1 << WORD) + low.astype(object)


# ---- Python objects to NumPy arrays: nodes to indices, attributes to values.

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2**64 over the golden ratio


def numbers_of(adj: Mapping[Node, Mapping[Node, Any]], count: int, labels: list[Node]) -> np.ndarray:
    """The node numbers of `count` neighbours, the keys of the dictionaries in `adj`, all among the labels: INT64."""
    if not _hash_natively(labels):
        return _numbers_by_lookup(labels, adj, count)
    label_hashes = np.fromiter(map(hash, labels), np.int64, len(labels))
    if np.array_equal(label_hashes, np.arange(len(label_hashes))):
        return hashes(adj, count)
    order = np.argsort(label_hashes, kind="stable")
    ascending = label_hashes[order]
    if (ascending[1:] == ascending[:-1]).any():  # two labels share a hash, such as -1 and -2
        return _numbers_by_lookup(labels, adj, count)
    neighbour_hashes = hashes(adj, count)
    shift = np.uint64(64 - (tuning.count("nx.hash_slots") * len(label_hashes)).bit_length())
    slot = lambda hashes: (hashes.view(np.uint64) * GOLDEN >> shift).view(np.int64)
    table = np.zeros(1 << (64 - int(shift)), np.int64)
    table[slot(label_hashes)] = np.arange(len(label_hashes))
    found = table[slot(neighbour_hashes)]
    others = np.flatnonzero(label_hashes[found] != neighbour_hashes)
    found[others] = order[np.searchsorted(ascending, neighbour_hashes[others])]
    return found


def _hash_natively(labels: Nodes) -> bool:
    """Whether hashing calls no Python code, during which other threads could run and change the data."""
    kinds = set(map(type, labels))
    if not all(type(kind.__hash__) is WrapperDescriptorType for kind in kinds):
        return False
    parts = [label for label in labels if isinstance(label, (tuple, frozenset))] if kinds & {tuple, frozenset} else []
    return not parts or _hash_natively(list(chain.from_iterable(parts)))


def _numbers_by_lookup(labels: list[Node], adj: Mapping[Node, Mapping[Node, Any]], count: int) -> np.ndarray:
    """The same with one dictionary lookup per neighbour."""
    number = dict(zip(labels, range(len(labels))))
    return np.fromiter(map(number.__getitem__, chain.from_iterable(adj.values())), np.int64, count)


def as_numbers(read: Callable[[], Iterable[Any]], name: str) -> np.ndarray:
    """The values of `read()`, a fresh iterator per call, as INT64 or FP64. Raises Refused unless all are real
    numbers.
    """
    try:
        return np.asarray(array("q", read()))
    except OverflowError:
        raise Refused(f"edge attribute {name!r} holds integers of more than 64 bits") from None
    except TypeError:
        other = next(value for value in read() if not isinstance(value, (int, np.integer)))
    if not isinstance(other, (float, np.floating)):
        raise Refused(f"edge attribute {name!r} holds {type(other).__name__}; only numbers are supported")
    try:
        return np.asarray(array("d", read()))
    except (TypeError, OverflowError):
        raise Refused(f"edge attribute {name!r} holds values that are not numbers") from None


def ascending(ptr: np.ndarray, cols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Permutations of the entries of a square matrix by (row, column) and by (column, row): INT32, or INT64 if
    needed.
    """
    n, count = len(ptr) - 1, len(cols)
    if count < tuning.count("nx.sorted_entries"):
        rows = np.repeat(np.arange(n), np.diff(ptr))
        return np.lexsort((cols, rows)), np.lexsort((rows, cols))
    from scipy.sparse import csr_array

    kind = np.int32 if max(n, count) < 1 << 31 else np.int64
    # Stable counting sorts in compiled code, to CSC and back.
    numbered = csr_array((np.arange(count, dtype=kind), cols.astype(kind), ptr.astype(kind)), shape=(n, n))
    numbered.has_canonical_format = True
    by_column = numbered.tocsc()
    return by_column.tocsr().data, by_column.data
