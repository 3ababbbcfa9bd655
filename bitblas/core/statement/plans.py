"""Plans of expressions other than products, from facts about their operands: a table from methods to functions.

Nothing is computed. Each function gives the facts of one method to the decision that the operation itself uses
(bitblas/plan/operation.py). Operands are read as they are stored: a transposed, reordered or broadcast operand is
converted first when the expression runs, and the reason says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semirings import IndexUnaryOp, SelectOp, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, DataType

from ... import operations, tuning
from ...formats import Structure
from ...kernels.variant import Variant
from ...operations.lazy_map_product import LazyMapProduct
from ...operations.operands import Into, MatrixMask, word_bounds
from ...operations.operands import Mask as WordMask
from ...operations.variants import BOTH, FILLED, LEFT, UNION, Call, binary_of, elementwise_variant, reduce_variant
from ...plan import operation as plan
from ...plan.operation import OperationPlan, Way, choose, storage_of_vector, storage_reason, threads_reason
from ...plan.product import converted
from ...store import ALL, NONE, FlatStore, MatrixStore, SparseStore, VectorStore, words
from .infix import Delayed, Operand, kinds

if TYPE_CHECKING:
    from ..matrix.read import MatrixRead
    from ..typing import Axes, Operands
    from .expressions import Expression
    from .masks import Mask


class Statement(NamedTuple):
    """An expression, the mask of its statement, and the output, if that exists already."""

    expr: Expression[Any]
    mask: Mask | None = None
    out: Into | None = None

    @property
    def args(self) -> Operands:
        return self.expr.args

    @property
    def op(self) -> Typed:
        assert self.expr.op is not None  # only selections by masks, extractions and shifts have none
        return self.expr.op

    @property
    def vector(self) -> VectorStore:
        """The first operand, a Vector."""
        store: VectorStore = self.expr.args[0]._stored
        return store

    def plan(self, key: str | Iterable[str], way: Way, *reasons: str) -> OperationPlan:
        """key: storage of the operands."""
        verb = "extract" if self.expr.method == "__getitem__" else self.expr.method
        merged = "the mask is applied in a merge" if self.mask is not None and self.expr.ndim == 2 else ""
        key = key if isinstance(key, str) else " and ".join(dict.fromkeys(key))
        made = converted(_structures(self.args)) if way in plan.READS_ROWS else ""
        return choose(verb, self.expr.op, key, way, *reasons, merged, made)


def _structures(operands: Iterable[Any]) -> list[Structure]:
    """The structures of those operands that are matrices by rows, tiles or codes."""
    matrices = {id(A._matrix): A._matrix._stored for A in operands if isinstance(getattr(A, "_matrix", None), Operand)}
    return [of.structure for of in matrices.values() if not isinstance(of, FlatStore) and not of.deferred]


def merge_reason(target: Any, value: object, mask: Mask | None, accum: Typed | None, replace: bool) -> str:
    """What a plan says about the merge of target(mask, accum, replace) << value: which matrices it converts."""
    if target.ndim != 2 or (accum is None and (mask is None or replace)) or not _structures([target]):
        return ""
    read = [target, *([] if mask is None else [mask.parent]), *([] if hasattr(value, "method") else [value])]
    made = converted(_structures(read))
    return made and f"in the merge {made}"


def output(target: Any, mask: Mask | None, accum: Typed | None, replace: bool) -> Into | None:
    """The output of target(mask, accum, replace) << expr, if the operation ends the statement."""
    if target.ndim != 1:
        return None
    w: VectorStore = target._stored
    keeps = w.count != 0 and (accum is not None or (mask is not None and not replace))
    read = None if mask is None else _mask_words(mask.parent._stored, mask.structure)
    return Into(w, None if mask is None or read is None else WordMask(read, mask.complement), accum, replace, keeps)


def _mask_words(u: VectorStore, structural: bool) -> Any:
    """The array or list of a vector that its mask reads; None if that is a new one."""
    if type(u) is SparseStore:
        return u
    return u.bits if structural or u.iso else u.values if u.dtype is BOOL else None


def assignment_plan(target: Any, axes: Axes, value: object, *how: Any) -> str:
    """target(mask, accum, replace)[axes] << value in words. how: mask, accum, replace, and whether the mask covers the
    part."""
    text, (mask, accum, *_) = f"assign to {target.name}[..]", how
    store: Any = target._stored
    if all(axis.size is None for axis in axes) and mask is None and accum is None:
        return f"{text}: one entry, written at the next read"
    if target.ndim == 1 and axes[0].at is not None:
        way = plan.assign_way(store, mask, accum)
        return f"{text}: {choose('assign', accum, storage_of_vector(store), way, storage_reason(store))}"
    content = getattr(value, "_data", None)
    if target.ndim == 1 or not isinstance(content, MatrixStore) or how[3]:
        return text
    if isinstance(store, FlatStore) or isinstance(content, FlatStore) or store.deferred or content.deferred:
        return text
    I, J = (a.places(store.device, store.structure.hypersparse) for a in axes)
    way = plan.assign_matrix_way(store, I, J, content, None if mask is None else mask.parent._stored.structure, accum)
    return f"{text}: {choose('assign', accum, plan.storage_of(store), way)}"


# ---- Vectors.


class Elementwise(NamedTuple):
    """An element-wise operation on vectors as `ewise_vector.run_elementwise` gets it. types: those of its operands;
    value: the one value of all results, if it is known."""

    u: VectorStore
    v: VectorStore
    mode: int
    op: Typed
    types: tuple[DataType, DataType]
    value: np.generic | None = None
    bound: str = "xy"
    keep: bool = False

    def variant(self) -> Variant:
        """Its kernel for a new output."""
        call = Call(self.mode, self.bound, self.keep)
        return elementwise_variant(call, self.op, *self.types, iso=self.keep and self.u.iso)[0]


def _joined(u: VectorStore, v: VectorStore, mode: int, op: Typed) -> Elementwise:
    one = mode != FILLED and u.iso and v.iso
    value = plan.joins_to_one_value(u, v, op, mode == UNION) if one else None
    return Elementwise(u, v, mode, op, (op.dtype, op.dtype) if mode == FILLED else (u.dtype, v.dtype), value)


def elementwise(s: Statement) -> Elementwise:
    """The element-wise operation of a method."""
    method, u, op = s.expr.method, s.vector, s.op
    if method.startswith("ewise"):
        mode = {"ewise_mult": BOTH, "ewise_add": UNION}.get(method, FILLED)
        return _joined(u, s.args[1]._stored, mode, binary_of(op))
    if method == "select" or isinstance(op.op, (IndexUnaryOp, SelectOp)):
        return Elementwise(u, u, LEFT, op, (u.dtype, op.compute_type), None, "xt", method == "select")
    x = u.values if u.iso else None
    if len(s.args) == 1:
        return Elementwise(u, u, LEFT, op, (u.dtype, u.dtype), plan.applied_value(op, x, unary=True), "x")
    f, left = binary_of(op), s.args[1] is None
    value = plan.applied_value(f, s.args[2], x) if left else plan.applied_value(f, x, s.args[1])
    return Elementwise(u, u, LEFT, f, (u.dtype, f.compute_type), value, "yx" if left else "xy")


def _plan_elementwise(s: Statement, of: Elementwise, *reasons: str) -> OperationPlan:
    u, v, way, masked = of.u, of.v, plan.ONE_VALUE, ""
    if of.value is None:
        way = plan.elementwise_way(u, v, of.op, of.mode in (UNION, FILLED), of.keep, s.out)
    if s.mask is not None:
        applied = way in (plan.NEW_ARRAYS, plan.OWN_ARRAYS, plan.IN_PLACE)
        masked = "the kernel applies the mask" if applied else "the mask is applied in a merge"
    shared = False
    if way not in (plan.LISTED, plan.FUNCTION, plan.ONE_VALUE):
        shared = word_bounds(*((u,) if of.mode in (LEFT, BOTH) else (u, v))) is not None
    why = dict.fromkeys(map(storage_reason, (u, v)))
    return s.plan(map(storage_of_vector, (u, v)), way, *why, threads_reason(shared, "parallel.words"), masked, *reasons)


def _of_vectors(s: Statement) -> OperationPlan:
    if s.expr.op is None:  # a selection by a mask
        return s.plan(storage_of_vector(s.vector), plan.UNDER_MASK, storage_reason(s.vector))
    of = elementwise(s)
    cast = s.expr.method == "ewise_union" and any(x.dtype is not of.op.dtype for x in (of.u, of.v))
    return _plan_elementwise(s, of, "operands are cast first" if cast else "")


def _reduce_vector(s: Statement) -> OperationPlan:
    return _plan_sum(s, s.vector)


def _plan_sum(s: Statement, u: VectorStore) -> OperationPlan:
    way, _ = plan.reduce_way(u, s.op, operations.ewise_vector.HOST_CHUNK * 64)
    return s.plan(storage_of_vector(u), way, storage_reason(u), _word_threads(u, u.size, way is plan.CHUNKS))


def _word_threads(u: VectorStore, size: int, by_words: bool) -> str:
    """Whether threads share the words of a result of that size."""
    dense = by_words and type(u) is not SparseStore
    return threads_reason(dense and u.device.splits(words(size), tuning.count("parallel.words")), "parallel.words")


def _inner(s: Statement) -> OperationPlan:
    f = s.op.op.binaryop[s.op.op.multiply_type(s.op.dtype)]
    of = _joined(s.vector, s.args[1]._stored, BOTH, binary_of(f))
    return _plan_elementwise(s, of, "then the products are summed")


def _read_vector(s: Statement) -> OperationPlan:
    u, why = s.vector, storage_reason(s.vector)
    if not s.expr.ndim:
        return s.plan(storage_of_vector(u), plan.SINGLE_BIT, why)
    (index,) = _axes(s)
    way = plan.extract_way(u, index.at is None, index.is_range)
    return s.plan(storage_of_vector(u), way, why, _word_threads(u, index.size or 0, way is plan.GATHERED))


def _axes(s: Statement) -> Axes:
    """The indices of an extraction."""
    read: Any = s.expr.run
    axes: Axes = read.args[1:]
    return axes


def _shift_vector(s: Statement) -> OperationPlan:
    return s.plan(storage_of_vector(s.vector), plan.SHIFTED, storage_reason(s.vector))


def _outer(s: Statement) -> OperationPlan:
    return s.plan((storage_of_vector(x._stored) for x in s.args), plan.ALL_PAIRS)


# ---- Matrices.

SEARCHED = "extract.searched_columns"


def _store(A: MatrixRead) -> MatrixStore:
    """The content of a Matrix as it is stored; of a masked product that was not filtered yet the positions and sums."""
    store: Any = A._matrix._stored
    if store.deferred and store.pending and not isinstance(store, LazyMapProduct):
        return MatrixStore(store.places, store.dtype, store.outline()).tagged(store.order)
    found: MatrixStore = store
    return found


def _patterned(A: MatrixRead) -> MatrixStore:
    """The same with a structure that can be read: that of a bitmap is not stored with it."""
    store = _store(A)
    if not isinstance(store, FlatStore):
        return store
    return MatrixStore(store.pattern(), store.dtype, store.dtype.np_type.type(0))


def _lazy(A: MatrixRead) -> LazyMapProduct | None:
    """The content of a Matrix if it is a product with a map that is not computed yet."""
    store = A._matrix._stored if hasattr(A, "_matrix") else None
    return store if isinstance(store, LazyMapProduct) and store.pending else None


def _plan_lazy(s: Statement, lazy: LazyMapProduct, refusal: str) -> OperationPlan:
    """The plan of an operation on one. refusal: why its entries are computed first."""
    assert lazy.of is not None
    op = None if s.expr.op is None or not isinstance(s.expr.op, Typed) else s.op
    way = plan.STORED_FIRST if refusal else plan.FUSED
    key = f"{plan.storage_of(lazy.of.A)} and a map"
    found = choose(s.expr.method, op, key, way, refusal or f"of {lazy.product}")
    return found if op is not None or s.expr.op is None else found._replace(semiring=s.expr.op.name)


def _transposed(*operands: MatrixRead) -> str:
    names = " and ".join(A.name for A in operands if A._transposed)
    return f"{names} is transposed first" if names else ""


def _row_threads(A: MatrixStore, way: Way, entries: int) -> str:
    by_rows = way in (plan.MERGED_ROWS, plan.SELECTED_ROWS)
    return threads_reason(by_rows and A.device.splits(entries, tuning.count("parallel.entries")), "parallel.entries")


def _ewise_matrices(s: Statement) -> OperationPlan:
    (A, B, *_), op = s.args, operations.ewise_matrix.plain(s.op)
    for broadcast, other in ((A, B), (B, A)):
        if hasattr(broadcast, "partner"):
            a, u = _store(other), broadcast.vector._stored
            same = broadcast.restrict and u.count == u.size and not other._transposed
            copied = f"{broadcast.name} is first copied to each {'column' if broadcast.columns else 'row'}"
            return s.plan(plan.storage_of(a), plan.ewise_way(a, a, op, same), copied, _transposed(other))
    a, b = _store(A), _store(B)
    if isinstance(a, FlatStore) or isinstance(b, FlatStore):
        way, threads = plan.ewise_way(a, b, op, a is b), ""
    else:
        same = a.structure is b.structure and not (A._transposed or B._transposed)
        way = plan.ewise_way(a, b, op, same)
        threads = _row_threads(a, way, a.nvals + (0 if s.expr.method == "ewise_mult" else b.nvals))
    return s.plan(map(plan.storage_of, (a, b)), way, _transposed(A, B), threads)


def _apply_matrix(s: Statement) -> OperationPlan:
    (A, *rest), op = s.args, s.op
    if (lazy := _lazy(A)) is not None:
        return _plan_lazy(s, lazy, "" if lazy.applied is None else "one operator is applied already")
    store, value = _store(A), None
    if not isinstance(store, FlatStore) and not isinstance(op.op, IndexUnaryOp):
        op, x = operations.ewise_matrix.plain(op), store.raw
        operands = (x,) if not rest else (rest[1], x) if rest[0] is None else (x, rest[0])
        value = plan.applied_value(op, *operands, unary=not rest)
    return s.plan(plan.storage_of(store), plan.apply_way(store, op, value), _transposed(A))


def _select_matrix(s: Statement) -> OperationPlan:
    A = s.args[0]
    if (lazy := _lazy(A)) is not None and s.expr.op is not None:
        return _plan_lazy(s, lazy, "" if lazy.applied is None else "one operator is applied already")
    store = _store(A)
    if s.expr.op is None:
        return s.plan(plan.storage_of(store), _merge_way(_patterned(A), store, s.args[1]), _transposed(A))
    way = plan.select_way(store, s.op, s.op.op.name in operations.ewise_matrix.REGIONS)
    threads = _row_threads(store, way, store.nvals) if way is plan.SELECTED_ROWS else ""
    return s.plan(plan.storage_of(store), way, _transposed(A), threads)


def _merge_way(content: MatrixStore, store: MatrixStore, mask: Mask) -> Way:
    """How the entries of a matrix under a mask are copied. content: the matrix with a structure that can be read."""
    parent = content.structure if mask.parent._stored is store else _patterned(mask.parent).structure
    structure = parent if mask.structure else Structure(parent.primary)  # a new one, because zero entries are dropped
    return plan.merge_way(content, content, MatrixMask(structure, mask.complement), None, True)


def _reduce_matrix(s: Statement) -> OperationPlan:
    if isinstance(s.args[0], Delayed):  # a product that is not computed (expressions.py)
        return s.plan((plan.storage_of(_store(A)) for A in s.args[0].args), plan.COUNTED)
    if (lazy := _lazy(s.args[0])) is not None:
        return _plan_lazy(s, lazy, "" if lazy.adds(s.op) else lazy.refusal(s.op) or "float sums have a fixed order")
    store: MatrixStore = s.args[0]._matrix._stored
    way = plan.reduce_matrix_way(store, s.op)
    if isinstance(store, FlatStore) and way is plan.BITMAP:
        return _plan_sum(s, store.flat)._replace(key=plan.storage_of(store))
    return s.plan(plan.storage_of(_store(s.args[0])), way)


def _reduce_lines(s: Statement) -> OperationPlan:
    """Row or column sums of a bitmap, or of a product that is not computed yet."""
    A = s.args[0]
    if (lazy := _lazy(A)) is not None:
        return _plan_lazy(s, lazy, lazy.refusal(s.op, A._transposed != (s.expr.method == "reduce_columnwise")))
    return s.plan(plan.storage_of(_store(s.args[0])), plan.SUMMED_LINES)


def row_sums(expr: Expression[Any]) -> Any:
    """The product with a vector of ones that a reduction of rows or columns is; None for other expressions."""
    monoid = expr.op
    if expr.method not in ("reduce_rowwise", "reduce_columnwise") or not isinstance(monoid, Typed):
        return None
    A = expr.args[0] if expr.method == "reduce_rowwise" else expr.args[0].T
    store: MatrixStore = A._matrix._stored
    if _lazy(A) is not None:
        return None
    if plan.is_flat(store) and not monoid.dtype._is_udt:
        return None
    if store.structure.hypersparse:
        ones = operations.hypersparse.ones(store, A._transposed)
    else:  # without a kernel
        bits = store.device.xp.full(words(A.ncols), ALL if A.ncols else NONE)
        bits[-1:] >>= np.uint64(-A.ncols % 64)
        ones = VectorStore(store.device, A.ncols, BOOL, bits, np.bool_(True), A.ncols)
    return A.mxv(kinds[1]._from_store(ones), compose(monoid.op, BINARY["first"])[monoid.dtype])


def _read_matrix(s: Statement) -> OperationPlan:
    A, store = s.args[0], _store(s.args[0])
    key, why = plan.storage_of(store), _transposed(A)
    if not s.expr.ndim:
        return s.plan(key, plan.element_way(store))
    rows, cols = _axes(s)
    if s.expr.ndim == 1:
        column = (cols.size is None) != A._transposed
        return s.plan(key, plan.line_way(store, column), f"one {'column' if column else 'row'}")
    if rows.at is None and cols.at is None:
        return s.plan(key, plan.WHOLE, why)
    store = _patterned(A)
    I, J = (a.places(store.device, store.structure.hypersparse) for a in (rows, cols))
    way = plan.extract_matrix_way(store, I, J)
    searched = "both index lists ascend" if way is plan.SEARCHED_COLUMNS else ""
    plain = not store.structure.primary.compact  # counting the entries of these rows would convert it
    if plain and way is plan.SELECTED_ROWS and J is not None and not isinstance(I, range) and not A._transposed:
        entries = int(operations.assign_extract.row_starts(store.structure.rows(), I)[-1])
        if plan.searches_columns(entries, store.ncols):
            way = plan.SEARCHED_COLUMNS
            searched = f"{entries} entries for {store.ncols} columns: fewer than one in {plan.row(SEARCHED)}"
    return s.plan(key, way, searched, why)


def _place_matrix(s: Statement) -> OperationPlan:
    store = _patterned(s.args[0])
    return s.plan(store.structure.primary.key, plan.place_way(store, *s.expr.shape), _transposed(s.args[0]))


def _kronecker(s: Statement) -> OperationPlan:
    a, b = map(_patterned, s.args)
    way = plan.kronecker_way(a, b, operations.ewise_matrix.plain(s.op))
    return s.plan(map(plan.storage_of, (a, b)), way, f"{a.nvals} times {b.nvals} entries", _transposed(*s.args))


def _power(s: Statement) -> OperationPlan:
    key, n = plan.storage_of(_store(s.args[0])), s.args[1]
    if not n:
        return s.plan(key, plan.SORTED_KEYS, "the identity of the multiplier on the diagonal")
    products = n.bit_length() + bin(n).count("1") - 2
    return s.plan(key, plan.REPEATED_SQUARES, f"{products} products; explain A.mxm(A) for their plan")


# ---- Scalars, aggregators, and the table.


def _scalar(s: Statement) -> OperationPlan:
    return s.plan("a scalar", plan.ON_HOST)


def _aggregator(s: Statement) -> OperationPlan:
    aggregator, x = s.op, s.args[0]
    if x.ndim == 2 and s.expr.method != "reduce_scalar" and (lazy := _lazy(x)) is not None:
        transpose = x._transposed != (s.expr.method == "reduce_columnwise")
        return _plan_lazy(s, lazy, lazy.refusal(aggregator.name, transpose))
    key = storage_of_vector(x._stored) if x.ndim == 1 else plan.storage_of(_store(x))
    return choose(s.expr.method, None, key, plan.SEVERAL_STEPS)._replace(semiring=aggregator.name)


Chooser = Callable[[Statement], OperationPlan]

ELEMENTWISE = ("ewise_add", "ewise_mult", "ewise_union")
SCALAR: dict[str, Chooser] = dict.fromkeys((*ELEMENTWISE, "apply", "select"), _scalar)
VECTOR: dict[str, Chooser] = dict.fromkeys((*ELEMENTWISE, "apply", "select"), _of_vectors) | {
    "reduce": _reduce_vector,
    "inner": _inner,
    "outer": _outer,
    "reposition": _shift_vector,
    "__getitem__": _read_vector,
}
MATRIX: dict[str, Chooser] = dict.fromkeys(ELEMENTWISE, _ewise_matrices) | {
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
    if found.direction is plan.NEW_ARRAYS and found.verb != "inner":
        return (elementwise(s).variant(),)
    if found.direction is plan.CHUNKS and found.verb == "reduce" and found.key == "bits":
        return (reduce_variant(s.op, s.vector.dtype, False)[0],)
    raise TypeError(
        "source: expected a product, or an element-wise operation or reduction of vectors stored as bits, got "
        f"{found.verb} ({found.direction}); hint: gb.trace() lists the kernels of any statement"
    )
