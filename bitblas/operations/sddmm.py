"""SDDMM: the product of two dense matrices, only at the entries of a sparse one.

`C<M> = X (+).(x) Y'` with X and Y that have all entries (`plan_sddmm` in plan/product.py) takes the time of nvals(M)
dot products of X.ncols numbers, whatever the shape of C. The derivative of a product with a dense array for the values
of its matrix is one too (`entry_products`, bitblas/torch.py): of the gradient and the array.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import INT64, DataType, lookup_dtype

from .. import tuning
from ..device import Device, address
from ..formats import format_of
from ..formats.bitmap.layout import lines_of
from ..formats.packing import PackedValues
from ..kernels.variant import Variant
from ..plan.product import Plan, sddmm_lanes
from ..store import BITMAP, FlatStore, MatrixStore, RowLayout
from ..typing import Array
from .convert import of_rows
from .dense_spmm import LOAD, DenseProduct, Lines
from .operands import MatrixProduct, PreparedKernel, Rows, dummy
from .variants import constants, sddmm_variant

RUN = 16  # entries that a group of lanes takes: one search for the first one's row


class Dense(NamedTuple):
    """The rows of a dense matrix, `stride` numbers apart, as a one-dimensional array."""

    values: Array
    stride: int


class _Dots(NamedTuple):
    """What a kernel computes: rows of g with rows of x, over a semiring, in sums of its type; y is stored as `out`.
    half: the format of the 16-bit numbers among them (dense_spmm.py). won: the winners of a PICK."""

    semiring: Typed[Semiring]
    g: Dense
    x: Dense
    width: int
    out: DataType
    half: int = 0
    won: Array | None = None
    transposed: bool = False


def _dots(device: Device, at: RowLayout, of: _Dots) -> PreparedKernel:
    """The kernel, without its output."""
    z, none = of.semiring.return_type, dummy(device, "int64")
    stored = tuple(lookup_dtype(side.values.dtype) for side in (of.g, of.x))
    computed = (z, z) if of.half else stored
    won = none if of.won is None else of.won.reshape(-1)
    lanes, together = (1, 1) if not device.is_simt else _split_of(of)
    run = RUN if device.is_simt else 1
    winner = INT64 if of.won is None else lookup_dtype(won.dtype)
    sides = (("G", stored[0]), ("X", stored[1]), ("Y", of.out), ("A", computed[0]), ("B", computed[1]), ("Z", z))
    types = (*at.format.view.types(at, False), *sides, ("WINNER", winner))
    flags = constants(PACKED=format_of(at.key).packed, TRANSPOSED=of.transposed, PICK=of.won is not None, HALF=of.half)
    few = of.won is None and max(t.nbytes for t in (z, *computed)) <= 4  # registers: 64, 80 or 128 without a spill
    flags += constants(LANES=lanes, VEC=together, RUN=run, BLOCKS=2 if not few else 3 if of.half else 4)
    rows = Rows(at.ptr, at.ptr[1:], none, 0)
    args = at.nvals, at.nrows, *rows, at.col, at.width, of.width, *of.g, *of.x, won
    bounds = device.ranges(at.nvals, tuning.count("parallel.entries"), work=at.nvals * of.width, fresh=True)
    return PreparedKernel(
        device, sddmm_variant(of.semiring, *computed, types, flags), -(-at.nvals // run), args, bounds
    )


def _split_of(of: _Dots) -> tuple[int, int]:
    """Lanes that share an entry, and positions that each loads at once."""
    size = max(side.values.itemsize for side in (of.g, of.x))
    sides = (of.g, of.x) if of.won is None else (of.g, of.x, Dense(of.won, of.width))
    aligned = all((address(side.values) | side.stride * side.values.itemsize) % LOAD == 0 for side in sides)
    together = LOAD // size if aligned and of.width % (LOAD // size) == 0 else 1
    return sddmm_lanes(of.width, size), together


def entry_products(of: DenseProduct, g: Lines, x: Lines) -> Array:
    """For each entry of the matrix, in the order of its rows, the sum of the products of a row of g and a row of x, as
    long as a product of A with x and its derivative (dense_spmm.py). g.winners: of a BEST, whose positions count where
    this entry won. In the type of g."""
    device, layout, width = of.A.device, of.A.structure.rows(), x.values.shape[1]
    found: Array = (device.xp.empty if width else device.xp.zeros)(layout.nvals, g.values.dtype)
    if layout.nvals and width:
        semiring = compose(MONOIDS["plus"], BINARY["times"])[g.summed]
        left, right = Dense(g.values.reshape(-1), width), Dense(x.values.reshape(-1), width)
        dots = _Dots(semiring, left, right, width, g.stored, g.half or x.half, g.winners, of.transposed)
        _dots(device, layout, dots).run(found)
    return found


# ---- C<M> = X (+).(x) Y'.


def _rows_of(A: MatrixStore, transposed: bool) -> Dense:
    """The values of a full matrix, or of its transpose, by rows; a copy if they are not stored so."""
    if isinstance(A, FlatStore) and (lines := lines_of(A.nrows, A.ncols)).tall != transposed:
        return Dense(A.flat.values, lines.stride)
    flat = isinstance(A, FlatStore) or A.structure.primary.key == BITMAP
    values: Any = A.raw if flat else A.by_rows()[1]
    values = values.plain() if isinstance(values, PackedValues) else values
    if not transposed:
        return Dense(values, A.ncols)
    return Dense(A.device.xp.ascontiguousarray(values.reshape(A.nrows, A.ncols).T).reshape(-1), A.nrows)


def _prepare(of: MatrixProduct) -> tuple[RowLayout, PreparedKernel]:
    assert of.mask is not None
    at, z = of.mask.structure.rows(), of.semiring.return_type
    g, x = _rows_of(of.A, of.transpose_a), _rows_of(of.B, not of.transpose_b)
    width = of.A.nrows if of.transpose_a else of.A.ncols
    return at, _dots(of.A.device, at, _Dots(of.semiring, g, x, width, z))


def explain(plan: Plan, of: MatrixProduct) -> tuple[Plan, tuple[Variant, ...]]:
    """The plan, and the kernel."""
    return plan, (_prepare(of)[1].variant,)


def mxm(of: MatrixProduct) -> MatrixStore:
    """The product at the entries of the mask, all of which are present."""
    at, kernel = _prepare(of)
    z = of.semiring.return_type
    found: Array = np.empty(0, z.np_type) if not at.nvals else at.device.xp.empty(at.nvals, z.np_type)
    if at.nvals:
        kernel.run(found)
    return of_rows(at, z, found)
