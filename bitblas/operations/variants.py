"""Kernel variants of operations and products: pure functions from operators and types to Variants.

Vectors and products first, then matrices, then multivectors (formats/bitmap).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import BinaryOp, Monoid, Operator, Semiring, Typed
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, UINT8, UINT16, UINT32, UINT64, DataType
from semirings.expressions import Expression, names_in, rename

from .. import tuning
from ..formats import CSR, format_of
from ..formats.contract import PullCase
from ..kernels.variant import Function, Variant, is_neutral, lets, product, product_of_entries, sum_of, value
from ..plan.product import LANE_EXPRESSIONS, VALUES, Epilogue

# ---- Kernel variants of vector operations and products: pure functions from operators and types to Variants.

LEFT, BOTH, UNION, FILLED = range(4)  # elementwise.cu
# Values of the names in an operator's expression: the first operand u and the second v of the kernel.
LET = {
    "xy": (("x", "u"), ("y", "v")),
    "yx": (("x", "v"), ("y", "u")),
    "x": (("x", "u"),),
    "xt": (("x", "u"), ("t", "v")),
}


class Call(NamedTuple):
    """How an element-wise kernel calls its operator, and where. mode: LEFT, BOTH, UNION or FILLED. bound: a key of LET.
    keep: the result has the values of u for which the operator is true (select)."""

    mode: int
    bound: str = "xy"
    keep: bool = False


CELLS = (INT32, UINT32, INT64, UINT64, FP32, FP64)  # types that atomics can compare and swap
ATOMICS = {"plus": 1, "min": 2, "max": 3}  # `place` in vector.cu
PLAIN, LOR = BINARY["pair"], BINARY["lor"][BOOL]
Types = tuple[tuple[str, DataType], ...]
Constants = tuple[tuple[str, int], ...]


def constants(**named: int) -> Constants:
    """Constants of a kernel; flags become 0 or 1."""
    return tuple((name, int(number)) for name, number in named.items())


def cell_of(z: DataType) -> DataType:
    """The type of the cells in which a push combines sums of type z. Complex numbers are never compared and swapped:
    only monoids that are exact in any order are pushed, which for them is `any`, whose first product stays."""
    return z if z in CELLS or z.kind == "c" else INT32


def cast_function(name: str, source: DataType, to: DataType) -> Function:
    """name(a): a GraphBLAS cast."""
    return Function(name, to, (("a", source),), (("z", to, "a"),), "z")


def binary_of(op: Typed) -> Typed:
    """A binary operator, or that of a monoid."""
    return op.op.binaryop[op.op.compute_type(op.dtype)] if isinstance(op.op, Monoid) else op


def epilogue_functions(w: DataType, t: DataType, accum: Typed | None) -> tuple[Function, ...]:
    """take(t), the cast to the type of w, and accum(w, t); the latter is unused without an accumulator."""
    take = cast_function("take", t, w)
    if accum is None:
        return take, Function("accum", w, (("a", w), ("b", t)), (), "a")
    op = binary_of(accum)
    compute = op.op.compute_type(op.dtype)
    inner = Function("joined", op.return_type, (("x", compute), ("y", compute)), (), op.op.expr)
    let = lets(op.op, op.dtype, ("x", w, "a"), ("y", t, "b"))
    finish = cast_function("finished", op.return_type, w)
    return take, inner, finish, Function("accum", w, (("a", w), ("b", t)), let, "finished(joined(x, y))")


def elementwise_variant(
    call: Call,
    op: Typed[Operator],
    u: DataType,
    v: DataType,
    *,
    places: bool = False,
    fresh: bool = True,
    iso: bool = False,
) -> tuple[Variant, DataType]:
    """The kernel for w<mask> = op(u, v), and the type of w, which is that of the result.

    fresh: nothing of w is kept. iso: only presence is written.
    """
    mode, bound, keep = call
    f = entry_function(op, u, v, bound)
    t = u if keep else f.result
    casts = (cast_function(f"take_{name}", source, t) for name, source in (("u", u), ("v", v), ("f", f.result)))
    flags = constants(
        MODE=mode, KEEP=keep, PLACES=places, LANES=32, U_BOOL=u is BOOL, V_BOOL=v is BOOL, FRESH=fresh, W_ISO=iso
    )
    flags += constants(W_BOOL=t is BOOL, T_BOOL=t is BOOL)
    return Variant("kernels/elementwise", (("U", u), ("V", v), ("T", t), ("W", t)), flags, (), (f, *casts), repr(op)), t


def entry_function(op: Typed[Operator], u: DataType, v: DataType, bound: str) -> Function:
    """f(u, v, ix, jx): the operator of entries u and v at a row and a column. bound: a key of LET."""
    args = (("u", u), ("v", v), ("ix", INT64), ("jx", INT64))
    expr = rename(op.op.expr, {"iy": "ix", "jy": "jx"})
    used = names_in(expr) if op.op.positional else {n for n, _ in LET[bound]}
    let = lets(op.op, op.dtype, *((n, dict(args)[a], a) for n, a in LET[bound] if n in used))
    return Function("f", op.op.result_type(op.dtype), args, let, expr)


def reduce_variant(monoid: Typed[Monoid], u: DataType, flags: bool = False) -> tuple[Variant, DataType]:
    """The kernel that reduces the entries of a vector of type `u`, and the type of the result. flags: presence and BOOL
    values are bytes, not bits (the results of chunks, to be reduced again)."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    how = constants(LANES=256, FLAGS=flags, U_BOOL=u is BOOL and not flags, HAS_TERMINAL=terminal)
    functions = (*functions[:1], cast_function("take", u, z))
    return Variant("kernels/reduce", (("U", u), ("Z", z)), how, values[:1], functions, repr(monoid)), z


def merge_variant(t: DataType, end: Epilogue) -> Variant:
    """The kernel for w<mask, accum, replace> = t, for a t of type `t`; presence-only merges are one variant for all
    types."""
    if not end.store:
        t, end = BOOL, end._replace(w=BOOL, accum=end.accum and LOR)
    flags, functions = constants(LANES=64, T_BOOL=t is BOOL), epilogue_functions(end.w, t, end.accum)
    return Variant("kernels/merge", (("W", end.w), ("T", t)), flags + end.constants(), (), functions, repr(end.accum))


def vector_variant(kernel: str, u: DataType, **named: int) -> Variant:
    """A kernel on vectors of one type that needs no operator."""
    return Variant(f"kernels/{kernel}", (("U", u),), constants(**{"LANES": 1, "U_BOOL": u is BOOL, **named}))


def place_variant(u: DataType, t: DataType, *, values: bool, clear: bool = False, bits: bool = True) -> Variant:
    """The kernel for t(where[k]) = u(k), each index once. values, bits: they are written."""
    flags = constants(LANES=1, JOIN=0, MARKS=bits, CLEAR=clear, DENSE=values, U_BOOL=u is BOOL, T_BOOL=t is BOOL)
    unused = (Function("add", t, (("x", t), ("y", t)), (), "x"), cast_function("take_t", t, t))
    functions = (cast_function("take", u, t), *unused, cast_function("back", t, t))
    return Variant("kernels/place", (("U", u), ("T", t), ("Z", t)), flags, (), functions)


def sum_by_index_variant(u: DataType, monoid: Typed[Monoid]) -> tuple[Variant, DataType]:
    """The kernel for t(where[k]) (+)= u(k) in any order, and the type of the cells of t."""
    z = monoid.op.result_type(monoid.dtype)
    cell = cell_of(z)
    functions, values, terminal = sum_of(monoid.op, z)
    casts = (cast_function(*c) for c in (("take", u, z), ("take_t", cell, z), ("back", z, cell)))
    atomic = ATOMICS.get(monoid.op.name, 0) if z is cell and z.kind in "iu" else 0
    flags = constants(LANES=1, JOIN=1, MARKS=1, CLEAR=0, DENSE=1, U_BOOL=u is BOOL, T_BOOL=0)
    flags += constants(HAS_TERMINAL=terminal, ATOMIC=atomic)
    types = (("U", u), ("T", cell), ("C", cell), ("Z", z))
    return Variant("kernels/place", types, flags, values, (*functions[:1], *casts), repr(monoid)), cell


def fold_variant(op: Typed[Operator], a: DataType) -> tuple[Variant, DataType]:
    """The kernel of a left fold over segments of values of type `a` by a binary operator."""
    z = op.return_type
    let = lets(op.op, op.dtype, ("x", z, "p"), ("y", z, "q"))
    functions = (Function("add", z, (("p", z), ("q", z)), let, op.op.expr), cast_function("take", a, z))
    return Variant("kernels/fold", (("A", a), ("Z", z)), (), (), functions, repr(op)), z


# ---- Products of a matrix and a vector.


class Algebra(NamedTuple):
    """What the kernel of a product computes: the format and the types of its indices, the semiring (None: WORDS), the
    types of the matrix and of the other operand. flip: the matrix is the right operand. ranked: its values are found by
    ranks; packed: they are bit-packed."""

    key: str
    types: Types
    semiring: Typed[Semiring] | None
    kind: int
    a: DataType
    u: DataType
    flip: bool = False
    ranked: bool = False
    packed: bool = False

    @property
    def label(self) -> str:
        return "words" if self.semiring is None else repr(self.semiring)


def algebra_of(semiring: Typed[Semiring] | None, z: DataType = BOOL) -> tuple[BinaryOp, DataType, Monoid, DataType]:
    """Multiplier and its type, monoid and the type of the sum. WORDS, with semiring None, needs none of them and is one
    variant for all semirings whose sums have the type z."""
    if semiring is None:
        return PLAIN, BOOL, MONOIDS["any"], z
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    return op, t, semiring.op.monoid, op.result_type(t)


def initial_sum(monoid: Monoid, z: DataType) -> Any:
    """The initial value of a sum: the identity, but NaN if identity + NaN is not NaN (min and max of floats), and -0.0
    for float sums, since 0.0 + -0.0 is 0.0."""
    if z.kind in "fc" and monoid.name == "plus":
        return -0.0 if z.kind == "f" else complex(-0.0, -0.0)
    return monoid.identity(z) if is_neutral(monoid, z) or z.kind != "f" else np.nan


def may_compute_unneeded(op: Operator, monoid: Monoid, z: DataType, kinds: str = "fiu") -> bool:
    """Whether unneeded products may be computed too, for instance for missing entries of the vector: for numbers, whose
    values may be undefined, and by operators of this library only, because others may not terminate."""
    user_defined = isinstance(op.expr, Expression) or isinstance(monoid.binaryop.expr, Expression)
    return z.kind in kinds and monoid.name != "any" and not user_defined


@functools.cache
def pull_variant(
    of: Algebra,
    end: Epilogue,
    lanes: int,
    *,
    full: bool,
    padded: bool = True,
    width: int = 0,
    staged: bool = False,
    binned: Constants | None = None,
    kernel: str = "pull_binned",
) -> Variant:
    """The pull kernel of a format for a semiring with an epilogue.

    padded: the last tile column is wider than the matrix. width: see `BinnedPull.width`. staged: of plain rows, by
    products in shared memory.
    binned: the constants of the kernel for degree-binned rows, which runs instead; kernel: its name, or "sums".
    """
    op, _, monoid, z = algebra_of(of.semiring, end.z)
    padded = padded or not full or of.kind != VALUES or of.ranked  # kernels that do not depend on it share one variant
    many_blocks = full and max(t.nbytes for t in (of.a, of.u, z, end.w)) <= 4
    case = PullCase(of.ranked, is_neutral(monoid, z), padded, many_blocks, width)
    blend = int(of.kind == VALUES and may_compute_unneeded(op, monoid, z))
    blend += blend and of.u.kind in "iu" and z.kind != "f"  # EXACT in csr/pull.cpu.py
    flags = (
        constants(U_FULL=full, LANES=lanes)
        + end.constants()
        + tuple(format_of(of.key).kernels["mxv.pull"].constants(case))
    )
    if staged:  # the products of a warp take 2 to 4 KB
        flags += constants(STAGED=1, STAGE=512)
    flags = tuple(dict((*flags, ("BLEND", blend), *(binned or ()))).items())
    kernel = "pull" if binned is None else kernel
    return _product_variant(kernel, of, z, ("W", end.w), flags, epilogue_functions(end.w, z, end.accum))


tuning.on_change(pull_variant.cache_clear)


def order_sums_variant(u: DataType, *, permuted: bool) -> Variant:
    """The kernel that orders a vector for those of a copy for sums."""
    flags = constants(LANES=1, PERMUTED=permuted, U_BOOL=u is BOOL)
    return Variant("formats/csr/order_sums", (("U", u),), flags)


@functools.cache
def push_variant(of: Algebra, lanes: int, kernel: str = "push") -> Variant:
    """The push kernel of a format for a semiring. kernel: or "push_list"."""
    op, _, monoid, z = algebra_of(of.semiring)
    cell, push = cell_of(z), format_of(of.key).kernels["mxv.push"]
    blend = of.kind == VALUES and may_compute_unneeded(op, monoid, z, "fiub")
    flags = constants(U_FULL=0, LANES=lanes, BLEND=blend)
    flags += tuple(push.constants(ranked=of.ranked, neutral=is_neutral(monoid, z)))
    return _product_variant(kernel, of, z, ("C", cell), flags, (cast_function("take", cell, z),))


tuning.on_change(push_variant.cache_clear)


def initialize_variant(monoid: Monoid, z: DataType, cell: DataType) -> Variant:
    """The kernel that initializes the vector into which a push combines its products."""
    begin = value("BEGIN", cell, cell.np_type.type(initial_sum(monoid, z)))
    return Variant("kernels/initialize", (("C", cell),), (("LANES", 64),), (begin,))


def _product_variant(
    kernel: str, of: Algebra, z: DataType, output: tuple[str, DataType], flags: Constants, ends: tuple[Function, ...]
) -> Variant:
    """Shared by pull and push: the sums, the multiplier, and the types of the operands."""
    op, t, monoid, _ = algebra_of(of.semiring, z)
    functions, values, terminal = sum_of(monoid, z)
    a, u, flip = of.a, of.u, of.flip
    if of.kind != VALUES:
        op, t, a, u, flip = PLAIN, BOOL, BOOL, BOOL, False
    mul = product(op, t, a, u, flip=flip)._replace(result=z)
    flags = constants(KIND=of.kind, U_BOOL=u is BOOL, Z_BOOL=z is BOOL, HAS_TERMINAL=terminal) + flags
    flags += constants(VALUES_PACKED=of.packed)
    values = (*values, value("BEGIN", z, initial_sum(monoid, z)))
    types = (*of.types, output, ("A", a), ("U", u), ("Z", z))
    return Variant(format_of(of.key).kernel(kernel), types, flags, values, (*functions, *ends, mul), of.label)


@functools.cache
def lanes_variant(of: Algebra, *, full: bool = False, tables: bool = False, kernel: str = "lanes") -> Variant:
    """The CPU's kernel that pulls by whole tiles, for semirings that `is_wide` allows. tables: it reads lookup tables
    that the kernel of that name builds from the vector."""
    op, _, monoid, z = algebra_of(of.semiring)
    functions, values, _ = sum_of(monoid, z)
    begin, format = value("BEGIN", z, initial_sum(monoid, z)), format_of(of.key)
    flags = (("KIND", of.kind), *format.kernels["mxv.pull.wide"], *constants(FLIP=of.flip, U_BOOL=0, HAS_TERMINAL=0))
    if of.kind == VALUES:
        exprs = (("ADD", monoid.binaryop.expr), ("MUL", op.expr))
        flags += tuple((name, LANE_EXPRESSIONS.index(expr)) for name, expr in exprs)
    flags += constants(U_FULL=full, TABLES=tables)
    return Variant(format.kernel(kernel), (*of.types, ("Z", z)), flags, (*values, begin), functions, of.label)


@functools.cache
def hubs_variant(semiring: Typed[Semiring] | None, kind: int, rows: int, end: Epilogue) -> Variant:
    """The kernel that combines the segments of long rows for a pull kernel; `rows` of them per unit."""
    _, _, monoid, z = algebra_of(semiring, end.z)
    functions, values, terminal = sum_of(monoid, z)
    flags = constants(KIND=kind, HAS_TERMINAL=terminal, ROWS=rows, LANES=256) + end.constants()
    functions = (functions[0], *epilogue_functions(end.w, z, end.accum))
    label = "words" if semiring is None else repr(semiring)
    return Variant("kernels/hubs", (("W", end.w), ("Z", z)), flags, values, functions, label)


# ---- Kernel variants of matrix operations.


@functools.cache
def packed_constants(*keys: str) -> Constants:
    """Constants for columns.cuh: which of the operands A, B and M (the mask) have packed columns, by their
    formats."""
    return tuple((f"{name}_PACKED", int(format_of(key).packed)) for name, key in zip("ABM", keys, strict=False))


def _matrix_variant(kernel: str, of: Algebra, more: Constants, begin: bool = False) -> Variant:
    """A product of two matrices; u is the right one. more: constants, instead of these. begin: it reads the initial
    sum."""
    op, t, monoid, z = algebra_of(of.semiring)
    functions, values, terminal = sum_of(monoid, z)
    a, b = of.a, of.u
    if of.kind != VALUES:
        op, t, a, b = PLAIN, BOOL, BOOL, BOOL
    mul = product_of_entries(op, t, a, b)._replace(result=z)
    flags = constants(KIND=of.kind, U_BOOL=0, Z_BOOL=z is BOOL, HAS_TERMINAL=terminal)
    flags = tuple(dict((*flags, *more)).items())
    if begin:
        values = (*values, value("BEGIN", z, initial_sum(monoid, z)))
    types = (*of.types, ("A", a), ("B", b), ("Z", z))
    return Variant(kernel, types, flags, values, (*functions, mul), of.label)


@functools.cache
def dot_variant(of: Algebra, lanes: int, wide: bool = False, mask: str = CSR) -> Variant:
    """The dot kernel of a format for a semiring. wide: the CPU's, by whole tiles. mask: its format, if by rows."""
    format = format_of(of.key)
    more = tuple(format.kernels["dot"].constants(of.types, lanes, format_of(mask)))
    return _matrix_variant(format.kernels["dot.wide"] if wide else format.kernel("dot"), of, more)


tuning.on_change(dot_variant.cache_clear)


@functools.cache
def gustavson_variant(of: Algebra, fill: int, packed: Constants, alike: bool = False) -> Variant:
    """The CPU's row-by-row mxm. fill 0: the counting pass. alike: search for rows of B with equal columns."""
    more = constants(FILL=fill, ALIKE=alike, HAS_TERMINAL=0) + packed
    return _matrix_variant("formats/csr/gustavson", of, more)


@functools.cache
def rows_variant(kernel: str, of: Algebra, fill: int, more: Constants, single: bool = False) -> Variant:
    """The GPU's row-by-row mxm ("short_rows", "long_rows"); fill 0 counts. single: no row of B has more than one
    entry."""
    more = constants(FILL=fill, SINGLE=single) + more
    return _matrix_variant(f"formats/csr/{kernel}", of, more, begin=True)


@functools.cache
def match_variant(types: Types, packed: Constants) -> Variant:
    """The kernel that searches the entries of A in B."""
    return Variant("formats/csr/match", types, (("LANES", 1), *packed))


@functools.cache
def select_rows_variant(op: Typed[Operator], a: DataType, *, packed: bool, valued: bool) -> Variant:
    """The CPU's kernel that keeps the entries for which a test is true."""
    test = entry_function(op, a, op.compute_type, "xt")
    flags = constants(PACKED=packed, VALUED=valued)
    return Variant("formats/csr/select_rows", (("A", a),), flags, (), (test,), repr(op))


@functools.cache
def extract_variant(a: DataType | None, *, packed: bool, flagged: bool) -> Variant:
    """The CPU's kernel that copies parts of rows, with values of that type; None: without values."""
    flags = constants(PACKED=packed, VALUED=a is not None, FLAGGED=flagged)
    return Variant("formats/csr/extract", (("A", a or BOOL),), flags)


class Joining(NamedTuple):
    """The operator that joins entries of A and B, their types, and that of the result. op None: no values are
    written."""

    op: Typed[Operator] | None
    a: DataType
    b: DataType
    z: DataType

    def variant(self, kernel: str, types: Types, flags: Constants) -> Variant:
        """both(u, v, ix, jx) is op of two entries cast to z; only_a(u) and only_b(v) cast a single entry."""
        flags += constants(VALUED=self.op is not None)
        if self.op is None:
            types = (*types, ("A", BOOL), ("B", BOOL), ("Z", BOOL))
            return Variant(kernel, types, flags, (), (), "pattern")
        _, a, b, z = self
        f = entry_function(self.op, a, b, "xy")
        functions = (
            f,
            cast_function("finish", f.result, z),
            Function("both", z, f.args, (), "finish(f(u, v, ix, jx))"),
            cast_function("only_a", a, z),
            cast_function("only_b", b, z),
        )
        return Variant(kernel, (*types, ("A", a), ("B", b), ("Z", z)), flags, (), functions, repr(self.op))


@functools.cache
def merge_rows_variant(mode: int, of: Joining, packed: Constants, *, masked: int, flags: bool) -> Variant:
    """The CPU's kernel that merges rows of A and B under a mask (masked 2: B's own pattern)."""
    return of.variant("formats/csr/merge_rows", (), constants(MODE=mode, MASKED=masked, FLAGS=flags) + packed)


@functools.cache
def join_variant(types: Types, packed: Constants, of: Joining, side: int, intersect: bool, filled: bool) -> Variant:
    """The kernel that joins the entries of A and B."""
    places = of.op is not None and of.op.op.positional
    flags = constants(LANES=1, SIDE=side, INTERSECT=intersect, FILLED=filled, PLACES=places) + packed
    return of.variant("formats/csr/join", types, flags)


@functools.cache
def sddmm_variant(semiring: Typed[Semiring], a: DataType, b: DataType, types: Types, flags: Constants) -> Variant:
    """The kernel of dot products of dense rows; a, b: the types in which they are multiplied."""
    op, t, monoid, z = algebra_of(semiring)
    functions, values, _ = sum_of(monoid, z)
    mul = product_of_entries(op, t, a, b)._replace(result=z)
    return Variant("kernels/sddmm", types, flags, values, (*functions, mul), repr(semiring))


# ---- Kernel variants of products with multivectors (formats/bitmap), and of their reductions.

WHOLE, PARTS, JOIN = range(3)  # pull.cu
LINE = {8: UINT8, 16: UINT16, 32: UINT32, 64: UINT64}


class LinesKernel(NamedTuple):
    """Sums of lines: of WORDS or VALUES, of type z; x: the type of the multivector."""

    kind: int
    x: DataType
    z: DataType
    stride: int
    lanes: int

    def constants(self, terminal: int, mode: int = -1) -> Constants:
        """mode: of products.cu."""
        bits, valued = min(64, self.stride), self.kind == VALUES
        flags = constants(KIND=self.kind, U_BOOL=self.x is BOOL, Z_BOOL=self.z is BOOL, HAS_TERMINAL=terminal)
        flags += constants(BITS=bits, LANES=self.lanes, PER=max(1, bits // self.lanes) if valued else 1)
        return flags if mode < 0 else flags + constants(MODE=mode, VALUES_PACKED=0)

    @property
    def line(self) -> tuple[str, DataType]:
        return "LINE", LINE[min(64, self.stride)]


class FullLines(NamedTuple):
    """A product by lines of a multivector that has all entries. pieces: of a word, for each lane. iso: all values of
    the matrix are equal."""

    pieces: int
    iso: bool


def _is_lean(of: Algebra) -> bool:
    """Whether sums of 16 bytes take at most 40 registers, so that a multiprocessor has six blocks, not four."""
    op, _, monoid, z = algebra_of(of.semiring)
    small = all(t.nbytes <= 4 for t in (of.a, of.u, z, *(t for name, t in of.types if name == "COL")))
    return small and not format_of(of.key).packed and {op.expr, monoid.binaryop.expr} <= {*LANE_EXPRESSIONS}


@functools.cache
def lines_variant(
    direction: str,
    of: Algebra,
    stride: int,
    lanes: int,
    mode: int,
    walk: Constants = (),
    full: FullLines | None = None,
) -> Variant:
    """The kernel of a product by lines. flip: the multivector is the left operand. walk:
    constants of a format that walks its rows, and NODES; (): plain or packed rows. full: of a multivector that has all
    entries."""
    op, t, monoid, z = algebra_of(of.semiring)
    functions, values, terminal = sum_of(monoid, z)
    a, x = (BOOL, BOOL) if of.semiring is None else (of.a, of.u)
    mul = product_of_entries(op, t, x, a) if of.flip else product_of_entries(op, t, a, x)
    if of.flip:  # called as mul(value, of the line, line, other, place)
        u, v, i, k, j = mul.args
        mul = mul._replace(args=(v, u, j, k, i))
    made, format = LinesKernel(of.kind, x, z, stride, lanes), format_of(of.key)
    if walk:
        kernel = format.kernel(f"{direction}_lines")
        flags = made.constants(terminal) + constants(MODE=mode, VALUES_PACKED=0) + walk
    else:
        kernel = f"formats/bitmap/{direction if full is None else 'pull_full'}"
        flags = made.constants(terminal, mode) + constants(PACKED=format.packed)
        if full is not None:
            blocks = (4, 6) if _is_lean(of) else (3, 4)
            flags += constants(PIECES=full.pieces, ISO=full.iso, BLOCKS=blocks[full.pieces == 1])
    types, functions = (*of.types, made.line, ("A", a), ("U", x), ("Z", z)), (*functions, mul._replace(result=z))
    return Variant(kernel, types, flags, values, functions, of.label)


@functools.cache
def join_lines_variant(monoid: Typed[Monoid], x: DataType, stride: int, lanes: int) -> Variant:
    """The same for reductions of runs of lines."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    args = (("a", BOOL), ("b", x), ("i", INT64), ("k", INT64), ("j", INT64))
    mul, made = Function("mul", z, args, (("x", z, "b"),), "x"), LinesKernel(VALUES, x, z, stride, lanes)
    flags = made.constants(terminal, JOIN) + constants(PACKED=0)
    types = ("PTR", INT64), ("COL", INT64), made.line, ("A", BOOL), ("U", x), ("Z", z)
    return Variant("formats/bitmap/pull", types, flags, values, (*functions, mul), repr(monoid))


@functools.cache
def reduce_lines_variant(monoid: Typed[Monoid], x: DataType, stride: int, kind: int, lanes: int) -> Variant:
    """The kernel that reduces each line."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    made, functions = LinesKernel(kind, x, z, stride, lanes), (*functions, cast_function("take", x, z))
    types = (made.line, ("U", x), ("Z", z))
    return Variant("formats/bitmap/reduce_columns", types, made.constants(terminal), values, functions, repr(monoid))
