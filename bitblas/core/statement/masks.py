"""Masks, the positions that a statement may write, and the vertex order in which a statement runs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from semirings import dtypes
from semirings.dtypes import BOOL, DataType

from ... import operations
from ...device import tracing
from ...exceptions import DeviceError, DimensionMismatch
from ...order import Order
from ...store import FlatStore, MatrixStore, VectorStore
from ..show import ShownMask

if TYPE_CHECKING:
    import numpy as np

    from semirings import Typed

    from ..typing import DTypeArg, MaskArg, Operands
    from ..vector import Vector
    from .expressions import Expression
    from .infix import Operand


# ---- Masks: the positions that a statement may write. GraphBLAS C API 2.1, section 3.8.3.
#
# `A.S` (structural): where A has an entry. `A.V` (value): where A has an entry that is not zero. `~`: everywhere else.


class Mask(ShownMask):
    """A mask made of a Vector or Matrix, `parent`; it follows the parent when that changes."""

    __slots__ = ("__weakref__", "complement", "parent", "structure")

    def __init__(self, parent: Any, structure: bool, complement: bool = False) -> None:
        self.parent, self.structure, self.complement = parent, structure, complement

    @property
    def value(self) -> bool:
        return not self.structure

    @property
    def ndim(self) -> int:
        return self.parent.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parent.shape

    @property
    def name(self) -> str:
        return f"{'~' * self.complement}{self.parent.name}.{'S' if self.structure else 'V'}"

    def __invert__(self) -> Mask:
        return Mask(self.parent, self.structure, not self.complement)

    def new(
        self,
        dtype: DTypeArg = None,
        *,
        complement: bool = False,
        mask: MaskArg = None,
        name: str | None = None,
        **opts: object,
    ) -> Any:
        """A new object, BOOL if no dtype is given, with True wherever the mask (and the other `mask`) allows writing.

        complement: True where they do not. Raises DimensionMismatch for masks of different shapes.
        """
        combined = self if mask is None else self & check(mask, self.ndim)
        if complement:
            combined = ~combined
        out = _like(self.parent, BOOL if dtype is None else dtypes.lookup_dtype(dtype), name)
        out(combined) << True
        return out

    def __and__(self, other: object) -> Mask:
        """The positions where both allow writing."""
        other = check(other, self.ndim)
        self._same_shape(other)
        # not a and not b = not (a or b): the result stays a complement, so that no full bitset is allocated
        if self.complement and other.complement:
            return ~(~self | ~other)
        first, second = (other, self) if self.complement else (self, other)
        out = _like(self.parent, BOOL)
        out(first) << True
        kept = _like(self.parent, BOOL)
        kept(second) << out
        return Mask(kept, True)

    def __or__(self, other: object) -> Mask:
        """The positions where at least one allows writing."""
        other = check(other, self.ndim)
        self._same_shape(other)
        if self.complement or other.complement:
            return ~(~self & ~other)
        out = _like(self.parent, BOOL)
        out(self) << True
        out(other) << True
        return Mask(out, True)

    __rand__ = __and__
    __ror__ = __or__

    def _same_shape(self, other: Mask) -> None:
        if self.shape != other.shape:
            raise DimensionMismatch(f"mask: expected shape {self.shape}, got {other.shape}")

    def fits(self, target: Operand) -> None:
        """Raise TypeError, DimensionMismatch or DeviceError unless the mask can be used for an object like `target`."""
        parent = self.parent
        if parent.shape == target.shape and parent.device is target.device:
            return
        _check_rank(self, target.ndim)
        if parent.shape != target.shape:
            raise DimensionMismatch(f"mask: expected shape {target.shape}, got {parent.shape}")
        raise DeviceError(
            f"mask: expected a mask on device {target.device.name!r}, got one on {parent.device.name!r}; "
            "move its object with .to(device)"
        )

    def __eq__(self, other: object) -> bool:
        raise TypeError("mask == x: not defined; compare mask.new() with .isequal()")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("mask: has no truth value")


def check(mask: object, *ndim: int) -> Mask:
    """A Mask of one of these ranks, or a BOOL object as a mask of its values. TypeError for anything else."""
    if isinstance(mask, Mask):
        if mask.parent.ndim in ndim:
            return mask
    else:
        if getattr(mask, "ndim", 0) == 0 or not hasattr(mask, "_resolve"):
            raise TypeError(f"mask: expected a mask (x.S, x.V) or a BOOL object, got {type(mask).__qualname__}")
        if (dtype := getattr(mask, "dtype", None)) is not BOOL:
            raise TypeError(
                f"mask: expected a BOOL object, or x.S for the structure or x.V for the values, got {dtype}"
            )
        found = mask._resolve()
        if not hasattr(found, "V"):
            raise TypeError(f"mask: expected a Vector or a Matrix, got a {type(found).__name__}; call .new() first")
        mask = Mask(found, False)
    _check_rank(mask, *ndim)
    return mask


def matrix_mask(mask: Mask, order: Order | None = None) -> operations.spgemm.MatrixMask:
    """A mask of a Matrix for the operations: a value mask drops its zero entries first; a complement stays a flag."""
    store = mask.parent._at(order)
    if not store.plain and mask.structure and isinstance(store, FlatStore):
        return operations.operands.make(operations.spgemm.MatrixMask, (store.pattern(), mask.complement))
    return operations.operands.make(
        operations.spgemm.MatrixMask,
        (store.structure if mask.structure else operations.ewise_matrix.truthy(store), mask.complement),
    )


def _check_rank(mask: Mask, *ndim: int) -> None:
    if mask.parent.ndim not in ndim:
        kinds = {1: "Vector", 2: "Matrix"}
        expected = " or ".join(kinds[n] for n in ndim)
        raise TypeError(f"mask: expected the mask of a {expected}, got that of a {kinds[mask.parent.ndim]}")


def _like(parent: Any, dtype: DataType, name: str | None = None) -> Any:
    return type(parent)(dtype, *parent.shape, name=name, device=parent.device)


# ---- Vertex order of a statement whose operands are stored in different orders (bitblas/order.py).
#
# Each statement runs in one order. A product with a vector runs in the order of its matrix. An element-wise statement
# runs in the first order that an operand, the mask or the output has; a Vector in another order is permuted and keeps
# the new order. Matrices are not permuted: if those of a statement differ, it runs in the user's order, and a reordered
# Matrix then holds a second copy. All other code receives entries in the user's order.


def permuted(name: str, store: VectorStore, order: Order | None) -> VectorStore:
    """The content of the Vector `name` in that order; a trace shows the gather on a separate line."""
    with _noted(name, order):
        return operations.permute.vector_in(store, order)


def in_users_order(name: str, store: MatrixStore, *, keep: bool = True) -> MatrixStore:
    """The content of a Matrix in the user's order; cached if `keep`."""
    if store.order is None:
        return store
    found: MatrixStore | None = store.prepared.get("user")
    if found is None:
        with _noted(name, None):
            found = operations.permute.matrix_in(store, None)
        if keep:
            store.prepared["user"] = found
    return found


def _noted(name: str, order: Order | None) -> AbstractContextManager[None]:
    if tracing.active is None:
        return nullcontext()
    return tracing.active.of(f"{name} into {'the order of the matrix' if order else 'the order of the user'}")


def first(vectors: Iterable[Vector]) -> Order | None:
    """The first order that a Vector has."""
    return next((v._data.order for v in vectors if v._data.order is not None), None)


def common(matrices: Iterable[object]) -> Order | None:
    """The order that all matrices have; the user's if they differ."""
    found = {getattr(m, "_order", None) for m in matrices}
    return found.pop() if len(found) == 1 else None


def movable(op: Typed, *operands: Operand) -> Operands | None:
    """The operands, if the result may have their order; None if op reads positions, which have to be the user's."""
    return None if getattr(op.op, "positional", False) else operands


def to_stored_positions(order: Order | None, written: dict[int, np.generic | None]) -> dict[int, np.generic | None]:
    """Single writes, by stored positions."""
    return written if order is None else dict(zip(map(order.place, written), written.values()))


def align(*vectors: Vector) -> None:
    """Permute vectors to one order."""
    order = first(vectors)
    for v in vectors:
        v._in(order)


def describe_order(expr: Expression) -> str:
    """For `explain`: the order in which an expression will run, and the objects that are permuted for it."""
    operands = [x for x in expr.args if hasattr(x, "_at") or hasattr(x, "_in")]
    order = {id(x): x._order if hasattr(x, "_at") else x._data.order for x in operands}
    matrices = [x for x in operands if hasattr(x, "_at")]
    chosen = None
    if getattr(expr, "along", None) is not None:
        chosen = common(matrices) if matrices else first(operands)
    names = [x.name for x in operands if order[id(x)] is not chosen]
    text = f"in {'the order of the matrix' if chosen else 'the order of the user'}"
    if names:
        return f"{text}, to which {', '.join(names)} will be permuted"
    return text if chosen else ""


def run_order(w: Vector, value: object, mask: Mask | None, kept: bool) -> Order | None:
    """The order in which w(mask) << value runs; vectors that the statement reads, and w if it keeps entries, are
    permuted to it."""
    along: Operands | None = (value,) if hasattr(value, "_data") else getattr(value, "along", ())
    operands = along or ()
    # Operators that read positions need the user's order; an extraction has no operator and chooses itself
    if along is None and getattr(value, "op", None) is not None:
        operands = getattr(value, "args", ())
    vectors = [x for x in operands if hasattr(x, "_in")]
    matrices = [x for x in operands if hasattr(x, "_at")]
    others = [*([] if mask is None else [mask.parent]), *([w] if kept else [])]
    if along is None:  # its result is in the user's order
        order = None
    else:
        order = matrices[0]._order if matrices else first([*vectors, *others])
    for v in (*vectors, *others):
        v._in(order)
    return order
