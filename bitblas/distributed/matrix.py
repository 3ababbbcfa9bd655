"""A distributed Matrix: each rank stores a block of rows, as a bitblas Matrix in any format."""

from __future__ import annotations

from typing import Any

from semirings import Typed
from semirings.dtypes import FP64, check_cast

from ..core import Matrix as Whole
from ..core.convert import check_size, written_array
from ..core.statement.axes import Axis
from ..core.statement.infix import Operators
from ..core.statement.mask import Mask
from ..core.statement.operand import is_tensor
from ..exceptions import DimensionMismatch
from ..store import MatrixStore
from . import alone, exchange, loops, shares, symmetry
from .base import InShares, evaluated
from .building import MatrixBuild
from .expr import part_of, shared
from .matrix_read import MatrixRead
from .saved import MatrixFiles
from .start import current, own_device


class Matrix(InShares, MatrixRead, MatrixBuild, MatrixFiles):
    """Matrix(dtype=FP64, nrows=0, ncols=0): without entries. Methods have the semantics of `bitblas.Matrix`. Every rank
    calls them alike, and stores a block of rows, in the requested format."""

    __slots__ = ("_known",)
    ndim = 2
    _mask_ranks = (1, 2)
    _transposed = False
    _known: dict[Any, Any]  # facts derived from the contents, with the same keys on all ranks

    def __init__(
        self, dtype: Any = FP64, nrows: Any = 0, ncols: Any = 0, *, name: str | None = None, device: Any = None,
        **layout: Any,
    ) -> None:  # fmt: skip
        self.shares = shares.of(check_size("nrows", nrows))
        self._part = Whole(dtype, self.shares.mine, ncols, name=name, device=own_device(device), **layout)
        self.name, self._known, self._told_once, self._sent = self._part.name, {}, None, None

    @classmethod
    def _of(cls, part: Any, shares: Any, name: str | None = None) -> Any:
        A = super()._of(part, shares, name)
        A._known = {}
        return A

    @property
    def _matrix(self) -> Matrix:
        return self

    @property
    def nrows(self) -> int:
        return self.shares.size

    @property
    def ncols(self) -> int:
        return self._part.ncols

    @property
    def shape(self) -> tuple[int, int]:
        return self.shares.size, self._part.ncols

    @property
    def column_shares(self) -> Any:
        """The partition of a row vector's positions."""
        return shares.of(self.ncols)

    @property
    def T(self) -> TransposedMatrix:
        """The transpose, not computed: products and reductions read the matrix transposed."""
        return TransposedMatrix(self)

    def _gathered(self, values: bool = True) -> Any:
        """The whole matrix on every rank, read-only."""
        return exchange.whole(self._part, self.shares)

    def _kept(self, what: Any, make: Any) -> Any:
        """Return make(), cached until the contents change.

        make() is often a collective, so its result must be cached on all ranks or on none: `_changes`, which every rank
        calls, drops it. A change of this rank's stored format does not.
        """
        if what not in self._known:
            self._known[what] = make()
        return self._known[what]

    def _changes(self) -> Any:
        self._known = {}  # on all ranks, although a written entry belongs to one
        return super()._changes()

    def _keep(self, key: Any, make: Any, *, chosen: bool = True) -> Any:
        """Return make(a matrix with the same contents), cached as long as the contents stay the same."""
        return self._kept(("kept", key), lambda: make(self._twin(chosen)))

    def _unsplit(self, program: Any, args: Any, options: Any) -> Any:
        """How an algorithm runs if each rank has the whole matrix; None if ranks split it."""
        if current().size == 1 and not loops.recorded():
            return lambda: alone.of_one(program, self, args, options)
        return None if alone.why(self) is None else lambda: alone.run(program, self, args, options)

    def _twin(self, chosen: bool) -> Matrix:
        store = self._part._read(now=chosen)
        held = MatrixStore(store.structure, store.dtype, store.raw, store.copies, order=store.order)
        twin: Matrix = type(self)._of(Whole._from_store(held), self.shares)
        twin._known = {what: x for what, x in self._known.items() if what != "mirror" and not isinstance(what, tuple)}
        return twin

    def is_symmetric(self, *, values: bool = True) -> bool:
        """Whether it equals its transpose; without `values`, its structure. Computed once, by sums over all entries."""
        if self.nrows != self.ncols:
            return False
        self._told()  # waits for the other ranks here, with a timeout
        structure = self._kept("symmetric", lambda: symmetry.is_symmetric(self, False))
        if not values or not structure:
            return bool(structure)
        return bool(self._kept("symmetric values", lambda: symmetry.is_symmetric(self, True)))

    def known_symmetric(self, *, values: bool = True) -> bool:
        """Whether it is already known to be symmetric."""
        return bool(self._known.get("symmetric values" if values else "symmetric"))

    def _mirror(self) -> Matrix:
        """The transpose, distributed by rows; redistributed unless the matrix is symmetric."""
        if self.is_symmetric():
            return self
        made: Matrix = self._kept("mirror", lambda: self._dealt_anew())
        return made

    def _dealt_anew(self) -> Matrix:
        one = self._told().one
        i, j, x = self.to_coo(values=one is None, share=True)
        values = x if one is None else one
        return type(self).from_coo(j, i, values, self.dtype, nrows=self.ncols, ncols=self.nrows, share=True)

    def _element(self, i: int, j: int) -> Any:
        loops.on_host()
        root = self.shares.owner(i)
        found = self._part[i - self.shares.low, j].new()._value if root == self.shares.rank else None
        return exchange.everywhere(found, self.dtype, root)

    def _assign(
        self, axes: tuple[Axis, ...], value: Any, mask: Any, accum: Typed | None, replace: bool, region: bool
    ) -> None:
        loops.on_host()
        rows, columns = axes
        s = self.shares
        with current().statement(lambda: f"assign to {self.name}[..]"):
            value = evaluated(value)
            at = rows.array(self.device)
            keep = s.has(at)
            places = (at - s.low)[keep]
            if is_tensor(value):
                u = value._resolve()
                shape = tuple(a.size for a in axes if a.size is not None)
                if u.shape != shape:
                    raise DimensionMismatch(f"A[I, J] = x: expected shape {shape}, got {u.shape}")
                value = _chosen(u, keep, rows.size is None)
            elif hasattr(value, "__len__") and not isinstance(value, str):
                value = self._rows_of(axes, value, keep)
            elif not len(places):  # refused on all ranks, not only by the owners of the positions
                Whole(self.dtype, 1, 1, device=self.device)(accum=accum)[0, 0] << value
            if mask is not None and region:
                mask = Mask(_chosen(mask.parent, keep, rows.size is None), mask.structure, mask.complement)
            elif mask is not None:
                mask = _mask_part(mask, self.shape, rows)
            self._changes()
            if not len(places):
                if mask is None or region or (rows.size is None and mask.parent.ndim == 1):
                    return
                # With `replace` the mask applies to all rows: none is written here, but entries may be deleted.
                if rows.size is None and columns.size is not None and (is_tensor(value) or hasattr(value, "__len__")):
                    value = Whole(value.dtype, 0, columns.size, device=self.device)
            key = (int(places[0]) if rows.size is None and len(places) else places, _key(columns, self.device))
            how = {} if mask is None else {"mask": mask, "replace": replace}
            if region and mask is not None:
                self._part[key](accum=accum, **how) << value
            else:
                self._part(accum=accum, **how)[key] << value

    def _rows_of(self, axes: tuple[Axis, ...], value: Any, keep: Any) -> Any:
        """This rank's rows of an assigned array."""
        array, kind = written_array(self.device, value, self.dtype)
        shape = tuple(a.size for a in axes if a.size is not None)
        if array.shape != shape:
            raise DimensionMismatch(f"A[I, J] = x: expected values of shape {shape}, got {array.shape}")
        check_cast(kind, self.dtype)
        return array if axes[0].size is None else array[keep]


def _key(axis: Axis, device: Any) -> Any:
    return slice(None) if axis.at is None else axis.at if axis.size is None else axis.array(device)


def _chosen(u: Any, keep: Any, along_row: bool) -> Any:
    """This rank's part of an assigned object: all of a row, otherwise its elements or rows."""
    if u.ndim == 1:
        found = u._gathered()
        return found if along_row else found[keep.nonzero()[0]].new()
    A = u._rows()
    return A._gathered()[keep.nonzero()[0], :].new()


def _mask_part(mask: Mask, shape: tuple[int, int], rows: Axis) -> Mask | None:
    """This rank's share of a mask; a Vector mask along one row is gathered."""
    if mask.parent.ndim == 2 or rows.size is not None:
        return part_of(mask)
    return Mask(mask.parent._gathered(), mask.structure, mask.complement)


class TransposedMatrix(MatrixRead, Operators):
    """A.T: the same matrix, read transposed."""

    __slots__ = ("__weakref__", "_matrix")
    ndim = 2
    _transposed = True

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    # fmt: off
    @property
    def T(self) -> Matrix: return self._matrix
    @property
    def _library(self) -> Any: return self._matrix._library
    @property
    def name(self) -> str: return f"{self._matrix.name}.T"
    @property
    def dtype(self) -> Any: return self._matrix.dtype
    @property
    def device(self) -> Any: return self._matrix.device
    @property
    def nvals(self) -> int: return self._matrix.nvals
    @property
    def nrows(self) -> int: return self._matrix.ncols
    @property
    def ncols(self) -> int: return self._matrix.nrows
    @property
    def shape(self) -> tuple[int, int]: return self._matrix.ncols, self._matrix.nrows
    def known_symmetric(self, *, values: bool = True) -> bool:
        """Whether it is already known to be symmetric."""
        return self._matrix.known_symmetric(values=values)

    def _mirror(self) -> Matrix: return self._matrix
    def _rows(self) -> Matrix: return self._matrix._mirror()
    # fmt: on

    def is_symmetric(self, *, values: bool = True) -> bool:
        return self._matrix.is_symmetric(values=values)

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None, **opts: Any) -> Matrix:
        """The transpose as a Matrix."""
        return self._rows().dup(dtype, mask=mask, name=name, **opts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Matrix, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._rows(), name)


shared[2] = Matrix
