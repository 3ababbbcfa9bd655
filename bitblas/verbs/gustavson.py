"""General mxm row by row (Gustavson: ACM TOMS 4(3), 1978), in two passes: sizes, then entries.

CPU: see formats/csr/gustavson.cpu.py. Beside the result it takes, per thread, a dense row of sums and two bitsets of
the width of C. GPU: rows with few products keep their entries in tables in shared memory (short_rows.cu), the others
mark them in a bitset of the width of C, one for each of some blocks (long_rows.cu).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, lookup_dtype

from ..device import Device
from ..formats import Structure
from ..formats.build import with_format
from ..formats.csr.format import Csr, from_arrays, index_type
from ..kernels.prologue import Variant
from ..plan import COUNT, VALUES, WORDS, Plan
from ..plan_mxm import BITSET_BYTES, BLOCKS, SHARED_WORDS, row_tables
from ..store import MatrixStore
from .matrix_variants import gustavson_variant, rows_variant
from .operands import dummy, entry_values
from .product import compiled
from .schedule import PARALLEL_ENTRIES, ranges_of_work


class Task(NamedTuple):
    """A product of rows: what both passes are given."""

    device: Device
    semiring: Typed[Semiring]
    kind: int
    a: Csr
    b: Csr
    types: tuple[DataType, DataType]
    left: tuple[Any, Any, int]  # the values of A, as kernels take them
    right: tuple[Any, Any, int]
    mask: tuple[Any, Any, int]  # row pointers, columns; 0: none, 1: only there, 2: everywhere but there
    value: np.generic  # of all products, where they are equal


def row_by_row(
    plan: Plan, product: Any, A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], transpose_a: bool,
    transpose_b: bool, mask: Any,
) -> MatrixStore:  # fmt: skip
    """C<mask> = A (+).(x) B, of the transposes where asked for."""
    device, xp, kind, true = A.device, A.device.xp, plan.kind, BOOL.np_type.type(True)
    a: Any = A.structure.form("csr", transposed=transpose_a)
    b: Any = B.structure.form("csr", transposed=transpose_b)
    valued = kind == VALUES
    a_val, b_val = (A.values_for("csr", transpose_a), B.values_for("csr", transpose_b)) if valued else (true, true)
    types = (A.dtype, B.dtype) if valued else (BOOL, BOOL)
    left, right = entry_values(device, types[0], a_val), entry_values(device, types[1], b_val)
    z = semiring.return_type if kind != WORDS else BOOL
    m: Any = None if mask is None else mask.structure.form("csr")
    masked = (a.ptr, b.col, 0) if m is None else (m.ptr, m.col, 1 + int(mask.complement))
    value = z.np_type.type(0 if product is None else product)
    task = Task(device, semiring, kind, a, b, types, left, right, masked, value)
    walk = _on_gpu if device.is_gpu else _on_cpu
    ptr = xp.zeros(a.nrows + 1, np.int64)
    walk(task, 0, ptr, xp.zeros(1, index_type(b.ncols)), dummy(device, z.np_type.char))
    xp.cumsum(ptr, out=ptr)
    nvals = int(ptr[-1])
    wide = 0 if kind == WORDS else z.np_type.itemsize
    device.foresee(f"product of {nvals} entries", Csr.predict_bytes(a.nrows, b.ncols, nvals) + wide * nvals)
    col = xp.empty(max(1, nvals), index_type(b.ncols))
    sums = xp.empty(max(1, nvals) if kind != WORDS else 1, z.np_type)
    walk(task, 1, ptr, col, sums)
    values = semiring.return_type.np_type.type(product) if kind == WORDS else sums[:nvals]
    C = from_arrays(device, a.nrows, b.ncols, ptr, col[:nvals])
    return with_format(MatrixStore(Structure(C), semiring.return_type, values))


def _on_cpu(t: Task, fill: int, ptr: Any, col: Any, sums: Any) -> None:
    variant = gustavson_variant(None if t.kind == WORDS else t.semiring, t.kind, *t.types, fill)
    bounds = None
    if t.a.nvals + t.b.nvals >= PARALLEL_ENTRIES:  # parallel ranges of rows with about equal numbers of products
        before = np.zeros(t.a.nvals + 1, np.int64)
        np.cumsum(np.diff(t.b.ptr)[t.a.col[: t.a.nvals]] + 1, out=before[1:])
        bounds = ranges_of_work(before[t.a.ptr][1:], t.device)
    compiled(t.device, variant)(
        t.a.nrows, t.a.ptr, t.a.col, *t.left, t.b.ptr, t.b.col, *t.right, t.b.ncols, *t.mask, t.value, ptr, col, sums,
        bounds=bounds,
    )  # fmt: skip


def _on_gpu(t: Task, fill: int, ptr: Any, col: Any, sums: Any) -> None:
    """Rows by their numbers of products, then of entries: those that tables of several sizes hold; the long ones."""
    device, xp, a, b = t.device, t.device.xp, t.a, t.b
    cell = 0 if not fill or t.kind == WORDS else 8 if t.kind == COUNT else sums.itemsize
    tables = row_tables(col.itemsize + cell)
    before = ptr
    if not fill:
        before = xp.zeros(a.nvals + 1, np.int64)  # products before each entry of A
        xp.cumsum((b.ptr[1:] - b.ptr[:-1])[a.col[: a.nvals]], out=before[1:])
    lists, counts = xp.empty((4, max(1, a.nrows)), np.int64), xp.zeros(4, np.uint64)
    limits = (3 * slots // 4 for _, slots in tables)
    types = (("PTR", lookup_dtype(a.ptr.dtype)),)
    sort = compiled(device, Variant("formats/csr/sort_rows", types, (("LANES", 1), ("FILL", fill))))
    sort(a.nrows, a.ptr, before, b.ncols, *limits, ptr, lists, counts)

    given = ("PTR", a.ptr), ("INNER", a.col), ("BPTR", b.ptr), ("COL", b.col), ("MPTR", t.mask[0])
    indices = tuple((name, lookup_dtype(array.dtype)) for name, array in given)
    none = dummy(device, "bool"), BOOL.np_type.type(True), 0
    u, v, value, out = (t.left, t.right, t.value, sums) if fill else (none, none, none[1], none[0])
    operands = (a.ptr, a.col, *u, b.ptr, b.col, *v, *t.mask, value, ptr, col, out)

    def kernel(name: str, *constants: tuple[str, int]) -> Any:
        return compiled(device, rows_variant(name, indices, t.semiring, t.kind, *t.types, fill, constants))

    *short, many = device.to_host(counts).tolist()
    for (lanes, slots), count, rows in zip(tables, short, lists, strict=False):
        if count:
            table = ("LANES", lanes), ("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1)
            kernel("short_rows", *table)(count, rows, *operands)
    if not many:
        return
    rows = lists[3, :many]
    size = ptr[rows + 1] - ptr[rows] if fill else ptr[rows + 1]
    rows = rows[xp.argsort(-size)]  # the longest first
    words = -(-b.ncols // 64)
    shared = SHARED_WORDS if words <= SHARED_WORDS else 0
    blocks = max(1, min(many, BLOCKS, BLOCKS if shared else BITSET_BYTES // (12 * words)))
    found, ranks = (xp.zeros(1 if shared else blocks * words, kind) for kind in (np.uint64, np.uint32))
    run = kernel("long_rows", ("LANES", 256), ("SHARED_WORDS", shared))
    run(blocks, rows, many, xp.zeros(1, np.uint64), found, ranks, words, *operands)
