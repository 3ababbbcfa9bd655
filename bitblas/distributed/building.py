"""Build, save and load distributed matrices: send each entry to the rank that owns its row, then build there.

A saved matrix is a folder with one file per rank, and a manifest, which is written last. A matrix saved by some number
of ranks can be loaded by another number.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypedDict

import numpy as np

from semirings.dtypes import DataType

from ..atomic import replacing
from ..core import Matrix as Whole
from ..core.building import check_lengths, dense_values
from ..core.convert import check_range, check_size, index_array, value_array
from ..exceptions import InvalidValue
from ..typing import Array
from . import exchange, shares
from .base import Distributed
from .group import CONFIRM, FAILED
from .shares import Shares
from .start import current, rank_device

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ..core.typing import (
        ArrayOrValue,
        DeviceArg,
        DTypeArg,
        IndicesLike,
        OperandArg,
        OperandLike,
        OperatorArg,
        SizeArg,
        ValuesLike,
    )

LONGEST = 1 << 60  # maximum size of GraphBLAS
MANIFEST = "manifest.json"
VERSION = 1  # of the manifest


Chunk = tuple[Any, ...]  # rows, columns, and values if they are not all equal: arrays of any library


class LayoutOptions(TypedDict, total=False):
    """The options of a stored format, as of `bitblas.Matrix`."""

    format: str | None
    tile: int | None
    packed: bool | None


class MatrixBuild(Distributed):
    """The constructors of a distributed Matrix; saving and loading."""

    __slots__ = ()
    _part: Whole

    if TYPE_CHECKING:

        def is_symmetric(self, *, values: bool = True) -> bool: ...

    @classmethod
    def from_coo(
        cls,
        rows: IndicesLike,
        columns: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        dup_op: OperatorArg = None,
        name: str | None = None,
        share: bool = False,
        symmetric: bool = False,
        device: DeviceArg = None,
        **layout: Unpack[LayoutOptions],
    ) -> Self:
        """As `bitblas.Matrix.from_coo`. Every rank passes the same arrays; with `share`, each passes its part of the
        entries, in any rows, which are then sent to their owners. Sizes that are not given are derived from all
        parts."""
        d, group = rank_device(device), current()

        def checked() -> tuple[Array, Array, ArrayOrValue, DataType]:
            i, j = index_array(d, rows, "rows"), index_array(d, columns, "columns")
            array, kind = value_array(d, values, dtype)
            check_lengths(array, i, j)
            check_range(i, LONGEST if nrows is None else check_size("nrows", nrows), "rows")
            check_range(j, LONGEST if ncols is None else check_size("ncols", ncols), "columns")
            return i, j, array, kind

        i, j, array, kind = group.all_or_none("Matrix.from_coo", checked) if share else checked()
        nrows, ncols = _size(i, nrows, "nrows", share), _size(j, ncols, "ncols", share)
        s = _partition_rows(nrows, [i], share)
        if share:
            array, kind = exchange.unify_values(array, kind, len(i))
        (i, j), array = exchange.owned_entries(s, (i, j), array, share)
        make = lambda: Whole.from_coo(
            i - s.low, j, array, kind, nrows=s.mine, ncols=ncols, dup_op=dup_op, device=d, **layout
        )
        part = group.all_or_none("Matrix.from_coo", make, alike=not share)
        return cls._checked(cls._of(part, s, name), symmetric)

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[Chunk] | Callable[[], Iterator[Chunk]],
        value: OperandLike = True,
        dtype: DTypeArg = None,
        *,
        nrows: SupportsIndex,
        ncols: SupportsIndex,
        dup_op: OperatorArg = None,
        name: str | None = None,
        share: bool = False,
        symmetric: bool = False,
        device: DeviceArg = None,
        **layout: Unpack[LayoutOptions],
    ) -> Self:
        """As `bitblas.Matrix.from_chunks`, from a list or a function that returns a new iterator each time: chunks are
        read three times, first to count the entries of rows. Every rank passes the same chunks; with `share`, each
        passes its own."""
        nrows, ncols = check_size("nrows", nrows), check_size("ncols", ncols)
        read_chunks: Callable[[], Iterator[Chunk]] = chunks if callable(chunks) else lambda: iter(chunks)
        d, group = rank_device(device), current()
        s = _partition_rows(nrows, (index_array(d, chunk[0], "rows") for chunk in read_chunks()), share)
        build = partial(
            Whole.from_chunks, value=value, dtype=dtype, nrows=s.mine, ncols=ncols, dup_op=dup_op, device=d, **layout
        )
        if share and group.size > 1:
            part = RedistributedChunks(read_chunks, s, ncols).build(build)
        else:
            of_rank = lambda: build(lambda: _entries_of_rank(read_chunks(), s))
            part = group.all_or_none("Matrix.from_chunks", of_rank, alike=True)
        return cls._checked(cls._of(part, s, name), symmetric)

    @classmethod
    def from_dense(
        cls, values: ValuesLike, missing_value: OperandArg = None, *, dtype: DTypeArg = None, name: str | None = None
    ) -> Self:
        """A Matrix from a two-dimensional array, the same on every rank, without elements equal to `missing_value`."""
        array, kind = dense_values(current().device, values, dtype, Whole)
        s = shares.of(len(array))
        return cls._of(Whole.from_dense(array[s.low : s.high], missing_value, dtype=kind), s, name)

    @classmethod
    def from_matrix(cls, A: Whole, *, name: str | None = None) -> Self:
        """From a `bitblas.Matrix` that every rank has."""
        i, j, x = A.to_coo()
        return cls.from_coo(i, j, x, A.dtype, nrows=A.nrows, ncols=A.ncols, name=name or A.name)

    @classmethod
    def _checked(cls, A: Self, symmetric: bool) -> Self:
        if symmetric and not A.is_symmetric(values=False):
            raise InvalidValue(
                "symmetric: expected an entry (j, i) for each entry (i, j), got some without; omit "
                "symmetric= if this is unknown"
            )
        return A

    # ---- files ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix into a folder that all ranks can access, created if missing: each rank writes its rows in
        their stored format, then one rank writes the manifest. Until then, `load` opens what was saved before.

        Raises OSError (of this rank), DistributedError (another rank could not write).
        """
        group, folder = current(), Path(path)
        token = group.texts(uuid.uuid4().hex[:8])[0]
        names = [f"rows-{rank}-of-{group.size}-{token}.bitblas" for rank in range(group.size)]
        with group.statement(lambda: f"{self.name}.save({str(path)!r})"):
            group.all_or_none("save", lambda: self._write(folder, names[group.rank]))
            facts = {"version": VERSION, "shape": self.shape, "dtype": self.dtype.name, "name": self.name}
            facts |= {"bounds": self.shares.bounds, "files": names}
            group.all_or_none("save", lambda: _write_manifest(folder, facts) if group.rank == 0 else None)

    def _write(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._part.save(folder / name)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        verify: bool = False,
        name: str | None = None,
        **layout: Unpack[LayoutOptions],
    ) -> Self:
        """Load a Matrix that `save` wrote, on any number of ranks. verify: check the contents of files.

        If the number of ranks and the partition are the same, each rank maps its file; otherwise the entries are
        redistributed. Raises OSError, InvalidValue (invalid manifest or file), DistributedError.
        """
        group, folder = current(), Path(path)
        manifest = group.all_or_none("load", lambda: _manifest(folder))
        manifest = json.loads(group.texts(json.dumps(manifest))[0])  # another program may be saving it again
        files, bounds, nrows = manifest["files"], manifest["bounds"], manifest["shape"][0]
        with group.statement(lambda: f"Matrix.load({str(path)!r})"):
            if len(files) == group.size and not shares.has_partition(nrows):
                shares.set_partition(tuple(bounds))
            mine = range(group.rank, len(files), group.size)
            how = {"verify": verify, "device": group.device}
            parts = group.all_or_none("load", lambda: [_part(folder / files[k], manifest, k, how) for k in mine])
            title = name or manifest["name"]
            if shares.of(nrows).bounds == tuple(bounds):
                return cls._of(parts[0], shares.of(nrows), title)
            return cls._joined(parts, [bounds[k] for k in mine], manifest, title, layout)

    @classmethod
    def _joined(
        cls, parts: list[Whole], lows: list[int], manifest: dict[str, Any], name: str, layout: LayoutOptions
    ) -> Self:
        """The Matrix from the rows that each rank has read."""
        nrows, ncols = manifest["shape"]
        parts = parts or [Whole(manifest["dtype"], 0, ncols, device=current().device)]
        stores = [part._stored for part in parts if part.nvals] or [parts[0]._stored]
        first = stores[0]
        same = all(s.iso and s.values.tobytes() == first.values.tobytes() for s in stores)
        count = sum(s.nvals for s in stores)
        one = exchange.facts_of_ranks(count, first.values if same else None, first.dtype).one
        xp, found = current().device.xp, [part.to_coo() for part in parts]
        empty = (xp.zeros(0, np.int64), xp.zeros(0, np.int64), xp.zeros(0, first.dtype.np_type))
        i, j, x = (xp.concatenate([empty[k], *(f[k].astype(empty[k].dtype) for f in found)]) for k in range(3))
        at = 0
        for low, (rows, _, _) in zip(lows, found):
            i[at : at + len(rows)] += low
            at += len(rows)
        values = x if one is None else one
        return cls.from_coo(i, j, values, manifest["dtype"], nrows=nrows, ncols=ncols, share=True, name=name, **layout)


def _size(indices: Array, size: SizeArg, name: str, share: bool) -> int:
    if size is not None:
        return check_size(name, size)
    found = int(indices.max()) + 1 if len(indices) else 0
    found = exchange.maximum_of_ranks(found) if share else found
    if not found:
        raise ValueError(f"{name}: expected a size, because there are no indices, got None")
    return found


def _partition_rows(nrows: int, rows: Iterable[Array], share: bool) -> Shares:
    """The partition of the rows; set by their entries if that size has no partition yet."""
    group = current()
    if group.size == 1 or shares.has_partition(nrows):
        return shares.of(nrows)
    block = shares.block_size(nrows)

    def counted() -> np.ndarray:
        count = np.zeros(-(-nrows // block), np.int64)
        for i in rows:
            check_range(i, nrows, "rows")
            count += group.device.to_host(group.device.xp.bincount(i // block, minlength=len(count)))
        return count

    total = group.allreduce(group.all_or_none("rows", counted)) if share else counted()
    return shares.partition_by_entries(nrows, total)


def _entries_of_rank(chunks: Iterator[Chunk], s: Shares) -> Iterator[tuple[Array, ...]]:
    """This rank's entries out of chunks that every rank has."""
    d, single = current().device, current().size == 1
    for chunk in chunks:
        i, *rest = (d.asarray(x) for x in chunk)
        if not single:
            keep = s.has(i)
            i, *rest = i[keep] - s.low, *(x[keep] for x in rest)
        yield (i, *rest)


BEGINS, DONE = -3, -4  # messages between passes; within a pass ranks send the length of their chunk, or -1 at the end


class RedistributedChunks:
    """Chunks of all ranks, redistributed chunk by chunk; called as often as this rank needs a pass over them.

    How often that is depends on this rank's part and memory, so ranks that are done continue to send their chunks until
    all are done.
    """

    def __init__(self, read_chunks: Callable[[], Iterator[Chunk]], s: Shares, ncols: int) -> None:
        self.read_chunks, self.shares, self.ncols, self.failed = read_chunks, s, ncols, False

    def __call__(self) -> Iterator[tuple[Array, ...]]:
        self.exchange_numbers(BEGINS)
        yield from self.redistribute()

    def build(self, make: Callable[[RedistributedChunks], Whole]) -> Whole:
        """Run make(self), which calls this object; DistributedError if it fails on another rank."""
        try:
            part = make(self)
        except Exception as error:
            if not self.failed:
                self.exchange_numbers(FAILED, error)
            raise
        while (self.exchange_numbers(DONE) == BEGINS).any():
            for _ in self.redistribute():
                pass
        return part

    def exchange_numbers(self, number: int, error: Exception | None = None) -> np.ndarray:
        """Exchange numbers between all ranks. DistributedError if another rank sends FAILED."""
        group = current()
        numbers: np.ndarray = group.gather_host(np.array([number]), CONFIRM)[:, 0]
        self.failed = bool((numbers == FAILED).any())
        group.raise_remote_failures("Matrix.from_chunks", numbers, error)
        return numbers

    def redistribute(self) -> Iterator[tuple[Array, ...]]:
        """Yield this rank's entries from the chunks of all ranks, until no rank has another chunk."""
        group, s = current(), self.shares
        d, chunks, more = group.device, None, True
        while True:
            ends = [np.zeros(0, np.int64)] * 2
            try:
                chunks = iter(self.read_chunks()) if chunks is None else chunks
                chunk = next(chunks, None) if more else None
                more = chunk is not None
                if chunk is not None:
                    if len(chunk) != 2:
                        raise InvalidValue("chunks: with share=True, expected rows and columns alone, got values too")
                    ends = [index_array(d, x, name) for x, name in zip(chunk, ("rows", "columns"))]
                    check_lengths(np.bool_(True), *ends)
                    check_range(ends[0], s.size, "rows")
                    check_range(ends[1], self.ncols, "columns")
            except Exception as error:
                self.exchange_numbers(FAILED, error)
                raise
            if (self.exchange_numbers(len(ends[0]) if more else -1) < 0).all():
                return
            arrays = [d.asarray(x).astype(np.int64, copy=False) for x in ends]
            i, j = exchange.redistribute(s.owners(d.xp, arrays[0]), arrays)
            yield i - s.low, j


# ---- Files of a saved matrix.


def _part(path: Path, manifest: dict[str, Any], k: int, how: dict[str, Any]) -> Whole:
    part, bounds = Whole.load(path, **how), manifest["bounds"]
    expected = bounds[k + 1] - bounds[k], manifest["shape"][1]
    if part.shape != expected or part.dtype.name != manifest["dtype"]:
        got = f"{part.dtype} of {part.nrows} x {part.ncols}"
        raise InvalidValue(
            f"{path}: expected {manifest['dtype']} of {expected[0]} x {expected[1]}, as in the manifest, got {got}"
        )
    return part


def _write_manifest(folder: Path, facts: dict[str, Any]) -> None:
    with replacing(folder / MANIFEST) as stream:
        stream.write(json.dumps(facts).encode())
    for old in folder.glob("rows-*-of-*-*.bitblas"):
        if old.name not in facts["files"]:
            with suppress(OSError):
                old.unlink()


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / MANIFEST
    try:
        found = json.loads(file.read_bytes())
        files, bounds, shape = found["files"], found["bounds"], found["shape"]
        sound = found["version"] == VERSION and len(bounds) == len(files) + 1 and sorted(bounds) == bounds
        if not sound or [bounds[0], bounds[-1]] != [0, shape[0]] or any(os.sep in name for name in files):
            raise ValueError("its contents are inconsistent, or were written by a newer bitblas")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InvalidValue(f"{file}: expected the manifest of a saved distributed Matrix: {error}") from None
    return dict(found)
