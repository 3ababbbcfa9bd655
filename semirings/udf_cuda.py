"""CUDA C++ translation of user-defined Python functions, from Numba's typed IR.

Supported: numbers, Booleans and tuples of these; + - * / // % ** << >> & | ^ ~, comparisons, `not`, `and`, `or`; local
variables; if, while, for ... in range(...), break, continue, conditional expressions; calls of other such functions and
of those listed in CALLS; numbers from modules and closures. Everything else raises UdfParseError with its line.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from .dtypes import BOOL, DataType, UdfParseError, lookup_dtype
from .expressions import include_guarded
from .udf_types import typed_form

# ---- Python, math and NumPy functions supported in user-defined GPU functions, with their CUDA C++ text.

# Text by operator; {0}, {1} are the operands, of type T: the result type, or for comparisons the operand type.
ARITHMETIC = {
    operator.add: "plus<T>({0}, {1})", operator.sub: "minus<T>({0}, {1})", operator.mul: "times<T>({0}, {1})",
    operator.truediv: "({0}) / ({1})", operator.and_: "(T)({0} & {1})", operator.or_: "(T)({0} | {1})",
    operator.xor: "(T)({0} ^ {1})",
    operator.lshift: "left_shift<T>({0}, {1})", operator.rshift: "right_shift<T>({0}, {1})",
    operator.pos: "{0}", operator.invert: "inverted<T>({0})",
}  # fmt: skip
DIVISION = {  # floating, signed, unsigned
    operator.floordiv: ("floored", "floor_quotient", "unsigned_floor_quotient"),
    operator.mod: ("real_modulus", "modulus", "unsigned_modulus"),
}
COMPARE = {
    operator.lt: ("<", "less_than({0}, {1})"),
    operator.gt: (">", "less_than({1}, {0})"),
    operator.le: ("<=", "!less_than({1}, {0})"),
    operator.ge: (">=", "!less_than({0}, {1})"),
    operator.eq: ("==", "!less_than({0}, {1}) && !less_than({1}, {0})"),
    operator.ne: ("!=", "less_than({0}, {1}) || less_than({1}, {0})"),
}

SAME = "acos acosh asin asinh atan atanh cos cosh erf erfc exp expm1 lgamma log log10 log1p log2 sin sinh sqrt tan tanh"
# Functions of math and numpy -> C++, computed in the widest floating-point type of arguments and result.
REAL = {("math", n): n for n in SAME.split()} | {
    ("numpy", n): n for n in SAME.split() if n[0] != "a" and n[:3] not in ("lga", "erf")
}
REAL |= {("math", n): n for n in "atan2 copysign fmod hypot".split()} | {("math", "gamma"): "tgamma"}
REAL |= {("math", n): n for n in "ceil floor trunc fabs pow isnan isinf isfinite".split()}
REAL |= {
    ("numpy", n): n for n in "cbrt ceil exp2 floor trunc rint fabs isnan isinf isfinite copysign fmod hypot".split()
}
REAL |= {("numpy", f"arc{n}"): f"a{n}" for n in "cos cosh sin sinh tan tanh tan2".split()}
# Functions of any type -> C++, computed in the result type.
ANY = {("numpy", n): n for n in ("maximum", "minimum")} | {
    ("builtins", "abs"): "absolute",
    ("numpy", "absolute"): "absolute",
    ("builtins", "max"): "first_max",
    ("builtins", "min"): "first_min",
    ("numpy", "fmax"): "greatest",
    ("numpy", "fmin"): "least",
    ("numpy", "negative"): "negative",
    ("numpy", "positive"): "",
}
CALLS = sorted(f"{module}.{name}" for module, name in (*REAL, *ANY))

# Numba's names of unsupported constructs -> Python's.
WORDS = {
    "build_list": "a list",
    "build_set": "a set",
    "build_map": "a dict",
    "setattr": "setting an attribute",
    "setitem": "setting an element",
    "staticsetitem": "setting an element",
    "staticraise": "raise",
}


# ---- Tuples: structs with members f0, f1, ...


@dataclass(frozen=True)
class Tuple:
    kinds: tuple[Kind, ...]

    @property
    def c_type(self) -> str:
        return f"Tuple_{_digest(self.members)}"

    @property
    def members(self) -> str:
        return " ".join(f"{kind.c_type} f{k};" for k, kind in enumerate(self.kinds))


Kind = DataType | Tuple


def _digest(text: str) -> str:
    import hashlib  # imported late: loads OpenSSL, 5 ms

    return hashlib.sha256(text.encode()).hexdigest()[:12]


def definitions(kind: Kind) -> str:
    """The struct definitions of a kind, include-guarded."""
    if isinstance(kind, DataType):
        return ""
    inner = "".join(map(definitions, kind.kinds))
    return inner + include_guarded(kind.c_type.upper(), f"struct {kind.c_type} {{ {kind.members} }};\n")


def converted(text: str, source: Kind, to: Kind) -> tuple[str, str]:
    """A value converted to another kind: helper functions, and the expression."""
    if source.c_type == to.c_type:
        return "", text
    if isinstance(source, DataType) and isinstance(to, DataType):
        return "", f"cast<{to.c_type}>({text})"
    assert isinstance(source, Tuple) and isinstance(to, Tuple) and len(source.kinds) == len(to.kinds)  # by Numba
    made = [converted(f"x.f{k}", a, b) for k, (a, b) in enumerate(zip(source.kinds, to.kinds))]
    name = f"convert_{_digest(f'{source.c_type} {to.c_type}')}"
    z, sets = to.c_type, " ".join(f"z.f{k} = {word};" for k, (_, word) in enumerate(made))
    body = f"__device__ __forceinline__ {z} {name}({source.c_type} x) {{ {z} z = {{}}; {sets} return z; }}\n"
    head = definitions(source) + definitions(to) + "".join(part for part, _ in made)
    return head + include_guarded(name.upper(), body), f"{name}({text})"


def scalar(t: Any) -> DataType | None:
    """The DataType of a Numba type if it is a number, else None."""
    try:
        return lookup_dtype(str(getattr(t, "literal_type", t)))
    except ValueError:
        return None


def kind_of(t: Any) -> Kind | None:
    """The kind of a Numba type, None if unsupported."""
    from numba import types

    if not isinstance(t, types.BaseTuple):
        return scalar(t)
    kinds = tuple(kind for x in t if (kind := kind_of(x)) is not None)
    return Tuple(kinds) if len(kinds) == len(t) else None


def range_type(t: Any) -> DataType | None:
    """INT64 for Numba's range_state_int64 and range_iter_int64."""
    name = str(t)
    return scalar(name.rsplit("_", 1)[1]) if name.startswith(("range_state_", "range_iter_")) else None


# ---- Translation.


def definition(name: str, function: FunctionType, arguments: tuple[DataType, ...]) -> str:
    """`name(arguments)` in CUDA C++ with the library that it needs, include-guarded."""
    library = include_guarded("UDF_CUH", (Path(__file__).parent / "udf.cuh").read_text())
    return f"{library}{_Translation(name, function, arguments).text()}"


class _Translation:
    def __init__(self, name: str, function: FunctionType, arguments: tuple[DataType, ...]) -> None:
        self.name, self.function, self.arguments = name, function, arguments
        form = typed_form(function, arguments)
        for t in arguments:
            if t.kind == "c":
                self.refuse(f"an argument of type {t}", form.func_ir.loc)
        self.ir, self.types, self.calls = form.func_ir, form.typemap, form.calltypes
        self.result = kind_of(form.return_type)
        self.objects: dict[str, Any] = {}  # variables that hold functions, modules, types: compile-time constants
        self.numbers = {v: f"v{k}" for k, v in enumerate(sorted(self.types))}
        self.helpers: list[str] = []
        self.called_by_name: dict[str, list[Any]] = {}  # other Python functions called
        self.targets = {k for b in self.ir.blocks.values() for k in b.terminator.get_targets()}
        self.pairs: dict[str, str] = {}  # result of iternext -> its range

    def need(self, t: Any, what: str, loc: Any) -> DataType:
        found = scalar(t)
        return found if found is not None and found.kind != "c" else self.refuse(f"{what} of type {t}", loc)

    def kind(self, variable: str, loc: Any) -> Kind:
        """The kind of a variable that has a value at run time."""
        found = None if variable in self.objects else kind_of(self.types[variable])
        if found is None or (isinstance(found, DataType) and found.kind == "c"):
            return self.refuse(f"a value of type {self.types[variable]}", loc)
        return found

    def refuse(self, what: str, loc: Any) -> Any:
        line = loc.line if loc is not None else self.function.__code__.co_firstlineno
        raise UdfParseError(
            f"{self.function.__name__}, line {line}: {what} is not supported on a GPU; it runs on the CPU only"
        )

    def text(self) -> str:
        body = [line for label in sorted(self.ir.blocks) for line in self.block(label)]
        variables, structs = list[str](), list[str]()
        for v, t in sorted(self.types.items()):
            kind = kind_of(t)
            if kind is not None and not v.startswith("arg."):
                zero = f"({kind.c_type})0" if isinstance(kind, DataType) else "{}"
                variables.append(f"  {kind.c_type} {self.numbers[v]} = {zero}; (void){self.numbers[v]};")
                structs.append(definitions(kind))
            elif (found := range_type(t)) is not None:
                variables.append(f"  Range<{found.c_type}> {self.numbers[v]} = {{0, 0, 0}};")
        assert self.result is not None  # a return statement has refused others
        args = ", ".join(f"{t.c_type} a{k}" for k, t in enumerate(self.arguments))
        head = f"__device__ __forceinline__ {self.result.c_type} {self.name}({args}) {{"
        guard = "_".join((self.name, *(t.name for t in self.arguments)))
        text = include_guarded(guard, "\n".join([head, *variables, *body, "}", ""]))
        return "".join(dict.fromkeys((*structs, *self.helpers, text)))

    # ---- statements ----

    def block(self, label: int) -> list[str]:
        from numba.core import ir

        lines = [f"L{label}:;"] if label in self.targets else []
        for statement in self.ir.blocks[label].body:
            if isinstance(statement, ir.Assign):
                lines += self.assign(statement)
            elif isinstance(statement, ir.Jump):
                lines.append(f"  {self.jump(label, statement.target)}")
            elif isinstance(statement, ir.Branch):
                yes, no = self.jump(label, statement.truebr), self.jump(label, statement.falsebr)
                lines.append(f"  if ({self.use(statement.cond, BOOL)}) {yes} else {no}")
            elif isinstance(statement, ir.Return):
                variable = statement.value.name
                kind = self.kind(variable, statement.loc)
                result = self.result or self.refuse("this type of result", statement.loc)
                lines.append(f"  return {self.as_kind(self.numbers[variable], kind, result)};")
            elif not isinstance(statement, ir.Del):
                word = type(statement).__name__.lower()
                self.refuse(WORDS.get(word, word), statement.loc)
        return lines

    def jump(self, source: int, target: int) -> str:
        """Go to a block after setting its phi variables for the edge from `source`, simultaneously."""
        from numba.core import ir

        first, then = [], []
        for statement in self.ir.blocks[target].find_insts(ir.Assign):
            phi = statement.value
            if not (isinstance(phi, ir.Expr) and phi.op == "phi"):
                continue
            for value, block in zip(phi.incoming_values, phi.incoming_blocks):
                if block != source or value is ir.UNDEFINED:
                    continue
                k, kind = self.numbers[statement.target.name], kind_of(self.types[statement.target.name])
                if kind is not None:
                    word = self.as_kind(self.numbers[value.name], self.kind(value.name, statement.loc), kind)
                    first.append(f"const {kind.c_type} n{k} = {word};")
                    then.append(f"{k} = n{k};")
        return f"{{ {' '.join([*first, *then, f'goto L{target};'])} }}"

    def assign(self, statement: Any) -> list[str]:
        from numba.core import ir

        value, target = statement.value, statement.target.name
        if isinstance(value, (ir.Global, ir.FreeVar, ir.Const)):
            return self.constant(target, value.value, statement.loc)
        if isinstance(value, ir.Var):
            if value.name in self.objects:
                return self.constant(target, self.objects[value.name], statement.loc)
            return self.copied(value, target, statement.loc)
        if isinstance(value, ir.Arg):
            return self.keep(target, self.arguments[value.index], f"a{value.index}", statement.loc)
        return self.expression(value, target, statement.loc)

    def constant(self, target: str, value: Any, loc: Any) -> list[str]:
        """target = value, which a number has at run time, too."""
        if isinstance(value, (bool, int, float, np.generic)):
            return self.set(target, _constant(value, self.need(self.types[target], "a constant", loc)))
        self.objects[target] = value
        return []

    def set(self, target: str, text: str) -> list[str]:
        return [f"  {self.numbers[target]} = {text};"]

    def keep(self, target: str, kind: Kind, text: str, loc: Any) -> list[str]:
        """target = text, a value of that kind."""
        return self.set(target, self.as_kind(text, kind, self.kind(target, loc)))

    def as_kind(self, text: str, source: Kind, to: Kind) -> str:
        head, found = converted(text, source, to)
        self.helpers.append(head)
        return found

    def copied(self, value: Any, target: str, loc: Any) -> list[str]:
        if range_type(self.types[target]) is not None:
            return self.set(target, self.numbers[value.name])
        return self.keep(target, self.kind(value.name, loc), self.numbers[value.name], loc)

    def use(self, var: Any, t: DataType) -> str:
        """A variable, cast to a type."""
        source, word = self.need(self.types[var.name], "a value", var.loc), self.numbers[var.name]
        return word if source is t else f"cast<{t.c_type}>({word})"

    # ---- expressions ----

    def expression(self, expr: Any, target: str, loc: Any) -> list[str]:
        op = expr.op
        if op == "phi":  # set by the jump into the block
            return []
        if op in ("cast", "exhaust_iter"):
            return self.copied(expr.value, target, loc)
        if op == "getattr" and expr.value.name in self.objects:
            return self.constant(target, getattr(self.objects[expr.value.name], expr.attr), loc)
        if op == "getattr":
            return self.refuse(f"the attribute {expr.attr}", loc)
        if op in ("getitem", "static_getitem"):
            return self.item(expr, target, loc)
        if op == "build_tuple":
            made = Tuple(tuple(self.kind(v.name, loc) for v in expr.items))
            words = ", ".join(self.numbers[v.name] for v in expr.items)
            return self.keep(target, made, f"{made.c_type}{{{words}}}", loc)
        if op in ("binop", "inplace_binop", "unary"):
            fn = expr.immutable_fn if op == "inplace_binop" else expr.fn
            operands = [expr.value] if op == "unary" else [expr.lhs, expr.rhs]
            return self.set(target, self.operation(fn, operands, expr, target, loc))
        if op == "call":
            return self.call(expr, target, loc)
        if op == "getiter" and range_type(self.types[target]) is not None:
            return self.set(target, self.numbers[expr.value.name])
        if op == "iternext":
            self.pairs[target] = self.numbers[expr.value.name]
            return []
        if op == "pair_first":
            return []  # set by the following pair_second
        if op == "pair_second":
            value = next(
                self.numbers[s.target.name]
                for b in self.ir.blocks.values()
                for s in b.body
                if getattr(getattr(s, "value", None), "op", "") == "pair_first"
                and s.value.value.name == expr.value.name
            )
            return self.set(target, f"advance({self.pairs[expr.value.name]}, {value})")
        return self.refuse(WORDS.get(op, f"`{op}`"), loc)

    def item(self, expr: Any, target: str, loc: Any) -> list[str]:
        """value[index] of a tuple."""
        kind, index = self.kind(expr.value.name, loc), expr.index
        literal = getattr(self.types[index.name], "literal_value", None) if hasattr(index, "name") else index
        if not isinstance(kind, Tuple) or not isinstance(literal, int):
            return self.refuse("this index", loc)
        k = literal % len(kind.kinds)
        return self.keep(target, kind.kinds[k], f"{self.numbers[expr.value.name]}.f{k}", loc)

    def operation(self, fn: Any, operands: list[Any], expr: Any, target: str, loc: Any) -> str:
        result = self.need(self.types[target], "a value", loc)
        takes = [self.need(t, "an operand", loc) for t in self.calls[expr].args]
        if fn is operator.not_:
            return f"!{self.use(operands[0], BOOL)}"
        if fn in COMPARE:
            symbol, mixed = COMPARE[fn]
            x, y = (self.use(v, t) for v, t in zip(operands, takes))
            unlike = takes[0] is not takes[1] and {t.kind for t in takes} == {"i", "u"}
            return mixed.format(x, y) if unlike else f"{x} {symbol} {y}"
        if fn is operator.pow:
            if result.kind == "f" and takes[1].kind == "f":
                return f"real_power<{result.c_type}>({', '.join(self.use(v, result) for v in operands)})"
            exponent = self.use(operands[1], lookup_dtype("INT64"))
            return f"integer_power<{result.c_type}>({self.use(operands[0], result)}, {exponent})"
        if fn is operator.neg:  # Numba negates before widening
            t = result if takes[0] is BOOL else takes[0]
            return f"cast<{result.c_type}>(negative<{t.c_type}>({self.use(operands[0], t)}))"
        words = [self.use(v, result) for v in operands]
        if fn in DIVISION:
            return f"{DIVISION[fn]['fiu'.index(result.kind)]}<{result.c_type}>({', '.join(words)})"
        if fn in ARITHMETIC:
            return re.sub(r"(?<=[<(])T(?=[>)])", result.c_type, ARITHMETIC[fn]).format(*words)
        return self.refuse(f"the operator {fn.__name__}", loc)

    # ---- calls ----

    def call(self, expr: Any, target: str, loc: Any) -> list[str]:
        function: Any = self.objects.get(expr.func.name)
        if function is range:
            t = range_type(self.types[target]) or self.refuse("this range", loc)
            words = [self.use(v, t) for v in expr.args]
            words = ["0", *words] if len(words) == 1 else words
            return self.set(target, f"make_range<{t.c_type}>({', '.join([*words, '1'][:3])})")
        if hasattr(function, "py_func"):
            return self.helper(function.py_func, expr, target, loc)
        return self.set(target, self.called(function, expr, self.need(self.types[target], "a value", loc), loc))

    def helper(self, function: Any, expr: Any, target: str, loc: Any) -> list[str]:
        """The call of another Python function of the user."""
        if expr.kws or expr.vararg is not None:
            self.refuse(f"a call of {function.__name__} with keywords", loc)
        word = re.sub(r"\W", "_", function.__name__)
        same = self.called_by_name.setdefault(word, [])
        if function not in same:
            same.append(function)
        name = f"{self.name}_{word}" + (f"_{same.index(function)}" if function is not same[0] else "")
        takes = tuple(self.need(t, "an argument", loc) for t in self.calls[expr].args)
        words = ", ".join(self.use(v, t) for v, t in zip(expr.args, takes))
        made = _Translation(name, function, takes)
        self.helpers.append(made.text())
        assert made.result is not None  # checked by text()
        return self.keep(target, made.result, f"{name}({words})", loc)

    def called(self, function: Any, expr: Any, result: DataType, loc: Any) -> str:
        key = (getattr(function, "__module__", None) or "numpy", getattr(function, "__name__", ""))
        args = list(expr.args)
        if expr.kws or expr.vararg is not None:
            return self.refuse(f"a call of {key[1]} with keywords", loc)
        types = [scalar(self.types[v.name]) for v in args]
        if isinstance(function, type) or function in (bool, int, float):
            return self.use(args[0], result) if len(args) == 1 else self.refuse(f"this call of {key[1]}", loc)
        if key == ("builtins", "round") and len(args) == 1:
            return f"cast<{result.c_type}>(rint({self.use(args[0], _float_of(types, result))}))"
        if isinstance(function, np.ufunc):
            key = ("numpy", key[1])
        if key in ANY:
            words, name = [self.use(v, result) for v in args], f"{ANY[key]}<{result.c_type}>" if ANY[key] else ""
            return reduce(lambda x, y: f"{name}({x}, {y})", words) if len(words) > 1 else f"{name}({words[0]})"
        if key in REAL:
            if all(t is not None and t.kind != "f" for t in types) and REAL[key] in ("ceil", "floor", "trunc"):
                return self.use(args[0], result)
            if REAL[key] == "fmod" and result.kind != "f":
                return self.refuse("fmod of integers", loc)
            t = _float_of(types, result)
            return f"cast<{result.c_type}>({REAL[key]}({', '.join(self.use(v, t) for v in args)}))"
        return self.refuse(f"the call of {key[0]}.{key[1]}", loc)


def _float_of(types: list[DataType | None], result: DataType) -> DataType:
    """The floating-point type in which a real function is computed."""
    floats = [t for t in (*types, result) if t is not None and t.kind == "f"]
    whole = [t for t in types if t is not None and t.kind != "f"]
    narrow = floats and all(t.nbytes == 4 for t in floats) and (not whole or result.nbytes == 4)
    return lookup_dtype("FP32" if narrow else "FP64")


def _constant(value: Any, t: DataType) -> str:
    """A number in C++, exact to the bit."""
    bits = int(np.array(value).astype(t.np_type).reshape(1).view(f"uint{8 * t.nbytes}")[0])
    if t.kind == "f":
        return f"__int_as_float((int){bits}u)" if t.nbytes == 4 else f"__longlong_as_double((long long){bits}ull)"
    return f"(({t.c_type}){bits}ull)"
