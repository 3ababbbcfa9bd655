"""Machine instructions that Numba has no name for, and SIMD lanes, used by the CPU kernels.

`at` and `put` exist because Numba adds a wrap-around test to every signed index, which costs a factor of 2 to 3 in
these loops; `empty` and `zeros` because Numba's own arrays need its run-time library. Every kernel text begins with
`from bitblas.kernels.intrinsics import *`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model
from numba.np import arrayobj

from .variant import NO_MEMORY

# Numba has no type information, and its contexts and signatures have several classes.
Context: TypeAlias = Any  # of typing, or of code generation
Signature: TypeAlias = Any
Values: TypeAlias = Sequence[ir.Value]
Typed: TypeAlias = tuple[Signature, Callable[..., ir.Value]]  # an intrinsic's result: the function that emits its code
Intrinsic: TypeAlias = Callable[..., Any]


def element_pointer(
    ctx: Context, b: ir.IRBuilder, array_type: types.Array, array: ir.Value, index: ir.Value, index_type: types.Type
) -> ir.Value:
    """LLVM code for the address of array[index]."""
    data = arrayobj.make_array(array_type)(ctx, b, array).data
    index = ctx.cast(b, index, index_type, types.intp)
    return b.gep(data, [index], source_etype=ctx.get_data_type(array_type.dtype), inbounds=True)


@intrinsic
def at(typing: Context, array: types.Array, index: types.Type) -> Typed:
    """array[index] without wrap-around of negative indices."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        pointer = element_pointer(ctx, b, sig.args[0], args[0], args[1], sig.args[1])
        return ctx.unpack_value(b, sig.args[0].dtype, pointer)

    return array.dtype(array, index), code


@intrinsic
def put(typing: Context, array: types.Array, index: types.Type, value: types.Type) -> Typed:
    """array[index] = value without wrap-around of negative indices."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        pointer = element_pointer(ctx, b, sig.args[0], args[0], args[1], sig.args[1])
        ctx.pack_value(b, sig.args[0].dtype, ctx.cast(b, args[2], sig.args[2], sig.args[0].dtype), pointer)
        return ctx.get_dummy_value()

    return types.void(array, index, value), code


@intrinsic
def word_at(typing: Context, array: types.Array, byte: types.Type) -> Typed:
    """The 64 bits that begin at a byte of an array, first byte lowest; no alignment required."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        data = b.bitcast(arrayobj.make_array(sig.args[0])(ctx, b, args[0]).data, cgutils.voidptr_t)
        place = ctx.cast(b, args[1], sig.args[1], types.intp)
        pointer = b.gep(data, [place], source_etype=ir.IntType(8), inbounds=True)
        return b.load(b.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(array, byte), code


@intrinsic
def prefetch(typing: Context, array: types.Array, index: types.Type) -> Typed:
    """Prefetch array[index] for reading and writing. The index may be out of bounds."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        pointer = element_pointer(ctx, b, sig.args[0], args[0], args[1], sig.args[1])
        pointer = b.bitcast(pointer, cgutils.voidptr_t)
        i32 = ir.IntType(32)
        called = b.module.declare_intrinsic(
            "llvm.prefetch", [pointer.type], ir.FunctionType(ir.VoidType(), [pointer.type, i32, i32, i32])
        )
        b.call(called, [pointer, i32(1), i32(3), i32(1)])
        return ctx.get_dummy_value()

    return types.void(array, index), code


def _bits(name: str, *flags: int) -> Intrinsic:
    @intrinsic
    def op(typing: Context, x: types.Type) -> Typed:
        def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
            t = args[0].type
            flag = ir.IntType(1)
            fn = cgutils.get_or_insert_function(
                b.module, ir.FunctionType(t, [t] + [flag] * len(flags)), f"llvm.{name}.i{t.width}"
            )
            return b.call(fn, [args[0]] + [ir.Constant(flag, f) for f in flags])

        return x(x), code

    return op


popcount = _bits("ctpop")  # number of set bits, in the type of its argument
trailing_zeros = _bits("cttz", 1)  # position of the lowest set bit; undefined for 0
leading_zeros = _bits("ctlz", 0)  # zeros above the highest set bit


@intrinsic
def chosen(typing: Context, bit: types.Type, x: types.Type, y: types.Type) -> Typed:
    """x if the lowest bit of `bit` is set, else y, both of one type, numbers or bool. Uses masks, because a
    mispredicted branch would cost more than the work. Floats are treated as integers, because LLVM would make a branch
    again."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        kind, mask = args[1].type, b.trunc(args[0], ir.IntType(1))
        bits = kind if kind == mask.type else ir.IntType(8 * ctx.get_abi_sizeof(kind))
        mask = mask if bits == mask.type else b.sext(mask, bits)
        x, y = (value if kind == bits else b.bitcast(value, bits) for value in args[1:])
        found = b.or_(b.and_(x, mask), b.and_(y, b.not_(mask)))
        return found if kind == bits else b.bitcast(found, kind)

    return x(bit, x, x), code


@intrinsic
def opaque(typing: Context, x: types.Type) -> Typed:
    """Returns x, hiding its value from LLVM. A loop with such a step is not vectorized: rows are too short for vector
    loops, and gathers are slower than single loads."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        kind = args[0].type
        return b.asm(ir.FunctionType(kind, [kind]), "", "=r,0", [args[0]], False)

    return x(x), code


@intrinsic
def drop_lowest(typing: Context, x: types.Type) -> Typed:
    """x without its lowest set bit: x & (x - 1), which Numba would compute in float64 for uint64."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        return b.and_(args[0], b.sub(args[0], ir.Constant(args[0].type, 1)))

    return x(x), code


def _scratch(zeroed: bool) -> Intrinsic:
    @intrinsic
    def op(typing: Context, size: types.Type, dtype: types.Type) -> Typed:
        made = types.Array(dtype.dtype, 1, "C")
        return made(size, dtype), functools.partial(_allocate, zeroed)

    return op


def _allocate(zeroed: bool, ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
    """malloc or calloc, recorded in the frame of the entry function (compiler.py), which begins with the kernel's
    exception."""
    word, place = ir.IntType(64), ir.IntType(8).as_pointer()
    number = b.module.scratch = getattr(b.module, "scratch", 0) + 1
    function = lambda name, *kinds: cgutils.get_or_insert_function(b.module, ir.FunctionType(*kinds), name)
    frame = b.bitcast(ctx.call_conv._get_excinfo_argument(b.function), place.as_pointer())
    noted = b.gep(frame, [ir.Constant(word, number)])
    b.call(function("free", ir.VoidType(), [place]), [b.load(noted)])  # the previous one, if in a loop
    size = ctx.cast(b, args[0], sig.args[0], types.int64)
    width = ir.Constant(word, ctx.get_abi_sizeof(ctx.get_data_type(sig.return_type.dtype)))
    some = b.select(b.icmp_signed(">", size, ir.Constant(word, 0)), size, ir.Constant(word, 1))
    if zeroed:
        data = b.call(function("calloc", place, [word, word]), [some, width])
    else:
        most = b.udiv(ir.Constant(word, (1 << 63) - 1), width)
        nbytes = b.select(b.icmp_unsigned("<=", some, most), b.mul(some, width), ir.Constant(word, (1 << 63) - 1))
        data = b.call(function("malloc", place, [word]), [nbytes])
    b.store(data, noted)
    with cgutils.if_unlikely(b, cgutils.is_null(b, data)):
        ctx.call_conv._return_errcode_raw(b, ir.Constant(ir.IntType(32), NO_MEMORY))
    array = arrayobj.make_array(sig.return_type)(ctx, b)
    data = b.bitcast(data, array.data.type)
    arrayobj.populate_array(array, data=data, shape=[size], strides=[width], itemsize=width, meminfo=None)
    return array._getvalue()


empty, zeros = _scratch(False), _scratch(True)  # (size, dtype): an array that is freed when the kernel ends


# ---- SIMD lanes as Numba values: <count x element> vectors of LLVM, which maps them to the processor's instructions
# (AVX-512, AVX2, SSE, NEON). Used by the CPU kernels that sum eight rows of a tile at once.

Code: TypeAlias = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]

INDEX = ir.IntType(32)


class Lanes(types.Type):
    """`count` values of one scalar type; for booleans a mask."""

    def __init__(self, dtype: types.Type, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


def _vector(lanes: Lanes) -> ir.VectorType:
    if isinstance(lanes.dtype, types.Boolean):
        return ir.VectorType(ir.IntType(1), lanes.count)
    if isinstance(lanes.dtype, types.Float):
        return ir.VectorType(ir.FloatType() if lanes.dtype.bitwidth == 32 else ir.DoubleType(), lanes.count)
    return ir.VectorType(ir.IntType(lanes.dtype.bitwidth), lanes.count)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: models.DataModelManager, lanes: Lanes) -> None:
        super().__init__(manager, lanes, _vector(lanes))


def _places(places: Iterable[int]) -> ir.Constant:
    numbers = list(places)
    return ir.Constant(ir.VectorType(INDEX, len(numbers)), numbers)


def _shuffled(b: ir.IRBuilder, vector: ir.Value, places: Iterable[int]) -> ir.Value:
    return b.shuffle_vector(vector, vector, _places(places))


@intrinsic(prefer_literal=True)
def splat(typing: Context, x: types.Type, count: types.Type) -> Typed:
    """`count` times x."""
    lanes = Lanes(types.unliteral(x), count.literal_value)

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        value = ctx.cast(b, args[0], sig.args[0], lanes.dtype)
        one = b.insert_element(ir.Constant(_vector(lanes), ir.Undefined), value, ir.Constant(INDEX, 0))
        return _shuffled(b, one, [0] * lanes.count)

    return lanes(x, count), code


@intrinsic
def mask_lanes(typing: Context, word: types.Type) -> Typed:
    """The bits of an unsigned integer as a mask, lowest first."""
    lanes = Lanes(types.boolean, word.bitwidth)
    return lanes(word), lambda ctx, b, sig, args: b.bitcast(args[0], _vector(lanes))


@intrinsic
def load_lanes(typing: Context, array: types.Array, index: types.Type, word: types.Type) -> Typed:
    """Masked load: array[index + k] for the set bits k of `word` (uint8: eight lanes), 0 in other lanes."""
    lanes = Lanes(array.dtype, word.bitwidth)

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        vector, mask = _vector(lanes), ir.VectorType(ir.IntType(1), lanes.count)
        pointer = b.bitcast(element_pointer(ctx, b, sig.args[0], args[0], args[1], sig.args[1]), vector.as_pointer())
        kind = f"{'f' if isinstance(lanes.dtype, types.Float) else 'i'}{lanes.dtype.bitwidth}"
        load = cgutils.get_or_insert_function(
            b.module,
            ir.FunctionType(vector, [vector.as_pointer(), INDEX, mask, vector]),
            f"llvm.masked.load.v{lanes.count}{kind}.p0",
        )
        align = ir.Constant(INDEX, lanes.dtype.bitwidth // 8)
        return b.call(load, [pointer, align, b.bitcast(args[2], mask), ir.Constant(vector, [0] * lanes.count)])

    return lanes(array, index, word), code


@intrinsic
def store_lanes(typing: Context, array: types.Array, index: types.Type, lanes: types.Type) -> Typed:
    """array[index + k] = lane k, for all lanes."""

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        pointer = element_pointer(ctx, b, sig.args[0], args[0], args[1], sig.args[1])
        pointer = b.bitcast(pointer, _vector(sig.args[2]).as_pointer())
        b.store(args[2], pointer, align=sig.args[2].dtype.bitwidth // 8)
        return ctx.get_dummy_value()

    return types.void(array, index, lanes), code


@intrinsic
def lane(typing: Context, lanes: types.Type, k: types.Type) -> Typed:
    """Lane number k."""
    return lanes.dtype(lanes, k), lambda ctx, b, sig, args: b.extract_element(args[0], args[1])


@intrinsic(prefer_literal=True)
def row_places(typing: Context, array: types.Array, word: types.Type, shift: types.Type) -> Typed:
    """Three bits of each byte of a uint64, from bit `shift` on, as eight lanes of the array's element width."""
    lanes, low = Lanes(types.Integer.from_bitwidth(array.dtype.bitwidth), 8), shift.literal_value

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        kind = _vector(lanes)
        rows = b.zext(b.bitcast(args[1], ir.VectorType(ir.IntType(8), 8)), kind)
        return b.and_(b.lshr(rows, ir.Constant(kind, [low] * 8)), ir.Constant(kind, [7] * 8))

    return lanes(array, word, shift), code


@intrinsic
def picked_lanes(typing: Context, array: types.Array, index: types.Type, places: types.Type) -> Typed:
    """array[index + places[k]] for each lane k, places below 8. LLVM makes one permutation of it, for numbers of four
    bytes from AVX2 on and of eight from AVX-512 on; elsewhere eight loads."""
    lanes = Lanes(array.dtype, 8)

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        kind = _vector(lanes)
        pointer = element_pointer(ctx, b, sig.args[0], args[0], args[1], sig.args[1])
        choices = b.load(b.bitcast(pointer, kind.as_pointer()), align=lanes.dtype.bitwidth // 8)
        found = ir.Constant(kind, ir.Undefined)
        for k in range(8):
            one = b.extract_element(choices, b.extract_element(args[2], ir.Constant(INDEX, k)))
            found = b.insert_element(found, one, ir.Constant(INDEX, k))
        return found

    return lanes(array, index, places), code


@intrinsic(prefer_literal=True)
def repeat_lanes(typing: Context, x: types.Type, times: types.Type) -> Typed:
    """All lanes of `times` copies, concatenated."""
    lanes = Lanes(x.dtype, x.count * times.literal_value)

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        return _shuffled(b, args[0], [k % x.count for k in range(lanes.count)])

    return lanes(x, times), code


def _every_second(first: int) -> Intrinsic:
    @intrinsic
    def op(typing: Context, x: types.Type) -> Typed:
        lanes = Lanes(x.dtype, x.count // 2)
        return lanes(x), lambda ctx, b, sig, args: _shuffled(b, args[0], range(first, x.count, 2))

    return op


even_lanes, odd_lanes = _every_second(0), _every_second(1)


@intrinsic
def where_lanes(typing: Context, mask: types.Type, x: types.Type, y: types.Type) -> Typed:
    """Blend: in each lane x if the mask is set, else y."""
    return x(mask, x, y), lambda ctx, b, sig, args: b.select(*args)


@intrinsic
def row_counts(typing: Context, word: types.Type) -> Typed:
    """The number of set bits in each byte of a uint64, as eight lanes of INT64."""
    lanes = Lanes(types.int64, 8)

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        rows = ir.VectorType(ir.IntType(8), 8)
        count = cgutils.get_or_insert_function(b.module, ir.FunctionType(rows, [rows]), "llvm.ctpop.v8i8")
        return b.zext(b.call(count, [b.bitcast(args[0], rows)]), _vector(lanes))

    return lanes(word), code


@intrinsic
def outer_counts(typing: Context, x: types.Type, y: types.Type) -> Typed:
    """Lane 8 r + s: popcount of byte r of x AND byte s of y (both uint64), UINT8."""
    lanes = Lanes(types.uint8, 64)

    def code(ctx: Context, b: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
        rows = ir.VectorType(ir.IntType(8), 8)
        left = _shuffled(b, b.bitcast(args[0], rows), [k // 8 for k in range(64)])
        right = _shuffled(b, b.bitcast(args[1], rows), [k % 8 for k in range(64)])
        kind = _vector(lanes)
        count = cgutils.get_or_insert_function(b.module, ir.FunctionType(kind, [kind]), "llvm.ctpop.v64i8")
        return b.call(count, [b.and_(left, right)])

    return lanes(x, y), code


def _binary(signed: Code, unsigned: Code, real: Code) -> Intrinsic:
    """A lane function from its LLVM code for signed integers, unsigned integers and floats."""

    @intrinsic
    def op(typing: Context, x: types.Type, y: types.Type) -> Typed:
        code = real if isinstance(x.dtype, types.Float) else signed if x.dtype.signed else unsigned
        return x(x, y), lambda ctx, b, sig, args: code(b, *args)

    return op


def _arithmetic(integer: Code, real: Code) -> Intrinsic:
    return _binary(integer, integer, real)


def _chosen(symbol: str) -> Intrinsic:
    """x if x < y (x > y) or y is NaN, else y: fmin and fmax, which return the number if one operand is NaN."""
    return _binary(
        lambda b, x, y: b.select(b.icmp_signed(symbol, x, y), x, y),
        lambda b, x, y: b.select(b.icmp_unsigned(symbol, x, y), x, y),
        lambda b, x, y: b.select(b.or_(b.fcmp_ordered(symbol, x, y), b.fcmp_unordered("uno", y, y)), x, y),
    )


plus_lanes = _arithmetic(lambda b, x, y: b.add(x, y), lambda b, x, y: b.fadd(x, y))
minus_lanes = _arithmetic(lambda b, x, y: b.sub(x, y), lambda b, x, y: b.fsub(x, y))
times_lanes = _arithmetic(lambda b, x, y: b.mul(x, y), lambda b, x, y: b.fmul(x, y))
least_lanes, greatest_lanes = _chosen("<"), _chosen(">")
first_lanes = _arithmetic(lambda b, x, y: x, lambda b, x, y: x)
second_lanes = _arithmetic(lambda b, x, y: y, lambda b, x, y: y)

__all__ = [
    "at",
    "chosen",
    "drop_lowest",
    "empty",
    "even_lanes",
    "first_lanes",
    "greatest_lanes",
    "lane",
    "leading_zeros",
    "least_lanes",
    "load_lanes",
    "mask_lanes",
    "minus_lanes",
    "odd_lanes",
    "opaque",
    "outer_counts",
    "picked_lanes",
    "plus_lanes",
    "popcount",
    "prefetch",
    "put",
    "repeat_lanes",
    "row_counts",
    "row_places",
    "second_lanes",
    "splat",
    "store_lanes",
    "times_lanes",
    "trailing_zeros",
    "where_lanes",
    "word_at",
    "zeros",
]
