"""Kernel variants: the types, constants and functions of a compiled kernel, as text in CUDA C++ and Python.

A kernel source (a .cu file and its CPU twin .cpu.py) is written once against names. A Variant defines these names:
types (`A` becomes `A_T`), integer constants, values, and small functions made from operator expressions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.cached import cached_property
from semirings.dtypes import BOOL, FC32, FP32, FP64, INT64, DataType, unify
from semirings.expressions import Expression, rename, resolve

if TYPE_CHECKING:
    from semirings.algebra import Monoid
    from semirings.operators import BinaryOp, Operator

    from ..typing import Number

# Kinds of products (product.cuh): presence only (WORDS), the number of products if all have one value (COUNT), or
# values (VALUES).
WORDS, COUNT, VALUES = range(3)
KINDS = ("words", "count", "values")

# Return codes of CPU kernels.
OTHERS = 1  # the arguments have other types; nothing ran
NO_MEMORY = 2  # a scratch array could not be allocated


class Function(NamedTuple):
    """`name(args) -> result`: each `let` (name, type, argument) casts an argument, or the result of an earlier cast;
    then the expression is evaluated."""

    name: str
    result: DataType
    args: tuple[tuple[str, DataType], ...]
    let: tuple[tuple[str, DataType, str], ...]
    expr: str

    @property
    def names(self) -> dict[str, DataType]:
        """The types of the names that the expression may use."""
        return {**dict(self.args), **{n: t for n, t, _ in self.let}}

    def text(self) -> str:
        """The expression, resolved for the type of its operands."""
        names = self.names
        return resolve(self.expr, next((names[n] for n in ("x", "y", "t") if n in names), self.result))

    def _gives_float(self) -> bool:
        if isinstance(self.expr, Expression):
            return self.expr.gives(self.names).kind == "f"
        return any(t.kind == "f" for _, t, _ in self.let)

    @property
    def types(self) -> tuple[DataType, ...]:
        """All types that occur in it."""
        return (self.result, *self.names.values())

    def cpp(self) -> str:
        head = self.expr.definition_cpp(self.names) if isinstance(self.expr, Expression) else ""
        args = ", ".join(f"{t.c_type} {n}" for n, t in self.args)
        body = " ".join(f"const {t.c_type} {n} = cast<{t.c_type}>({a}); (void){n};" for n, t, a in self.let)
        return (
            f"{head}__device__ __forceinline__ {self.result.c_type} {self.name}({args}) "
            f"{{ {body} return cast<{self.result.c_type}>({self.text()}); }}"
        )

    def python(self) -> str:
        head = self.expr.definition_python(self.names) if isinstance(self.expr, Expression) else ""
        types, lines = dict(self.args), []
        for n, t, a in self.let:
            if n != a or t is not types[a]:
                lines.append(f"    {n} = {py_cast(t, types[a], a)}")
            types[n] = t
        call = "bool" if self.result is BOOL else f"np.{self.result.np_type.name}"
        value = f"{call}({self.text()})"
        if self.result.kind in "iu" and self._gives_float():
            lines.append(f"    z = {self.text()}")
            value = py_cast(self.result, FP64, "z")
        args = ", ".join(n for n, _ in self.args)
        return "\n".join([f"{head}@njit(**FUNCTION)", f"def {self.name}({args}):", *lines, f"    return {value}"])


@dataclass(frozen=True)
class Variant:
    """One compiled kernel: its source and everything that is fixed before compilation. Hashable and printable."""

    kernel: str  # path without suffix below the package: "formats/b2sr/pull"
    types: tuple[tuple[str, DataType], ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    values: tuple[tuple[str, DataType, str], ...] = ()  # name, type, value as hexadecimal bits
    functions: tuple[Function, ...] = ()
    label: str = ""  # for people: the semiring, the operator
    text: str = ""  # generated CUDA C++: macros that the source uses
    script: str = ""  # generated Python: the kernel itself, if it has no source file

    def __hash__(self) -> int:
        """Cached: kernels are looked up by their variant at every call, and hashing visits all functions."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.kernel, self.types, self.constants, self.values, self.functions, self.text, self.script))

    def __getstate__(self) -> dict[str, object]:
        """Without the cached hash, which differs between processes."""
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    @property
    def entry(self) -> str:
        """The kernel's function name: the last part of its path."""
        return self.kernel.rsplit("/", 1)[-1]

    def constant(self, name: str, default: int = 0) -> int:
        return dict(self.constants).get(name, default)

    def __str__(self) -> str:
        parts = [f"{k}={t.name}" for k, t in self.types] + [f"{k}={v}" for k, v in self.constants]
        return f"{self.kernel} {self.label} {' '.join(parts)}".replace("  ", " ")

    def is_complex(self) -> bool:
        """Whether it uses complex numbers anywhere."""
        named = [t for _, t in self.types] + [t for f in self.functions for t in f.types]
        return any(t.kind == "c" for t in named) or re.search(r"\bfc(32|64)\b", self.text) is not None

    def cpp(self) -> str:
        """The prologue in CUDA C++."""
        lines = [f"typedef {t.c_type} {n}_T;" for n, t in self.types]
        lines += [f"#define {n} {v}" for n, v in self.constants]
        lines += [f"#define {n} {cpp_literal(t, bits)}" for n, t, bits in self.values]
        return "\n".join([*lines, *(f.cpp() for f in self.functions), self.text]) + "\n"

    def python(self) -> str:
        """The prologue in Python, for Numba."""
        lines = [f"{n}_T = np.{t.np_type.name}" for n, t in self.types]
        lines += [f"{n} = {v}" for n, v in self.constants]
        for n, t, bits in self.values:
            words = f"np.array([{', '.join(words_of(t, bits))}], np.uint{8 * min(t.nbytes, 8)})"
            lines.append(f"{n} = {words}.view(np.{t.np_type.name})[0]")
        return "\n".join([*lines, *(f.python() for f in self.functions), self.script]) + "\n"


def value(name: str, dtype: DataType, x: Number) -> tuple[str, DataType, str]:
    """A named value for Variant.values, exact to the bit."""
    raw = np.array(x, dtype.np_type).astype(dtype.np_type.newbyteorder("<")).tobytes()
    return name, dtype, hex(int.from_bytes(raw, "little"))


def words_of(t: DataType, bits: str, width: int = 8) -> list[str]:
    """The bits of a value in words of at most `width` bytes, lowest first."""
    raw = int(bits, 16).to_bytes(t.nbytes, "little")
    return [hex(int.from_bytes(raw[k : k + width], "little")) for k in range(0, t.nbytes, width)]


def cpp_literal(t: DataType, bits: str) -> str:
    if t.kind == "c":
        real = FP32 if t is FC32 else FP64
        return f"({t.c_type}{{{', '.join(cpp_literal(real, word) for word in words_of(t, bits, real.nbytes))}}})"
    if t.kind == "f":
        return f"__int_as_float((int){bits}u)" if t.nbytes == 4 else f"__longlong_as_double((long long){bits}ull)"
    return f"(({t.c_type}){bits}ull)"


def py_cast(to: DataType, source: DataType, name: str) -> str:
    """GraphBLAS casts: to BOOL is != 0; float to integer towards zero, saturated, NaN to 0 (as SuiteSparse)."""
    np_name = f"np.{to.np_type.name}"
    if to is source:
        return name
    if to is BOOL:
        return f"{name} != 0"
    if source.kind == "c" and to.kind in "iuf":
        return py_cast(to, FP32 if source is FC32 else FP64, f"{name}.real")
    if source is BOOL and to.kind == "c":  # Numba lacks this cast
        return f"{np_name}({name} + 0)"
    if source.kind == "f" and to.kind in "iu":
        low, high = int(to.lowest), int(to.highest)
        return (
            f"{np_name}(0) if {name} != {name} else ({np_name}({high}) if {name} >= {float(high)!r} else "
            f"({np_name}({low}) if {name} <= {float(low)!r} else {np_name}({name})))"
        )
    return f"{np_name}({name})"


def lets(op: Operator, t: DataType, *operands: tuple[str, DataType, str]) -> tuple[tuple[str, DataType, str], ...]:
    """The casts of operands (name, type, argument) for an operator of the type `t`."""
    found = []
    for name, source, argument in operands:
        *before, compute = op.casts(t)
        for k in before:
            if unify(source, k) is not k:  # otherwise k holds every value of the operand
                found.append((f"{name}_cast", k, argument))
                argument = f"{name}_cast"
        found.append((name, compute, argument))
    return tuple(found)


# ---- functions from operators ---------------------------------------------------------------------------------------


def product(op: BinaryOp, t: DataType, a: DataType, u: DataType, *, flip: bool) -> Function:
    """mul(a, u, out, inner): the product of a matrix entry and a vector entry.

    mxv (flip False): x = A(out, inner), y = u(inner, 0). vxm (flip True): x = u(0, inner), y = A(inner, out).
    """
    first, second = (("u", u), ("a", a)) if flip else (("a", a), ("u", u))
    let = () if op.reads_positions_only else lets(op, t, ("x", first[1], first[0]), ("y", second[1], second[0]))
    ends = {"ix": "0", "jy": "out"} if flip else {"ix": "out", "jy": "0"}
    expr = rename(op.expr, {**ends, "jx": "inner", "iy": "inner"})
    args = (("a", a), ("u", u), ("out", INT64), ("inner", INT64))
    return Function("mul", op.result_type(t), args, let, expr)


def product_of_entries(op: BinaryOp, t: DataType, a: DataType, b: DataType) -> Function:
    """mul(a, b, i, k, j): the product of A(i, k) and B(k, j)."""
    let = () if op.reads_positions_only else lets(op, t, ("x", a, "a"), ("y", b, "b"))
    expr = rename(op.expr, {"ix": "i", "jx": "k", "iy": "k", "jy": "j"})
    args = (("a", a), ("b", b), ("i", INT64), ("k", INT64), ("j", INT64))
    return Function("mul", op.result_type(t), args, let, expr)


class Doubling(Expression):
    """The sum of k equal values of any monoid, by repeated doubling with its `add`, which must be defined before."""

    def definition_python(self, types: Mapping[str, DataType]) -> str:
        return (
            "@njit(**FUNCTION)\ndef doubled(x, k):\n    total = x\n    k -= 1\n    while k > 0:\n        if k & 1:\n"
            "            total = add(total, x)\n        x = add(x, x)\n        k >>= 1\n    return total\n\n\n"
        )

    def definition_cpp(self, types: Mapping[str, DataType]) -> str:
        t = types["x"].c_type
        return (
            f"__device__ __forceinline__ {t} doubled({t} x, long long k) {{\n  {t} total = x;\n"
            "  for (k -= 1; k > 0; k >>= 1) {\n    if (k & 1) total = add(total, x);\n    x = add(x, x);\n  }\n"
            "  return total;\n}\n"
        )

    def gives(self, types: Mapping[str, DataType]) -> DataType:
        return types["x"]


def sum_of(monoid: Monoid, z: DataType) -> tuple[tuple[Function, ...], tuple[tuple[str, DataType, str], ...], int]:
    """add(x, y), repeated(x, k), the values IDENTITY and TERMINAL, and the constant HAS_TERMINAL."""
    add = Function("add", z, (("x", z), ("y", z)), (), monoid.binaryop.expr)
    let = (("kx", z, "k"),) if "kx" in (monoid.repeated or "") else ()
    text = Doubling("doubled(x, k)") if monoid.repeated is None else monoid.repeated
    repeated = Function("repeated", z, (("x", z), ("k", INT64)), let, text)
    terminal = monoid.terminal(z)
    values = (value("IDENTITY", z, monoid.identity(z)), value("TERMINAL", z, 0 if terminal is None else terminal))
    # A numeric sum seldom reaches its terminal value, and the test costs up to three times the addition (measured).
    worthwhile = terminal is not None and (z is BOOL or monoid.name == "any")
    return (add, repeated), values, (0 if not worthwhile else 2 if monoid.name == "any" else 1)


def is_neutral(monoid: Monoid, z: DataType) -> bool:
    """Whether identity + x is x for every x, NaN included (except the sign of zero), so that a sum may begin with
    it."""
    if z.kind == "c":  # complex 1 * x is not x if x is infinite
        return monoid.name == "plus"
    return monoid.name != "any" and not (z.kind == "f" and monoid.name in ("min", "max"))
