"""Vertex order of a statement whose operands are stored in different orders (bitblas/order.py).

Each statement runs in one order. A product with a vector runs in the order of its matrix. An element-wise statement
runs in the first order that an operand, the mask or the output has; a Vector in another order is permuted and keeps the
new order. Matrices are not permuted: if those of a statement differ, it runs in the user's order, and a reordered
Matrix then holds a second copy. All other code receives entries in the user's order.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ... import operations
from ... import order as orders
from ...device import tracing
from ...order import Order
from ...store import MatrixStore, VectorStore

if TYPE_CHECKING:
    import numpy as np

    from semirings import Typed

    from ..typing import Operands
    from ..vector.vector import Vector
    from .expressions import Expression
    from .infix import Operand
    from .masks import Mask


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


def used() -> bool:
    """Whether any object may be in another order than the user's."""
    return orders.used


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
