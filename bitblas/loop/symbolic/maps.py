"""Maps in a body: a vector of keys read as a matrix with one entry per row, and products with it.

`L = Matrix.from_coo(places, keys, True, nrows=n, ncols=k)` with `places, keys = label.to_coo()` is a map, and
`A.mxm(L, semiring).reduce_rowwise(agg.ss.argmax)` a step of the loop. Neither L nor the product is stored: a statement
writes the keys as INT32, -1 where there is none, and the reduction is computed from these (operations/map_products.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, SupportsIndex

import numpy as np

from semirings import Typed
from semirings.algebra import compose
from semirings.catalog import BINARY, MONOIDS, SELECT
from semirings.dtypes import BOOL, INT32, INT64, UINT64, DataType, cast_scalar, lookup_dtype

from ...core.aggregators import TypedAggregator
from ...core.convert import check_size
from ...core.hooks import SymbolicArray
from ...core.matrix.matrix import Matrix
from ...core.statement.scalar_operands import of
from ...core.vector import Vector
from ...exceptions import DimensionMismatch
from ...operations.lazy_map_product import AGGREGATORS, sums_products
from ...operations.map_products import FOLD, Selection, refusal
from ...operations.variants import BOTH, LEFT, UNION
from ...operations.virtual_nodes import rows_of
from ...store import MatrixStore, VectorStore, empty_vector, full_bits
from ..ir import Const, Elementwise, IndexCheck, MapProduct, Masked, Product, Statement, Vec
from .control_flow import Recording

if TYPE_CHECKING:
    from semirings.dtypes import DTypeLike

    from ...core.statement.expressions import MatrixExpression, VectorExpression
    from ...core.statement.masks import Mask
    from ...device import Device

LOR_SECOND = compose(MONOIDS["lor"], BINARY["second"])[BOOL]
NONE = Const(INT32, np.int32(-1))  # the key of a row without an entry


class SymbolicMatrix(MatrixStore):
    """Stands for the contents of a Matrix of which only products, or reductions, are computed."""

    def __init__(self, recorder: Recording, shape: tuple[int, int], dtype: DataType, device: Device) -> None:
        self._recorder, (self.nrows, self.ncols) = recorder, shape
        self.dtype, self.device, self.order, self.plain = dtype, device, None, False

    def __getattr__(self, name: str) -> NoReturn:
        self._recorder.refuse("entries of a map, or of a product with it, that no reduction consumes")


class SymbolicMap(SymbolicMatrix):
    """Stands for a map. keys: the column of each row's entry, INT32, or -1; there: the same without -1. value: of all
    entries."""

    keys: Vec
    there: Vec
    value: np.generic


class SymbolicMapProduct(SymbolicMatrix):
    """Stands for a product with a map."""

    product: MatrixExpression


class MapRecorder(Recording):
    """The part of a Recorder that handles maps."""

    # ---- the hooks of core ----

    def map_built(
        self,
        rows: object,
        columns: object,
        values: object,
        dtype: DTypeLike | None,
        shape: tuple[SupportsIndex | None, SupportsIndex | None],
        name: str | None,
    ) -> Matrix:
        """Matrix.from_coo(rows, columns, values, dtype, nrows=.., ncols=..) with symbolic arrays."""
        text = f"Matrix.from_coo({rows}, {columns}, ..)"
        if type(rows) is not SymbolicArray or type(columns) is not SymbolicArray or rows.vector is not None:
            self.refuse(f"{text}: expected the positions and values of a Vector, as from `places, keys = v.to_coo()`")
        if columns.vector is None or type(values) is SymbolicArray or shape[0] is None or shape[1] is None:
            self.refuse(f"{text}: a map in a body has keys as columns, one value for all entries, nrows and ncols")
        if rows.where is not columns.where:
            raise DimensionMismatch(f"{text}: expected rows and columns of the same entries")
        nrows, ncols = check_size("nrows", shape[0]), check_size("ncols", shape[1])
        if nrows != rows.size:
            self.refuse(f"{text}: nrows={nrows}, where the Vector has {rows.size} positions")
        value, held = of(values)
        if not isinstance(value, np.generic):
            self.refuse(f"{text}: values that are known on the device only")
        kind = held if dtype is None else lookup_dtype(dtype)
        return self._map(text, columns.vector, rows.where, ncols, cast_scalar(value, kind), kind, name)

    def map_of(self, keys: Vector, ncols: int) -> Matrix:
        """The map with the entry (i, keys[i]) for each i, True."""
        return self._map(f"the map of {keys.name}", keys, None, ncols, np.True_, BOOL, None)

    def map_product(
        self, expr: MatrixExpression, dtype: DataType, mask: Mask | None, name: str | None
    ) -> Matrix | None:
        """A Matrix for the product of a matrix and a map; None for other expressions."""
        if expr.method != "mxm" or not isinstance(expr.args[1]._matrix._data, SymbolicMap):
            return None
        if mask is not None or dtype is not expr.dtype or expr.args[1]._transposed:
            self.refuse(f"{expr._text()}: under a mask, of another type, or with a transposed map")
        product = SymbolicMapProduct(self, expr.shape, expr.dtype, expr.device)
        product.product = expr
        return Matrix._from_store(product, name, as_is=True)

    # ---- lowering ----

    def _map(
        self,
        text: str,
        vector: Vector,
        where: Vector | None,
        ncols: int,
        value: np.generic,
        dtype: DataType,
        name: str | None,
    ) -> Matrix:
        """Record the statements that compute the keys of a map, and whether they are in range."""
        key = self._vec(vector)
        if key.dtype.kind not in "iu":
            raise TypeError(f"{text}: expected keys that are integers, got {key.dtype}")
        device, n = vector._data.device, key.size
        if max(n, ncols) >= 1 << 31:
            self.refuse(f"{text}: {n} rows and {ncols} columns, of at most 2^31 - 1")
        repeats, self.repeats = self.repeats, False  # created once, not in each round
        inside = VectorStore(device, ncols, BOOL, full_bits(device, ncols), np.True_, ncols)
        whole = self._vec(Vector._from_store(inside))
        self.repeats = repeats
        new = lambda dtype: self._vec(Vector._from_store(empty_vector(device, n, dtype)))
        index, there, some, keys = (new(kind) for kind in (UINT64, BOOL, INT32, INT32))
        self.indexed.append((text, ncols))
        check = IndexCheck(whole, index, len(self.indexed) - 1)
        listed = None if where is None else Masked(self._vec(where), True, False)
        first = BINARY["first"][INT32]
        self.statements += [
            Statement(index, Elementwise(LEFT, None, key), text=f"{text}: the keys"),
            Statement(there, check, listed, None, listed is not None, f"{text}: those in range"),
            Statement(some, Elementwise(LEFT, None, key), Masked(there, True, False), None, True, text),
            Statement(keys, Elementwise(UNION, first, some, NONE), text=f"{text}: -1 for none"),
        ]
        made = SymbolicMap(self, (n, ncols), dtype, device)
        made.keys, made.there, made.value = keys, some, value
        return Matrix._from_store(made, name, as_is=True)

    def _reduce_rowwise(self, expr: VectorExpression) -> Elementwise | Product:
        """What an aggregator or a monoid makes of each row of a product with a map. A key: where it is not -1. A value:
        where the row has a key."""
        C, op = expr.args[0], expr.op
        text = expr._text()
        if not isinstance(C._matrix._data, SymbolicMapProduct) or C._transposed:
            self.refuse(f"{text}: a reduction of rows, but of a product with a map")
        kind, position = AGGREGATORS.get(op.name, (-1, False)) if isinstance(op, TypedAggregator) else (FOLD, False)
        if kind < 0:
            known = ", ".join(f"agg.{name}" for name in AGGREGATORS)
            self.refuse(f"{text}: rows of a product with a map are reduced by a monoid, or by {known}, in a body")
        product = C._matrix._data.product
        A, L = product.args
        of_map: SymbolicMap = L._matrix._data
        assert isinstance(product.op, Typed)
        semiring, z, fold = product.op, product.op.return_type, op if isinstance(op, Typed) else None
        new = lambda size, dtype: self._vec(Vector._from_store(empty_vector(A._matrix.device, size, dtype)))
        held, selection = A._matrix._read(now=True), Selection(kind, fold)
        reason = refusal(semiring, selection, held.raw, of_map.value)
        if fold is not None and sums_products(semiring, fold) and (reason or not self.host):
            # The sum of all products of a row, whatever their keys: a product with a vector. A CPU would push, and
            # its loop would wait for the transpose.
            u = new(L.nrows, of_map.dtype)
            each = Elementwise(LEFT, None, Const(of_map.dtype, of_map.value))
            where = Masked(of_map.there, True, False)
            self.statements.append(Statement(u, each, where, None, True, f"{text}: the values of {L.name}"))
            return self._times(A, u, semiring, text)
        self.matrices.append((A._matrix, held))
        held = rows_of(held) if held.structure.has_virtual_nodes else held
        if held.order is not None and semiring.op.is_positional:
            self.refuse(f"{text}: positions in a reordered matrix")
        if held.structure.hypersparse or reason:
            self.refuse(f"{text}: {'a hypersparse matrix' if held.structure.hypersparse else reason}")
        dtype = INT64 if position or (kind == FOLD and fold is None) else z if fold is None else fold.return_type
        if dtype is BOOL:
            self.refuse(f"{text}: values of type BOOL")
        found = new(product.nrows, dtype)
        value = MapProduct(
            held,
            of_map.keys,
            semiring,
            A._transposed,
            False,
            product.nrows,
            size=L.ncols,
            dtype=of_map.dtype,
            value=of_map.value,
            selection=selection,
            position=position,
        )
        self.statements.append(Statement(found, value, text=f"{product._text()}.reduce_rowwise({op!r})"))
        if position:
            return Elementwise(LEFT, SELECT["valuege"][INT64], found, Const(INT64, np.int64(0)), "xt", keep=True)
        # A row has a key if one of its columns has: A lor.second v for a full v, by the rows that the map is read by.
        held.structure.rows(transposed=A._transposed)
        v, there = new(L.nrows, BOOL), new(product.nrows, BOOL)
        has_key = Elementwise(BOTH, BINARY["ge"][INT32], of_map.keys, Const(INT32, np.int32(0)))
        self.statements += [
            Statement(v, has_key, text=f"{text}: the columns with a key"),
            Statement(there, self._times(A, v, LOR_SECOND, text), text=f"{text}: the rows with a key"),
        ]
        return Elementwise(LEFT, None, found, under=Masked(there, False, False))
