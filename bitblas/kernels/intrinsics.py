"""Machine instructions that Numba has no name for, used by the CPU kernels.

`at` and `put` exist because Numba adds a wrap-around test to every signed index, which costs a factor of 2 to 3 in
these loops; `empty` and `zeros` because Numba's own arrays need its run-time library. Every kernel text begins with
`from bitblas.kernels.intrinsics import *`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from .constants import NO_MEMORY

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
    element = ctx.get_data_type(array_type.dtype)
    try:
        return b.gep(data, [index], source_etype=element, inbounds=True)
    except TypeError:  # older llvmlite: typed pointers
        return b.gep(data, [index], inbounds=True)


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
        try:
            pointer = b.gep(data, [place], source_etype=ir.IntType(8), inbounds=True)
        except TypeError:  # older llvmlite: typed pointers
            pointer = b.gep(data, [place], inbounds=True)
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

__all__ = [
    "at",
    "chosen",
    "drop_lowest",
    "empty",
    "leading_zeros",
    "opaque",
    "popcount",
    "prefetch",
    "put",
    "trailing_zeros",
    "word_at",
    "zeros",
]
