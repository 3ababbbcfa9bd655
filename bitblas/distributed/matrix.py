"""A distributed Matrix: each rank stores a block of rows, as a bitblas Matrix in any format.

To build one, each entry is sent to the rank that owns its row. A saved matrix is a folder with one file per rank, and a
manifest, which is written last; another number of ranks can load it. Symmetry is tested without the transpose: hashes
of the indices (and values) of all entries, and of their mirror images, must have the same sum.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypedDict, TypeVar

import numpy as np

from semirings import monoid, semiring
from semirings.dtypes import FP64, DataType

from .. import tuning
from ..atomic import replacing
from ..core import Matrix as Whole
from ..core.building import dense_values
from ..core.convert import check_range, check_size, index_array
from ..core.operators import typed
from ..core.options import check_options
from ..core.statement.expressions import Expression, ScalarExpression
from ..core.statement.indexing import IndexExpr, parse
from ..core.statement.infix import Operand, Operators, describe
from ..device import Device
from ..exceptions import DimensionMismatch, InvalidValue
from ..formats.csr.kernels import index_type
from ..store import MatrixStore
from ..typing import Array
from . import exchange, loops, shares, work_sharing
from .base import Distributed
from .products import DistributedExpression, check_product, classes_by_ndim, multiply_vector
from .shares import Shares
from .start import current, rank_device
from .vector import Vector

if TYPE_CHECKING:
    from types import ModuleType

    from typing_extensions import Self, Unpack

    from ..core import Vector as WholeVector
    from ..core.matrix.read import TransposedMatrix as WholeTransposed
    from ..core.typing import (
        Axes,
        DeviceArg,
        DTypeArg,
        DTypeLike,
        IndicesLike,
        MaskArg,
        OperandArg,
        OperandLike,
        OperatorArg,
        OperatorLike,
        SizeArg,
        ValuesLike,
    )
    from .products import Local

Fact = TypeVar("Fact")
MANIFEST = "manifest.json"
VERSION = 1  # of the manifest
Chunk = tuple[Any, ...]  # rows, columns, and values if they are not all equal: arrays of any library


class LayoutOptions(TypedDict, total=False):
    """The options of a stored format, as of `bitblas.Matrix`."""

    format: str | None
    tile: int | None
    packed: bool | None


# ---- Test whether a distributed matrix is symmetric.

FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)  # constants of splitmix64's finalizer


def equals_transpose(A: Matrix, values: bool) -> bool:
    """values: whether values are compared too."""
    part, low = A._part, A.shares.low
    if values and A._shared_facts().one is not None:  # one value for all entries
        return True
    i, j, x = part.to_coo(values=values)
    total, chunk = np.uint64(0), tuning.count("symmetry.chunk")
    with np.errstate(over="ignore"):
        for at in range(0, len(i), chunk):
            rows = _hash(i[at : at + chunk] + np.uint64(low))
            columns = _hash(j[at : at + chunk])
            more = np.uint64(1) if x is None else _hash(_bits(x[at : at + chunk])) | np.uint64(1)
            total += np.uint64(int(((_hash(rows + columns * 3) - _hash(columns + rows * 3)) * more).sum()))
        sums = current().gather_host(np.array([total]))
        return int(sums.sum(dtype=np.uint64)) == 0


def _hash(x: Array) -> Array:
    x = x * np.uint64(FACTORS[0])
    x = (x ^ (x >> np.uint64(30))) * np.uint64(FACTORS[1])
    return x ^ (x >> np.uint64(27))


def _bits(x: Array) -> Array:
    """Values as 64-bit numbers, equal if the values are; both zeros are equal."""
    if x.dtype.kind == "c":
        return _bits(x.real) * np.uint64(3) + _bits(x.imag)
    return (x.astype(np.float64) + 0.0).view(np.uint64) if x.dtype.kind == "f" else x.astype(np.uint64)


# ---- Read-only operations of a distributed Matrix and its transpose: products, reductions, extraction.


class MatrixRead:
    """Operations that a distributed Matrix and TransposedMatrix share."""

    __slots__ = ()
    _transposed: bool

    if TYPE_CHECKING:

        @property
        def _matrix(self) -> Matrix: ...
        @property
        def T(self) -> Matrix | TransposedMatrix: ...
        @property
        def dtype(self) -> DataType: ...
        def _rows(self, values: bool = True) -> Matrix: ...

    @property
    def nrows(self) -> int:
        return self.shape[0]

    @property
    def ncols(self) -> int:
        return self.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        M = self._matrix
        nrows, ncols = M.shares.size, M._part.ncols
        return (ncols, nrows) if self._transposed else (nrows, ncols)

    def _local(self, values: bool = True) -> Whole | WholeTransposed:
        """This rank's rows. values: whether their values are read."""
        if self._transposed and current().size == 1:
            return self._matrix._part.T
        return self._rows(values)._part

    def mxv(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> DistributedExpression[Vector]:
        """The product with a Vector, as a column."""
        return multiply_vector(self, other, op, "mxv")

    def mxm(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> DistributedExpression[Matrix]:
        """The matrix product: this rank's rows of self times all of the other matrix, which is gathered once, until it
        changes."""
        B = other._resolve() if isinstance(other, Operand) and other.ndim == 2 else None
        if not isinstance(B, (Matrix, TransposedMatrix)):
            raise TypeError(f"mxm: expected a distributed Matrix, got {describe(other)}")
        if self.ncols != B.nrows:
            raise DimensionMismatch(f"mxm: expected equal inner sizes, got {self.shape} and {B.shape}")
        f = typed(op, "semiring", self.dtype, B.dtype)
        check_product(f, False)

        def local() -> Local:
            whole = work_sharing.whole(B._matrix)
            return self._local().mxm(whole.T if B._transposed else whole, f)

        return DistributedExpression((self.nrows, B.ncols), "mxm", (self, other), f, local, f.return_type)

    def reduce_rowwise(self, op: OperatorLike = monoid.plus) -> DistributedExpression[Vector]:
        """The monoid's sum of each row that has entries. op may be an aggregator, such as `agg.mean`."""
        dtype = self._matrix._part.reduce_rowwise(op).dtype
        local = lambda: self._local().reduce_rowwise(op)
        return DistributedExpression((self.nrows,), "reduce_rowwise", (self,), None, local, dtype)

    def reduce_columnwise(self, op: OperatorLike = monoid.plus) -> DistributedExpression[Vector]:
        """The monoid's sum of each column that has entries: of each row of the transpose. op may be an aggregator."""
        found = self.T.reduce_rowwise(op)
        found.method, found.args = "reduce_columnwise", (self,)
        return found

    def reduce_scalar(self, op: OperatorLike = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's sum of all entries."""
        return self._matrix._reduce_to_scalar("reduce_scalar", op, allow_empty)

    def gathered(self) -> Whole:
        """The whole matrix, as a `bitblas.Matrix` of this rank's own."""
        found = self._matrix._gathered()
        return (found.T if self._transposed else found).dup()

    def to_coo(self, *, rows: bool = True, columns: bool = True, values: bool = True, share: bool = False) -> Any:
        """(rows, columns, values) of all entries, on every rank; with `share`, of this rank's entries."""
        M = self._matrix
        i, j, x = M._part.to_coo(values=values)
        i = i + np.uint64(M.shares.low)
        found = [i, j] if x is None else [i, j, x]
        if not share and current().size > 1:
            found = exchange.concatenate(found)
        if self._transposed:
            found[:2] = found[1::-1]
        return (found[0] if rows else None, found[1] if columns else None, found[2] if values else None)

    def __getitem__(self, key: Any) -> IndexExpr:
        return IndexExpr(self, parse(self, key))

    def _extract(self, axes: Axes) -> Expression:
        rows, columns = axes
        M = self._matrix
        if rows.size is None and columns.size is None:
            i, j = (columns.at, rows.at) if self._transposed else (rows.at, columns.at)
            return ScalarExpression("__getitem__", (M,), None, lambda mask: M._element(i, j), M.dtype)
        shape = tuple(a.size for a in axes if a.size is not None)

        def local() -> Local:
            A = self._rows()
            mine = [a.array(M.device) for a in axes]
            if rows.size is None:  # a row is gathered on all ranks
                at = shares.of(shape[0])
                return A._gathered()[rows.at, mine[1][at.low : at.high]].new()
            if rows.at is None:
                return A._part[:, columns.at if columns.size is None else mine[1]].new()
            to = shares.of(rows.size)
            return A._gathered()[mine[0][to.low : to.high], columns.at if columns.size is None else mine[1]].new()

        return DistributedExpression(shape, "__getitem__", (self,), None, local, M.dtype)


# ---- A distributed Matrix: each rank stores a block of rows, as a bitblas Matrix in any format.


class Matrix(MatrixRead, Distributed):
    """Matrix(dtype=FP64, nrows=0, ncols=0): without entries. Methods have the semantics of `bitblas.Matrix`. Every rank
    calls them alike, and stores a block of rows, in the requested format."""

    __slots__ = ("_known",)
    ndim = 2
    _mask_ranks = (1, 2)
    _transposed = False
    _part: Whole
    _known: dict[Any, Any]  # facts derived from the contents, with the same keys on all ranks

    def __init__(
        self,
        dtype: DTypeLike = FP64,
        nrows: SupportsIndex = 0,
        ncols: SupportsIndex = 0,
        *,
        name: str | None = None,
        device: DeviceArg = None,
        **layout: Unpack[LayoutOptions],
    ) -> None:
        self.shares = shares.of(check_size("nrows", nrows))
        self._part = Whole(dtype, self.shares.mine, ncols, name=name, device=rank_device(device), **layout)
        self.name, self._known, self._known_facts = self._part.name, {}, None

    @classmethod
    def _of(cls, part: Whole | WholeVector, shares: Shares, name: str | None = None) -> Self:
        A = super()._of(part, shares, name)
        A._known = {}
        return A

    @property
    def _matrix(self) -> Matrix:
        return self

    @property
    def T(self) -> TransposedMatrix:
        """The transpose, not computed: products and reductions read the matrix transposed."""
        return TransposedMatrix(self)

    # ---- from entries and arrays ----

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
        d, group, sizes = rank_device(device), current(), {"nrows": nrows, "ncols": ncols}
        (i, j), (nrows, ncols), array, kind = exchange.check_entries(
            "Matrix.from_coo", {"rows": rows, "columns": columns}, sizes, share, values, dtype
        )
        s = _partition_rows(nrows, [i], share)
        (i, j), array, kind = exchange.owned_entries(s, (i, j), array, kind, share)
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
        """As `bitblas.Matrix.from_chunks`, from a list or a function that returns a new iterator each time, because
        chunks are read twice or three times, first to count the entries of rows. Every rank passes the same chunks;
        with `share`, each passes its own, which are sent to the owners of their rows."""
        nrows, ncols = check_size("nrows", nrows), check_size("ncols", ncols)
        read_chunks: Callable[[], Iterator[Chunk]] = chunks if callable(chunks) else lambda: iter(chunks)
        d, group = rank_device(device), current()
        s = _partition_rows(nrows, (index_array(d, chunk[0], "rows") for chunk in read_chunks()), share)
        build = partial(
            Whole.from_chunks, value=value, dtype=dtype, nrows=s.mine, ncols=ncols, dup_op=dup_op, device=d, **layout
        )
        if share and group.size > 1:
            own = _redistributed(read_chunks, s, ncols)
            of_rank = lambda: build(own)
        else:
            of_rank = lambda: build(lambda: _entries_of_rank(read_chunks(), s))
        part = group.all_or_none("Matrix.from_chunks", of_rank, alike=not share)
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
                group.shares[nrows] = Shares(tuple(bounds), group.rank)  # as it was when the matrix was saved
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
        (nrows, ncols), xp = manifest["shape"], current().device.xp
        parts, lows = parts or [Whole(manifest["dtype"], 0, ncols, device=current().device)], lows or [0]
        stores = [part._stored for part in parts if part.nvals] or [parts[0]._stored]
        first = stores[0]
        found = [part.to_coo() for part in parts]
        i = xp.concatenate([rows + np.uint64(low) for low, (rows, _, _) in zip(lows, found)])
        j, values = (xp.concatenate([entries[k] for entries in found]) for k in (1, 2))
        if all(store.iso and store.values.tobytes() == first.values.tobytes() for store in stores):
            values = first.values
        return cls.from_coo(i, j, values, manifest["dtype"], nrows=nrows, ncols=ncols, share=True, name=name, **layout)

    # ---- contents, and facts about them ----

    def _gathered(self, values: bool = True) -> Whole:
        """The whole matrix on every rank, read-only."""
        part = self._part
        if current().size == 1:
            return part
        return exchange.stack_rows(part, self.shares.counts)

    def _cached(self, what: Hashable, make: Callable[[], Fact]) -> Fact:
        """Return make(), cached until the contents change.

        make() is often a collective, so its result must be cached on all ranks or on none: `_changes`, which every rank
        calls, drops it. A change of this rank's stored format does not.
        """
        if what not in self._known:
            self._known[what] = make()
        return self._known[what]

    def _changes(self) -> Whole:
        self._known = {}  # on all ranks, although a written entry belongs to one
        super()._changes()
        return self._part

    def _keep(self, key: Hashable, make: Callable[[Matrix], Fact], *, chosen: bool = True) -> Fact:
        """Return make(a matrix with the same contents), cached as long as the contents stay the same."""

        def twin() -> Matrix:
            store = self._part._read(now=chosen)
            copy = MatrixStore(store.structure, store.dtype, store.raw, store.copies, order=store.order)
            made = self._of(Whole._from_store(copy), self.shares)
            made._known = {k: x for k, x in self._known.items() if k != "mirror" and not isinstance(k, tuple)}
            return made

        return self._cached(("kept", key), lambda: make(twin()))

    _run_on_ranks = work_sharing.run_on_ranks

    def is_symmetric(self, *, values: bool = True) -> bool:
        """Whether it equals its transpose; without `values`, its structure. Computed once, by sums over all entries."""
        if self.nrows != self.ncols:
            return False
        self._shared_facts()  # waits for the other ranks here, with a timeout
        structure = self._cached("symmetric", lambda: equals_transpose(self, False))
        if not values or not structure:
            return bool(structure)
        return bool(self._cached("symmetric values", lambda: equals_transpose(self, True)))

    def _mirror(self, values: bool = True) -> Matrix:
        """The transpose, distributed by rows; redistributed unless the matrix, without `values` its structure, is
        symmetric."""

        def transpose() -> Matrix:
            one = self._shared_facts().one
            i, j, x = self.to_coo(values=one is None, share=True)
            values = x if one is None else one
            return type(self).from_coo(j, i, values, self.dtype, nrows=self.ncols, ncols=self.nrows, share=True)

        return self if self.is_symmetric(values=values) else self._cached("mirror", transpose)


class TransposedMatrix(MatrixRead, Operators):
    """A.T: the same matrix, read transposed."""

    __slots__ = ("__weakref__", "_matrix")
    ndim = 2
    _matrix: Matrix
    _transposed = True

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    # fmt: off
    @property
    def T(self) -> Matrix: return self._matrix
    @property
    def _library(self) -> ModuleType: return self._matrix._library
    @property
    def name(self) -> str: return f"{self._matrix.name}.T"
    @property
    def dtype(self) -> DataType: return self._matrix.dtype
    @property
    def device(self) -> Device: return self._matrix.device
    @property
    def nvals(self) -> int: return self._matrix.nvals

    # fmt: on

    def _rows(self, values: bool = True) -> Matrix:
        with loops.recording_paused():
            return self._matrix._mirror(values)

    def is_symmetric(self, *, values: bool = True) -> bool:
        return self._matrix.is_symmetric(values=values)

    def new(self, dtype: DTypeArg = None, *, mask: MaskArg = None, name: str | None = None, **opts: object) -> Matrix:
        """The transpose as a Matrix."""
        check_options(opts)
        return self._rows().dup(dtype, mask=mask, name=name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Matrix, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._rows(), name)


# ---- Build a matrix: send each entry to the rank that owns its row, then build there.


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


def _redistributed(read_chunks: Callable[[], Iterator[Chunk]], s: Shares, ncols: int) -> list[tuple[Array, Array]]:
    """This rank's entries from the chunks of all ranks, in 8 bytes an entry if all positions are below 2^31."""
    group, found = current(), list[tuple[Array, Array]]()
    chunks = (chunk for read in (read_chunks,) for chunk in read())  # opened with the first chunk

    def next_chunk() -> Chunk | None:
        chunk = next(chunks, None)
        if chunk is not None and len(chunk) != 2:
            raise InvalidValue("chunks: with share=True, expected rows and columns alone, got values too")
        return chunk

    while True:
        chunk = group.all_or_none("Matrix.from_chunks", next_chunk)
        if not group.allreduce(np.array([chunk is not None]), np.logical_or)[0]:
            return found
        ends = [np.zeros(0, np.int64)] * 2 if chunk is None else chunk
        (rows, columns), *_ = exchange.check_entries(
            "Matrix.from_chunks", dict(zip(("rows", "columns"), ends)), {"nrows": s.size, "ncols": ncols}, True
        )
        arrays = [x.astype(np.int64, copy=False) for x in (rows, columns)]
        i, j = exchange.redistribute(s.owners(group.device.xp, arrays[0]), arrays)
        found.append(((i - s.low).astype(index_type(s.mine)), j.astype(index_type(ncols))))


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


classes_by_ndim[2] = Matrix
