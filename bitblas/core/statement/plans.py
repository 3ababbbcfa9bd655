"""Plans of expressions other than products, from facts about their operands: a table from methods to functions.

Nothing is computed. Each function gives the facts of one method to the decision that the operation itself uses
(bitblas/plan/operation.py). Operands are read as they are stored: a transposed, reordered or broadcast operand is
converted first when the expression runs, and the reason says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semirings import IndexUnaryOp, SelectOp, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, DataType

from ... import operations, tuning
from ...kernels.variant import Variant
from ...plan import operation as plan
from ...plan.operation import OperationPlan, choose
from ...store import ALL, NONE, FlatStore, MatrixStore, SparseStore, VectorStore, words
from .infix import kinds

if TYPE_CHECKING:
    from ...operations.operands import Into
    from ..typing import Axes
    from .expressions import Expression
    from .masks import Mask


class Statement(NamedTuple):
    """An expression, the mask of its statement, and the output, if that exists already."""

    expr: Expression[Any]
    mask: Mask | None = None
    out: Into | None = None

    @property
    def name(self) -> str:
        return "extract" if self.expr.method == "__getitem__" else self.expr.method

    def plan(self, key: str, way: str, *reasons: str, op: Typed | None = None) -> OperationPlan:
        return choose(self.name, self.expr.op if op is None else op, key, way, *reasons)


def output(target: Any, mask: Mask | None, accum: Typed | None, replace: bool) -> Into | None:
    """The output of target(mask, accum, replace) << expr, if the operation ends the statement."""
    if target.ndim != 1:
        return None
    w: VectorStore = target._stored
    keeps = w.count != 0 and (accum is not None or (mask is not None and not replace))
    read = None if mask is None else _mask_words(mask)
    m = None if mask is None or read is None else operations.operands.Mask(read, mask.complement)
    return operations.operands.Into(w, m, accum, replace, keeps)


def _mask_words(mask: Mask) -> Any:
    """The array of its parent that a vector mask is; None if it is a new one."""
    u: VectorStore = mask.parent._stored
    if type(u) is SparseStore:
        return u
    return u.bits if mask.structure or u.iso else u.values if u.dtype is BOOL else None


def assignment_plan(target: Any, axes: Axes, value: object, *how: Any) -> str:
    """target(mask, accum, replace)[axes] << value in words. how: mask, accum, replace, and whether the mask covers the
    part."""
    text, (mask, accum, *_) = f"assign to {target.name}[..]", how
    store: Any = target._stored
    if all(axis.size is None for axis in axes) and mask is None and accum is None:
        return f"{text}: one entry, written at the next read"
    if target.ndim == 1:
        if axes[0].at is None:
            return text
        way = plan.assign_way(store, mask, accum)
        return f"{text}: {choose('assign', accum, plan.storage_of_vector(store), way, plan.storage_reason(store))}"
    if isinstance(store, FlatStore):
        return f"{text}: {choose('assign', accum, plan.storage_of(store), plan.BITMAP)}"
    content = getattr(value, "_data", None)
    T = content if isinstance(content, MatrixStore) and not isinstance(content, FlatStore) else None
    if T is None or store.deferred or T.deferred or how[3]:
        return text
    I, J = (a.places(store.device, store.structure.hypersparse) for a in axes)
    if isinstance(I, range) or isinstance(J, range):
        return f"{text}: {choose('assign', accum, plan.storage_of(store), plan.COMPRESSED)}"
    m = None if mask is None else mask.parent._stored.structure
    way = plan.assign_matrix_way(store, I, J, T, m, accum)
    return f"{text}: {choose('assign', accum, plan.storage_of(store), way)}"


# ---- Vectors.


class Elementwise(NamedTuple):
    """An element-wise operation on vectors as `ewise_vector.run_elementwise` gets it. types: those of its operands."""

    u: VectorStore
    v: VectorStore
    mode: int
    op: Typed
    types: tuple[DataType, DataType]
    bound: str = "xy"
    keep: bool = False

    def variant(self) -> Variant:
        """Its kernel for a new output."""
        (u, v), iso = self.types, self.keep and self.u.iso
        return operations.variants.elementwise_variant(
            self.mode, self.op, u, v, self.bound, keep=self.keep, places=False, fresh=True, iso=iso
        )[0]


def _vector_plan(s: Statement, of: Elementwise, value: np.generic | None = None) -> OperationPlan:
    """value: the one value of all results, if it is known."""
    u, v, variants = of.u, of.v, operations.variants
    either = of.mode in (variants.UNION, variants.FILLED)
    way = plan.ONE_VALUE
    if value is None:
        way = plan.elementwise_way(u, v, of.op, either, of.keep, s.out)
    stored = dict.fromkeys(map(plan.storage_of_vector, (u, v)))
    masked = ""
    if s.mask is not None:
        applied = way in (plan.NEW_ARRAYS, plan.OWN_ARRAYS, plan.IN_PLACE)
        masked = "the kernel applies the mask" if applied else "the mask is applied in a merge"
    shared = False
    if way not in (plan.LISTED, plan.FUNCTION, plan.ONE_VALUE):
        read = (u,) if of.mode in (variants.LEFT, variants.BOTH) else (u, v)
        shared = operations.operands.word_bounds(*read) is not None
    reasons = dict.fromkeys(map(plan.storage_reason, (u, v)))
    return s.plan(" and ".join(stored), way, *reasons, plan.threads_reason(shared, "parallel.words"), masked, op=of.op)


def elementwise(s: Statement) -> tuple[Elementwise, np.generic | None]:
    """The element-wise operation of a method, and the one value of all results if it is known."""
    expr, variants = s.expr, operations.variants
    op: Any = expr.op
    u: VectorStore = expr.args[0]._stored
    if s.name.startswith("ewise"):
        v, f = expr.args[1]._stored, variants.binary_of(op)
        mode = {"ewise_mult": variants.BOTH, "ewise_add": variants.UNION}.get(s.name, variants.FILLED)
        one = mode != variants.FILLED and u.iso and v.iso
        value = plan.joins_to_one_value(u, v, f, mode == variants.UNION) if one else None
        types = (u.dtype, v.dtype) if mode != variants.FILLED else (f.dtype, f.dtype)
        return Elementwise(u, v, mode, f, types), value
    if s.name == "select" or isinstance(op.op, (IndexUnaryOp, SelectOp)):
        types = u.dtype, op.compute_type
        return Elementwise(u, u, variants.LEFT, op, types, "xt", s.name == "select"), None
    value = u.values if u.iso else None
    if len(expr.args) == 1:
        of = Elementwise(u, u, variants.LEFT, op, (u.dtype, u.dtype), "x")
        return of, plan.applied_value(op, value, unary=True)
    f, left = variants.binary_of(op), expr.args[1] is None
    operand = (expr.args[2], value) if left else (value, expr.args[1])
    of = Elementwise(u, u, variants.LEFT, f, (u.dtype, f.compute_type), "yx" if left else "xy")
    return of, plan.applied_value(f, *operand)


def _of_vectors(s: Statement) -> OperationPlan:
    if s.expr.op is None:  # a selection by a mask
        u: VectorStore = s.expr.args[0]._stored
        return s.plan(plan.storage_of_vector(u), plan.UNDER_MASK, plan.storage_reason(u))
    of, value = elementwise(s)
    cast = s.name == "ewise_union" and any(x.dtype is not of.op.dtype for x in (of.u, of.v))
    found = _vector_plan(s, of, value)
    return found._replace(reason=f"{found.reason}; operands are cast first") if cast else found


def _reduce_vector(s: Statement) -> OperationPlan:
    u: VectorStore = s.expr.args[0]._stored
    assert s.expr.op is not None  # reductions have a monoid
    return _sum_plan(s, u, s.expr.op)


def _sum_plan(s: Statement, u: VectorStore, monoid: Typed, *reasons: str) -> OperationPlan:
    way, _ = plan.reduce_way(u, monoid, operations.ewise_vector.HOST_CHUNK * 64)
    shared = False
    if way is plan.CHUNKS and type(u) is not SparseStore:
        shared = u.device.splits(words(u.size), tuning.count("parallel.words"))
    threads = plan.threads_reason(shared, "parallel.words")
    return s.plan(plan.storage_of_vector(u), way, plan.storage_reason(u), threads, *reasons)


def _inner(s: Statement) -> OperationPlan:
    semiring: Any = s.expr.op
    u, v = (x._stored for x in s.expr.args)
    multiply = semiring.op.binaryop[semiring.op.multiply_type(semiring.dtype)]
    f = operations.variants.binary_of(multiply)
    of = Elementwise(u, v, operations.variants.BOTH, f, (u.dtype, v.dtype))
    value = plan.joins_to_one_value(u, v, of.op, False) if u.iso and v.iso else None
    found = _vector_plan(s, of, value)
    return found._replace(semiring=semiring.op.name, reason=f"{found.reason}; then the products are summed")


def _read_vector(s: Statement) -> OperationPlan:
    read: Any = s.expr.run
    u, index = read.args
    store: VectorStore = u._stored
    if index.size is None:
        return s.plan(plan.storage_of_vector(store), plan.SINGLE_BIT, plan.storage_reason(store))
    way = plan.extract_way(store, index.at is None, index.is_range)
    shared = way is plan.GATHERED and store.device.splits(words(index.size), tuning.count("parallel.words"))
    threads = plan.threads_reason(shared, "parallel.words")
    return s.plan(plan.storage_of_vector(store), way, plan.storage_reason(store), threads)


def _shift_vector(s: Statement) -> OperationPlan:
    store: VectorStore = s.expr.args[0]._stored
    return s.plan(plan.storage_of_vector(store), plan.SHIFTED, plan.storage_reason(store))


def _outer(s: Statement) -> OperationPlan:
    return s.plan(" and ".join(dict.fromkeys(plan.storage_of_vector(x._stored) for x in s.expr.args)), plan.ALL_PAIRS)


# ---- Matrices.

SEARCHED = "extract.searched_columns"


def _store(A: Any) -> MatrixStore:
    """The content of a Matrix as it is stored; of a masked product that was not filtered yet the positions and sums."""
    store: Any = A._matrix._stored
    if store.deferred and store.pending:
        return MatrixStore(store.places, store.dtype, store.sums).tagged(store.order)
    found: MatrixStore = store
    return found


def _key(*stores: MatrixStore) -> str:
    return " and ".join(dict.fromkeys(map(plan.storage_of, stores)))


def _first(*operands: Any) -> str:
    """The operands that are converted before the operation."""
    names = [A.name for A in operands if A._transposed]
    return f"{' and '.join(names)} is transposed first" if names else ""


def _merge(s: Statement) -> str:
    return "" if s.mask is None else "the mask is applied in a merge"


def _threads(A: MatrixStore, way: str, entries: int) -> str:
    shared = way in (plan.MERGED_ROWS, plan.SELECTED_ROWS) and A.device.splits(
        entries, tuning.count("parallel.entries")
    )
    return plan.threads_reason(shared, "parallel.entries")


def _ewise_matrices(s: Statement) -> OperationPlan:
    A, B, *_ = s.expr.args
    assert s.expr.op is not None  # element-wise operations have an operator
    op = operations.ewise_matrix.plain(s.expr.op)
    vector = next((x for x in (A, B) if hasattr(x, "partner")), None)
    if vector is not None:
        other: Any = B if vector is A else A
        a = _store(other)
        full = vector.restrict and vector.vector._stored.count == vector.vector.size
        way = plan.ewise_way(a, a, op, full and not other._transposed)
        axis = "column" if vector.columns else "row"
        return s.plan(_key(a), way, f"{vector.name} is first copied to each {axis}", _first(other), _merge(s))
    a, b = _store(A), _store(B)
    flat = isinstance(a, FlatStore) or isinstance(b, FlatStore)
    transposed = A._transposed or B._transposed
    way = plan.ewise_way(a, b, op, a is b if flat else a.structure is b.structure and not transposed)
    entries = 0 if flat else a.nvals + (0 if s.name == "ewise_mult" else b.nvals)
    return s.plan(_key(a, b), way, _first(A, B), _threads(a, way, entries), _merge(s))


def _apply_matrix(s: Statement) -> OperationPlan:
    A, op = s.expr.args[0], s.expr.op
    assert op is not None  # apply has an operator
    store, value = _store(A), None
    if not isinstance(store, FlatStore) and not isinstance(op.op, IndexUnaryOp):
        op = operations.ewise_matrix.plain(op)
        rest = s.expr.args[1:]
        if not rest:
            value = plan.applied_value(op, store.raw, unary=True)
        else:
            value = plan.applied_value(op, *((rest[1], store.raw) if rest[0] is None else (store.raw, rest[0])))
    way = plan.apply_way(store, op, value)
    return s.plan(_key(store), way, _first(A), _merge(s))


def _select_matrix(s: Statement) -> OperationPlan:
    A, op = s.expr.args[0], s.expr.op
    store = _store(A)
    if op is None:
        return s.plan(_key(store), plan.UNDER_MASK, _first(A))
    way = plan.select_way(store, op, op.op.name in operations.ewise_matrix.REGIONS)
    entries = 0 if isinstance(store, FlatStore) else store.nvals
    return s.plan(_key(store), way, _first(A), _threads(store, way, entries), _merge(s))


def _reduce_matrix(s: Statement) -> OperationPlan:
    A, monoid = s.expr.args[0], s.expr.op
    assert monoid is not None  # reductions have a monoid
    store: MatrixStore = A._matrix._stored
    way = plan.reduce_matrix_way(store, monoid)
    if isinstance(store, FlatStore) and way is plan.BITMAP:
        return _sum_plan(s, store.flat, monoid)._replace(key=plan.storage_of(store))
    return s.plan(_key(_store(A)), way)


def _reduce_lines(s: Statement) -> OperationPlan:
    """Row or column sums of a bitmap."""
    return s.plan(_key(_store(s.expr.args[0])), plan.SUMMED_LINES)


def row_sums(expr: Any) -> Any:
    """The product with a vector of ones that a reduction of rows or columns is; None for other expressions."""
    monoid = expr.op
    if expr.method not in ("reduce_rowwise", "reduce_columnwise") or not isinstance(monoid, Typed):
        return None
    A = expr.args[0] if expr.method == "reduce_rowwise" else expr.args[0].T
    store: MatrixStore = A._matrix._stored
    if plan.is_flat(store) and operations.multivector.computes(monoid):
        return None
    if store.structure.hypersparse:
        ones = operations.hypersparse.ones(store, A._transposed)
    else:
        bits = store.device.xp.full(words(A.ncols), ALL if A.ncols else NONE)
        bits[-1:] >>= np.uint64(-A.ncols % 64)
        ones = VectorStore(store.device, A.ncols, BOOL, bits, np.bool_(True), A.ncols)
    return A.mxv(kinds[1]._from_store(ones), compose(monoid.op, BINARY["first"])[monoid.dtype])


def _read_matrix(s: Statement) -> OperationPlan:
    read: Any = s.expr.run
    A, rows, cols = read.args
    store, device = _store(A), A.device
    if rows.size is None and cols.size is None:
        return s.plan(_key(store), plan.element_way(store))
    if rows.size is None or cols.size is None:
        column = (cols.size is None) != A._transposed
        return s.plan(_key(store), plan.line_way(store, column), f"one {'column' if column else 'row'}")
    if rows.at is None and cols.at is None:
        return s.plan(_key(store), plan.WHOLE, _first(A))
    store = _patterned(store)
    I, J = (a.places(device, store.structure.hypersparse) for a in (rows, cols))
    way = plan.extract_matrix_way(store, I, J)
    searched = "both index lists ascend" if way is plan.SEARCHED_COLUMNS else ""
    if way is plan.SELECTED_ROWS and J is not None and not A._transposed:
        entries = int(operations.assign_extract.row_starts(store.structure.rows(), I)[-1])
        if plan.searches_columns(entries, store.ncols):
            way = plan.SEARCHED_COLUMNS
            searched = f"{entries} entries for {store.ncols} columns: fewer than one in {plan.row(SEARCHED)}"
    return s.plan(_key(store), way, searched, _first(A), _merge(s))


def _place_matrix(s: Statement) -> OperationPlan:
    A = s.expr.args[0]
    store = _store(A)
    nrows, ncols = s.expr.shape
    store = _patterned(store)
    return s.plan(_key(store), plan.place_way(store, nrows, ncols), _first(A), _merge(s))


def _kronecker(s: Statement) -> OperationPlan:
    A, B = s.expr.args
    assert s.expr.op is not None  # Kronecker products have an operator
    a, b = _patterned(_store(A)), _patterned(_store(B))
    way = plan.kronecker_way(a, b, operations.ewise_matrix.plain(s.expr.op))
    return s.plan(_key(a, b), way, f"{a.nvals} times {b.nvals} entries", _first(A, B), _merge(s))


def _patterned(A: MatrixStore) -> MatrixStore:
    """A bitmap with a structure that is not stored with it."""
    if not isinstance(A, FlatStore):
        return A
    return MatrixStore(A.pattern(), A.dtype, A.dtype.np_type.type(0))


def _power(s: Statement) -> OperationPlan:
    A, n = s.expr.args
    if not n:
        return s.plan(_key(_store(A)), plan.SORTED_KEYS, "the identity of the multiplier on the diagonal")
    products = n.bit_length() + n.bit_count() - 2
    return s.plan(_key(_store(A)), plan.REPEATED_SQUARES, f"{products} products; explain A.mxm(A) for their plan")


# ---- Scalars, aggregators, and the table.


def _scalar(s: Statement) -> OperationPlan:
    return s.plan("a scalar", plan.ON_HOST)


def _aggregator(s: Statement) -> OperationPlan:
    aggregator, x = s.expr.op, s.expr.args[0]
    key = plan.storage_of_vector(x._stored) if x.ndim == 1 else _key(_store(x))
    assert aggregator is not None
    return choose(s.name, None, key, plan.SEVERAL_STEPS)._replace(semiring=aggregator.name)


Chooser = Callable[[Statement], OperationPlan]

VECTOR: dict[str, Chooser] = {
    "ewise_add": _of_vectors,
    "ewise_mult": _of_vectors,
    "ewise_union": _of_vectors,
    "apply": _of_vectors,
    "select": _of_vectors,
    "reduce": _reduce_vector,
    "inner": _inner,
    "outer": _outer,
    "reposition": _shift_vector,
    "__getitem__": _read_vector,
}
MATRIX: dict[str, Chooser] = {
    "ewise_add": _ewise_matrices,
    "ewise_mult": _ewise_matrices,
    "ewise_union": _ewise_matrices,
    "apply": _apply_matrix,
    "select": _select_matrix,
    "reduce_scalar": _reduce_matrix,
    "reduce_rowwise": _reduce_lines,
    "reduce_columnwise": _reduce_lines,
    "reposition": _place_matrix,
    "kronecker": _kronecker,
    "power": _power,
    "__getitem__": _read_matrix,
}
SCALAR: dict[str, Chooser] = dict.fromkeys(("apply", "select", "ewise_add", "ewise_mult", "ewise_union"), _scalar)
CHOOSERS = (SCALAR, VECTOR, MATRIX)


def chooser(expr: Any) -> Chooser | None:
    """The function of a delayed expression of this process, None if there is none."""
    operand: Any = getattr(expr, "args", (None,))[0]
    if not hasattr(operand, "_resolve") or hasattr(operand, "_part"):  # objects of several ranks
        return None
    if not isinstance(getattr(expr, "op", None), (Typed, type(None))):
        return _aggregator
    return CHOOSERS[operand.ndim].get(expr.method)


def kernels(s: Statement, found: OperationPlan) -> Sequence[Variant]:
    """The kernels of the operation for a new output. TypeError if they are not known before it runs."""
    if found.direction is plan.NEW_ARRAYS:
        return (elementwise(s)[0].variant(),)
    if found.direction is plan.CHUNKS and found.verb == "reduce":
        monoid: Any = s.expr.op
        return (operations.variants.reduce_variant(monoid, s.expr.args[0].dtype, False)[0],)
    raise TypeError(
        "source: expected a product, or an element-wise operation or reduction of vectors stored as bits, got "
        f"{found.verb} ({found.direction}); hint: gb.trace() lists the kernels of any statement"
    )
