"""CUDA C++ of a Python function, from Numba's typed intermediate form: the same types and the same steps as on the CPU.

What can be translated: numbers and Booleans; + - * / // % ** << >> & | ^ ~, comparisons, `not`, `and`, `or`; local
variables; if, while, for ... in range(...), break, continue, conditional expressions; calls of other such functions
and of those that udf_tables.py lists; numbers from modules and closures. All else
raises UdfParseError with its line.
"""

from __future__ import annotations

import operator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from .dtypes import BOOL, DataType, lookup_dtype
from .errors import UdfParseError
from .expressions import once
from .udf_tables import ANY, ARITHMETIC, COMPARE, DIVISION, REAL, WORDS
from .udf_types import typed_form


def definition(name: str, function: FunctionType, arguments: tuple[DataType, ...]) -> str:
    """`name(arguments)` in CUDA C++, guarded so that a text may hold it twice, after what it stands on."""
    library = (Path(__file__).parent / "udf.cuh").read_text()
    return f"{once('UDF_CUH', library)}{_Translation(name, function, arguments).text()}"


def _scalar(t: Any) -> DataType | None:
    try:
        return lookup_dtype(str(getattr(t, "literal_type", t)))
    except ValueError:
        return None


class _Translation:
    def __init__(self, name: str, function: FunctionType, arguments: tuple[DataType, ...]) -> None:
        self.name, self.function, self.arguments = name, function, arguments
        form = typed_form(function, arguments)
        for t in arguments:
            if t.kind == "c":
                self.refuse(f"an argument of type {t}", form.func_ir.loc)
        self.ir, self.types, self.calls = form.func_ir, form.typemap, form.calltypes
        self.result = self.need(form.return_type, "this result", self.ir.loc)
        self.objects: dict[str, Any] = {}  # variables that hold functions, modules, types: known now
        self.numbers = {v: f"v{k}" for k, v in enumerate(sorted(self.types))}
        self.helpers: list[str] = []
        self.targets = {k for b in self.ir.blocks.values() for k in b.terminator.get_targets()}
        self.pairs: dict[str, str] = {}  # what iternext gave -> its range

    def need(self, t: Any, what: str, loc: Any) -> DataType:
        found = _scalar(t)
        return found if found is not None and found.kind != "c" else self.refuse(f"{what} of type {t}", loc)

    def refuse(self, what: str, loc: Any) -> Any:
        line = loc.line if loc is not None else self.function.__code__.co_firstlineno
        raise UdfParseError(
            f"{self.function.__name__}, line {line}: {what} has no form for a GPU; it runs on the CPU only"
        )

    def text(self) -> str:
        body = [line for label in sorted(self.ir.blocks) for line in self.block(label)]
        variables = []
        for v, t in sorted(self.types.items()):
            kind = _scalar(t)
            if kind is not None and not v.startswith("arg."):
                variables.append(f"  {kind.c_type} {self.numbers[v]} = ({kind.c_type})0; (void){self.numbers[v]};")
            elif (found := _range_type(t)) is not None:
                variables.append(f"  Range<{found.c_type}> {self.numbers[v]} = {{0, 0, 0}};")
        args = ", ".join(f"{t.c_type} a{k}" for k, t in enumerate(self.arguments))
        head = f"__device__ __forceinline__ {self.result.c_type} {self.name}({args}) {{"
        guard = "_".join((self.name, *(t.name for t in self.arguments)))
        return "".join(self.helpers) + once(guard, "\n".join([head, *variables, *body, "}", ""]))

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
                lines.append(f"  return {self.use(statement.value, self.result)};")
            elif not isinstance(statement, ir.Del):
                word = type(statement).__name__.lower()
                self.refuse(WORDS.get(word, word), statement.loc)
        return lines

    def jump(self, source: int, target: int) -> str:
        """Go to a block, after what its variables hold when it is entered from `source`; all at the same time."""
        from numba.core import ir

        first, then = [], []
        for statement in self.ir.blocks[target].find_insts(ir.Assign):
            phi = statement.value
            if not (isinstance(phi, ir.Expr) and phi.op == "phi"):
                continue
            kind = _scalar(self.types[statement.target.name])
            for value, block in zip(phi.incoming_values, phi.incoming_blocks):
                if block == source and value is not ir.UNDEFINED and kind is not None:
                    k = self.numbers[statement.target.name]
                    first.append(f"const {kind.c_type} n{k} = {self.use(value, kind)};")
                    then.append(f"{k} = n{k};")
        return f"{{ {' '.join([*first, *then, f'goto L{target};'])} }}"

    def assign(self, statement: Any) -> list[str]:
        from numba.core import ir

        value, target = statement.value, statement.target.name
        if isinstance(value, (ir.Global, ir.FreeVar, ir.Const)):
            number = value.value
            if isinstance(number, (bool, int, float, np.generic)):
                return self.set(target, _constant(number, self.need(self.types[target], "a constant", statement.loc)))
            self.objects[target] = number
            return []
        if isinstance(value, ir.Var):
            if value.name in self.objects:
                self.objects[target] = self.objects[value.name]
                return []
            return self.set(target, self.copy(value, target, statement.loc))
        if isinstance(value, ir.Arg):
            return self.set(target, f"a{value.index}")
        return self.expression(value, target, statement.loc)

    def set(self, target: str, text: str) -> list[str]:
        return [f"  {self.numbers[target]} = {text};"]

    def copy(self, value: Any, target: str, loc: Any) -> str:
        if _range_type(self.types[target]) is not None:
            return self.numbers[value.name]
        return self.use(value, self.need(self.types[target], "a value", loc))

    def use(self, var: Any, t: DataType) -> str:
        """A variable, cast to a type."""
        source = self.need(self.types[var.name], "a value", var.loc)
        return self.numbers[var.name] if source is t else f"cast<{t.c_type}>({self.numbers[var.name]})"

    # ---- expressions ----

    def expression(self, expr: Any, target: str, loc: Any) -> list[str]:
        op = expr.op
        if op == "phi":  # set where the block is entered
            return []
        if op == "cast":
            return self.set(target, self.copy(expr.value, target, loc))
        if op == "getattr" and expr.value.name in self.objects:
            found = getattr(self.objects[expr.value.name], expr.attr)
            if isinstance(found, (bool, int, float)):
                return self.set(target, _constant(found, self.need(self.types[target], "a constant", loc)))
            self.objects[target] = found
            return []
        if op in ("binop", "inplace_binop"):
            fn = expr.immutable_fn if op == "inplace_binop" else expr.fn
            return self.set(target, self.operation(fn, [expr.lhs, expr.rhs], expr, target, loc))
        if op == "unary":
            return self.set(target, self.operation(expr.fn, [expr.value], expr, target, loc))
        if op == "call":
            return self.call(expr, target, loc)
        if op == "getiter" and _range_type(self.types[target]) is not None:
            return self.set(target, self.numbers[expr.value.name])
        if op == "iternext":
            self.pairs[target] = self.numbers[expr.value.name]
            return []
        if op == "pair_first":
            return []  # set by pair_second, which follows it
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
        if fn is operator.neg:  # Numba negates first and widens then
            t = result if takes[0] is BOOL else takes[0]
            return f"cast<{result.c_type}>(negative<{t.c_type}>({self.use(operands[0], t)}))"
        words = [self.use(v, result) for v in operands]
        if fn in DIVISION:
            return f"{DIVISION[fn]['fiu'.index(result.kind)]}<{result.c_type}>({', '.join(words)})"
        if fn in ARITHMETIC:
            return (
                ARITHMETIC[fn].replace("<T>", f"<{result.c_type}>").replace("(T)", f"({result.c_type})").format(*words)
            )
        return self.refuse(f"the operator {fn.__name__}", loc)

    def call(self, expr: Any, target: str, loc: Any) -> list[str]:
        function = self.objects.get(expr.func.name)
        if function is range:
            words = [self.use(v, _range_of(self, target, loc)) for v in expr.args]
            t = _range_of(self, target, loc).c_type
            words = ["0", *words] if len(words) == 1 else words
            first, stop, step = words if len(words) == 3 else (*words, "1")
            return self.set(target, f"make_range<{t}>({first}, {stop}, {step})")
        result = self.need(self.types[target], "a value", loc)
        return self.set(target, self.called(function, expr, result, loc))

    def called(self, function: Any, expr: Any, result: DataType, loc: Any) -> str:
        key = (getattr(function, "__module__", None) or "numpy", getattr(function, "__name__", ""))
        args = list(expr.args)
        if expr.kws or expr.vararg is not None:
            return self.refuse(f"a call of {key[1]} with keywords", loc)
        types = [_scalar(self.types[v.name]) for v in args]
        if hasattr(function, "py_func"):
            takes = tuple(self.need(t, "an argument", loc) for t in self.calls[expr].args)
            name = f"{self.name}_{function.py_func.__name__}"
            self.helpers.append(_Translation(name, function.py_func, takes).text())
            return f"cast<{result.c_type}>({name}({', '.join(self.use(v, t) for v, t in zip(args, takes))}))"
        if isinstance(function, type) or function in (bool, int, float):
            return self.use(args[0], result) if len(args) == 1 else self.refuse(f"this call of {key[1]}", loc)
        if key == ("builtins", "round") and len(args) == 1:
            return f"cast<{result.c_type}>(rint({self.use(args[0], _float_of(types, result))}))"
        if isinstance(function, np.ufunc):
            key = ("numpy", key[1])
        if key in ANY:
            words = [self.use(v, result) for v in args]
            while len(words) > 1 and ANY[key]:
                words[:2] = [f"{ANY[key]}<{result.c_type}>({words[0]}, {words[1]})"]
                if len(words) == 1:
                    return words[0]
            return f"{ANY[key]}{f'<{result.c_type}>' if ANY[key] else ''}({words[0]})"
        if key in REAL:
            if all(t is not None and t.kind != "f" for t in types) and REAL[key] in ("ceil", "floor", "trunc"):
                return self.use(args[0], result)
            if REAL[key] == "fmod" and result.kind != "f":
                return self.refuse("fmod of integers", loc)
            t = _float_of(types, result)
            return f"cast<{result.c_type}>({REAL[key]}({', '.join(self.use(v, t) for v in args)}))"
        return self.refuse(f"the call of {key[0]}.{key[1]}", loc)


def _float_of(types: list[DataType | None], result: DataType) -> DataType:
    """The floating-point type in which a function of real numbers is computed."""
    floats = [t for t in (*types, result) if t is not None and t.kind == "f"]
    whole = [t for t in types if t is not None and t.kind != "f"]
    narrow = floats and all(t.nbytes == 4 for t in floats) and (not whole or result.nbytes == 4)
    return lookup_dtype("FP32" if narrow else "FP64")


def _range_type(t: Any) -> DataType | None:
    """INT64 for Numba's range_state_int64 and range_iter_int64."""
    name = str(t)
    return _scalar(name.rsplit("_", 1)[1]) if name.startswith(("range_state_", "range_iter_")) else None


def _range_of(self: _Translation, target: str, loc: Any) -> DataType:
    found = _range_type(self.types[target])
    return found if found is not None else self.refuse("this range", loc)


def _constant(value: Any, t: DataType) -> str:
    """A number in C++, exact to the bit."""
    bits = int(np.array(value).astype(t.np_type).reshape(1).view(f"uint{8 * t.nbytes}")[0])
    if t.kind == "f":
        return f"__int_as_float((int){bits}u)" if t.nbytes == 4 else f"__longlong_as_double((long long){bits}ull)"
    return f"(({t.c_type}){bits}ull)"
