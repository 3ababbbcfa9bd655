"""SpMSpV on the CPU: gather the rows of the active entries and sort the products (formats/csr/push_list.cpu.py).

The cost does not depend on the size of the vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL

from ..formats import CSR
from ..kernels.prologue import Variant
from ..plan.product import VALUES, WORDS, Plan, kind_of, reads_matrix
from ..plan.transpose import at_hand
from ..sparse import SparseStore
from ..store import MatrixStore, VectorStore
from . import hyper, local
from .operands import Mask, dummy, entry_values
from .pull import compiled
from .variants import push_variant

# Number of products that are always sorted; beyond it, the cost of a product relative to an entry that a pull reads (3
# to 10 passes over keys and sums against one).
FEW, COST = 1 << 13, 16
NO_MASK, LIST, BITS = range(3)  # push_list.cpu.py
PRODUCTS, ENTRIES = range(2)


class Along:
    """A product along the rows of a matrix: everything that does not depend on the entries of the vector."""

    __slots__ = ("kernel", "key", "kind", "matrix", "most", "product", "size", "sums", "variant", "z")

    def __init__(
        self, A: MatrixStore, u: SparseStore, semiring: Typed[Semiring], form: Any, small: MatrixStore, *,
        transposed: bool, flip: bool,
    ) -> None:  # fmt: skip
        device, z = A.device, semiring.return_type
        self.kind, product = kind_of(semiring, A.raw, u.listed, flip=flip)
        valued = self.kind == VALUES
        raw: Any = BOOL.np_type.type(True)
        if valued:
            raw = small.raw_for(form.key, transposed)
            raw = raw if isinstance(raw, np.generic) or reads_matrix(semiring, flip) else A.dtype.np_type.type(0)
        a_type, u_type = (A.dtype, u.dtype) if valued else (BOOL, BOOL)
        packed = not isinstance(raw, (np.generic, np.ndarray))
        self.variant: Variant = push_variant(
            form.key, form.types(False), None if self.kind == WORDS else semiring, self.kind, a_type, u_type, flip=flip,
            ranked=not isinstance(raw, np.generic), lanes=1, packed=packed, kernel="push_list",
        )  # fmt: skip
        self.kernel, self.key, self.z = compiled(device, self.variant), form.key, z
        self.sums = BOOL if self.kind == WORDS else z
        self.product = z.np_type.type(0 if product is None else product)
        rows = cols = none = dummy(device, "int64")
        listed = -1, -1
        if A.structure.renumbers:
            rows, cols = hyper.lists(A)[:: -1 if transposed else 1]
            listed = len(rows), len(cols)
            rows, cols = (x if len(x) else none for x in (rows, cols))
        values = entry_values(device, a_type, raw)
        self.matrix = rows, listed[0], cols, listed[1], form.ptr, form.col, form.width, *values
        self.most = max(FEW, form.nvals // COST)
        self.size = A.nrows if transposed else A.ncols

    def given(self, u: SparseStore, mask: Mask | None) -> tuple[tuple[Any, ...], Any]:
        """The kernel arguments, and where the kernel stores the number of products that it counted."""
        device, n = u.device, len(u.index)
        none = dummy(device, "int64")
        values = (
            entry_values(device, u.dtype, u.listed) if self.kind == VALUES else entry_values(device, BOOL, np.True_)
        )
        allowed: tuple[Any, ...] = none, NO_MASK, 0, 0
        if mask is not None and type(mask.words) is SparseStore:
            index = mask.words.index
            allowed = index if len(index) else none, LIST, len(index), int(mask.complement)
        elif mask is not None:
            allowed = mask.bits.view(np.int64), BITS, 0, int(mask.complement)
        places, told = np.empty(n or 1, np.int64), np.zeros(2, np.int64)
        operands = u.index if n else none, *values, *self.matrix, *allowed, self.product, places, told
        self.kernel(n, 0, *operands, none, dummy(device, self.sums.np_type.char))
        return operands, told

    def run(self, u: SparseStore, mask: Mask | None) -> VectorStore | None:
        """The product; None if it has too many products."""
        operands, told = self.given(u, mask)
        most = told.item(PRODUCTS)
        if most > self.most:
            return None
        index, sums = np.empty(most or 1, np.int64), np.empty(1 if self.kind == WORDS else most or 1, self.sums.np_type)
        self.kernel(len(u.index), 1, *operands, index, sums)
        count = told.item(ENTRIES)
        values = self.product if self.kind == WORDS else sums[:count]
        return local.settled(SparseStore(u.device, self.size, self.z, index[:count], values))


def mxv(
    A: MatrixStore, u: SparseStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool, mask: Mask | None
) -> VectorStore | None:
    """t<mask> = A (+).(x) u, of the transpose if `transpose`. None if the rows of the entries of u are not available,
    or hold too many entries."""
    found = _along(A, u, semiring, transpose=transpose, flip=flip)
    return None if found is None else found.run(u, mask)


def explained(
    A: MatrixStore, u: SparseStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool
) -> tuple[Plan, Variant] | None:
    """Its plan and its kernel."""
    found = _along(A, u, semiring, transpose=transpose, flip=flip)
    products = 0 if found is None else found.given(u, None)[1].item(PRODUCTS)
    if found is None or products > found.most:
        return None
    reason = f"{len(u.index)} listed entries, whose rows hold {products}"
    verb, pushed = "vxm" if flip else "mxv", not transpose
    return Plan(verb, semiring.op.name, found.key, pushed, "push", found.kind, 1, reason), found.variant


def _along(A: MatrixStore, u: SparseStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool) -> Along | None:
    """The product, cached with the matrix; None if there are no rows to push along."""
    if A.device.shares_rows:
        return None
    x = u.listed
    key = "list", semiring, transpose, flip, u.dtype.name, x.tobytes() if isinstance(x, np.generic) else None
    found: Along | None = A.prepared.get(key)
    if found is not None:
        return found
    small = hyper.own(A) if A.structure.renumbers else A
    form: Any = small.structure.held(CSR, transposed=not transpose)
    if form is None and at_hand(small.structure, transposed=not transpose, valued=not A.iso):
        form = small.structure.form(small.structure.primary.key, transposed=not transpose)
    if form is None or not form.format.by_rows or form.format.renumbers:
        return None
    found = A.prepared[key] = Along(A, u, semiring, form, small, transposed=not transpose, flip=flip)
    return found
