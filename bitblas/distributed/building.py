"""Matrices in shares from arrays and chunks: entries are brought to the rank that has their row, and built there as the
library builds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import Matrix as Whole
from ..core.building import check_lengths, dense_values
from ..core.convert import check_range, check_size, index_array, value_array
from ..exceptions import InvalidValue
from . import exchange, shares
from .shares import Shares
from .start import current, own_device


class MatrixBuild:
    """The constructors of Matrix in shares."""

    __slots__ = ()
    _of: Any
    is_symmetric: Callable[..., bool]

    @classmethod
    def from_coo(
        cls, rows: Any, columns: Any, values: Any = 1.0, dtype: Any = None, *, nrows: Any = None, ncols: Any = None,
        dup_op: Any = None, name: str | None = None, share: bool = False, symmetric: bool = False, device: Any = None,
        **layout: Any,
    ) -> Any:  # fmt: skip
        """As `bitblas.Matrix.from_coo`. Every rank gives the same arrays; with `share`, each its part of the entries,
        in any rows, which are then brought to where they belong; sizes that are not given are those of all parts."""
        d = own_device(device)
        i, j = index_array(d, rows, "rows"), index_array(d, columns, "columns")
        array, kind = value_array(d, values, dtype)
        check_lengths(array, i, j)
        nrows, ncols = _size(i, nrows, "nrows", share), _size(j, ncols, "ncols", share)
        check_range(i, nrows, "rows")
        check_range(j, ncols, "columns")
        s = _dealt_shares(nrows, [i], share)
        if share:
            if isinstance(array, np.generic):
                i, j = exchange.dealt(s.owners(d.xp, i), (i, j))
            else:
                i, j, array = exchange.dealt(s.owners(d.xp, i), (i, j, array))
        elif current().size > 1:
            keep = s.has(i)
            i, j, array = i[keep], j[keep], array if isinstance(array, np.generic) else array[keep]
        part = Whole.from_coo(
            i - s.low, j, array, kind, nrows=s.mine, ncols=ncols, dup_op=dup_op, device=d, **layout
        )  # fmt: skip
        return cls._checked(cls._of(part, s, name), symmetric)

    @classmethod
    def from_chunks(
        cls, chunks: Any, value: Any = True, dtype: Any = None, *, nrows: Any, ncols: Any, dup_op: Any = None,
        name: str | None = None, share: bool = False, symmetric: bool = False, device: Any = None, **layout: Any,
    ) -> Any:  # fmt: skip
        """As `bitblas.Matrix.from_chunks`, of a list or a function that gives an iterator each time: chunks are gone
        through three times, the first time for how many entries rows have. Every rank gives the same chunks; with
        `share`, each its own."""
        nrows, ncols = check_size("nrows", nrows), check_size("ncols", ncols)
        again = chunks if callable(chunks) else lambda: iter(chunks)
        d = own_device(device)
        s = _dealt_shares(nrows, (index_array(d, chunk[0], "rows") for chunk in again()), share)
        mine = lambda: _mine(again(), s, share)
        part = Whole.from_chunks(
            mine, value, dtype, nrows=s.mine, ncols=ncols, dup_op=dup_op, device=d, **layout
        )  # fmt: skip
        return cls._checked(cls._of(part, s, name), symmetric)

    @classmethod
    def from_dense(cls, values: Any, missing_value: Any = None, *, dtype: Any = None, name: str | None = None) -> Any:
        """A Matrix of a two-dimensional array, the same on every rank, without elements equal to `missing_value`."""
        array, kind = dense_values(current().device, values, dtype, Whole)
        s = shares.of(len(array))
        return cls._of(Whole.from_dense(array[s.low : s.high], missing_value, dtype=kind), s, name)

    @classmethod
    def from_matrix(cls, A: Any, *, name: str | None = None) -> Any:
        """Of a `bitblas.Matrix` that every rank has."""
        i, j, x = A.to_coo()
        return cls.from_coo(i, j, x, A.dtype, nrows=A.nrows, ncols=A.ncols, name=name or A.name)

    @classmethod
    def _checked(cls, A: Any, symmetric: bool) -> Any:
        if symmetric and not A.is_symmetric(values=False):
            raise InvalidValue(
                "symmetric: expected an entry (j, i) for each entry (i, j), got some without; symmetric=False leaves "
                "it open"
            )
        return A


def _size(indices: Any, given: Any, name: str, share: bool) -> int:
    if given is not None:
        return check_size(name, given)
    found = int(indices.max()) + 1 if len(indices) else 0
    if share:
        found = int(current().allreduce(np.array([found]), np.maximum)[0])
    if not found:
        raise ValueError(f"{name}: expected one where there are no indices, got None")
    return found


def _dealt_shares(nrows: int, rows: Any, share: bool) -> Shares:
    """The shares of rows; dealt by the entries if there are none of that size yet."""
    group = current()
    if group.size == 1 or shares.known(nrows):
        return shares.of(nrows)
    block = shares.block(nrows)
    count = np.zeros(-(-nrows // block), np.int64)
    for i in rows:
        check_range(i, nrows, "rows")
        count += group.device.to_host(group.device.xp.bincount(i // block, minlength=len(count)))
    return shares.deal(nrows, group.allreduce(count) if share else count)


def _mine(chunks: Iterator[Any], s: Shares, share: bool) -> Iterator[Any]:
    """The entries of this rank's rows, chunk by chunk; where each rank has its own chunks, the ranks go on together
    until the last of them has no more."""
    group = current()
    d = group.device
    while True:
        chunk = next(chunks, None)
        if group.size == 1 or not share:
            if chunk is None:
                return
            i, *rest = (d.asarray(x) for x in chunk)
            keep = s.has(i)
            yield (i[keep] - s.low, *(x[keep] for x in rest)) if group.size > 1 else (i, *rest)
            continue
        lengths = group.told(np.array([-1 if chunk is None else len(chunk)]))[:, 0]
        if (lengths < 0).all():
            return
        parts = int(lengths.max())
        given = [np.zeros(0, np.int64)] * 2 if chunk is None else list(chunk)
        arrays = [d.asarray(x) for x in given]
        if parts == 3:
            raise InvalidValue("chunks: with share=True, expected rows and columns alone, got values too")
        i, j = exchange.dealt(s.owners(d.xp, arrays[0]), [x.astype(np.int64, copy=False) for x in arrays])
        yield i - s.low, j
