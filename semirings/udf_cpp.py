"""CUDA C++ translation of user-defined Python functions, from Numba's typed IR.

Supported: numbers and Booleans, records by field, tuples, sub-arrays by element or as a whole (udf_aggregates.py); + -
* / // % ** << >> & | ^ ~, comparisons, `not`, `and`, `or`; local variables; if, while, for ... in range(...), break,
continue, conditional expressions; calls of other such functions and of those listed in udf_tables.py; numbers from
modules and closures. Everything else raises UdfParseError with its line.
"""

from __future__ import annotations

import operator
import re
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from .dtypes import BOOL, DataType, lookup_dtype
from .errors import UdfParseError
from .expressions import once
from .udf_aggregates import scalar
from .udf_calls import Calls, range_type
from .udf_tables import ARITHMETIC, COMPARE, DIVISION, WORDS
from .udf_types import typed_form
from .udf_values import Kind


def definition(name: str, function: FunctionType, arguments: tuple[DataType, ...]) -> str:
    """`name(arguments)` in CUDA C++ with the library that it needs, include-guarded."""
    return translated(name, function, arguments)[0]


def translated(name: str, function: FunctionType, arguments: tuple[DataType, ...]) -> tuple[str, Kind]:
    """The same, and the result kind."""
    made = _Translation(name, function, arguments)
    text = made.text()
    return f"{library()}{text}", made.result


def library() -> str:
    """The CUDA C++ helpers that translated functions use."""
    return once("UDF_CUH", (Path(__file__).parent / "udf.cuh").read_text())


class _Translation(Calls):
    def __init__(self, name: str, function: FunctionType, arguments: tuple[DataType, ...]) -> None:
        super().__init__(arguments)
        self.name, self.function, self.arguments = name, function, arguments
        form = typed_form(function, arguments)
        for t in arguments:
            if t.kind == "c":
                self.refuse(f"an argument of type {t}", form.func_ir.loc)
        self.ir, self.types, self.calls = form.func_ir, form.typemap, form.calltypes
        self.result: Any = scalar(form.return_type) or self.of_type(form.return_type)  # else the first return value's
        self.objects: dict[str, Any] = {}  # variables that hold functions, modules, types: compile-time constants
        self.numbers = {v: f"v{k}" for k, v in enumerate(sorted(self.types))}
        self.helpers: list[str] = []
        self.called_by_name: dict[str, list[Any]] = {}  # other Python functions called
        self.targets = {k for b in self.ir.blocks.values() for k in b.terminator.get_targets()}
        self.pairs: dict[str, str] = {}  # result of iternext -> its range
        self.find_written()

    def need(self, t: Any, what: str, loc: Any) -> DataType:
        found = scalar(t.dtype if self.each and hasattr(t, "ndim") else t)
        return found if found is not None and found.kind != "c" else self.refuse(f"{what} of type {t}", loc)

    def refuse(self, what: str, loc: Any) -> Any:
        line = loc.line if loc is not None else self.function.__code__.co_firstlineno
        raise UdfParseError(
            f"{self.function.__name__}, line {line}: {what} is not supported on a GPU; it runs on the CPU only"
        )

    def text(self) -> str:
        body = [line for label in sorted(self.ir.blocks) for line in self.block(label)]
        variables = []
        for v, t in sorted(self.types.items()):
            kind = scalar(t)
            if kind is not None and not v.startswith("arg."):
                variables.append(f"  {kind.c_type} {self.numbers[v]} = ({kind.c_type})0; (void){self.numbers[v]};")
            elif (found := range_type(t)) is not None:
                variables.append(f"  Range<{found.c_type}> {self.numbers[v]} = {{0, 0, 0}};")
        structs, more = self.declared()
        variables += more
        args = ", ".join(f"{t.c_type} a{k}" for k, t in enumerate(self.takes))
        head = f"__device__ __forceinline__ {self.result.c_type} {self.name}({args}) {{"
        guard = "_".join((self.name, *(getattr(t, "name", re.sub(r"\W+", "_", t.c_type)) for t in self.takes)))
        return (
            structs + "".join(dict.fromkeys(self.helpers)) + once(guard, "\n".join([head, *variables, *body, "}", ""]))
        )

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
                lines.append(f"  return {self.returned(statement)};")
            elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                lines += self.set_item(statement)
            elif not isinstance(statement, ir.Del):
                word = type(statement).__name__.lower()
                self.refuse(WORDS.get(word, word), statement.loc)
        return lines

    def returned(self, statement: Any) -> str:
        kind = self.kind(statement.value, statement.loc)
        self.result = self.result or kind
        return self.as_kind(self.numbers[statement.value.name], kind, self.result)

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
                k, number = self.numbers[statement.target.name], scalar(self.types[statement.target.name])
                if number is not None:
                    c_type, word = number.c_type, self.use(value, number)
                elif self.is_aggregate(value.name):
                    of_value = self.kind(value, statement.loc)
                    kind = self.known.setdefault(statement.target.name, of_value)
                    c_type, word = kind.c_type, self.as_kind(self.numbers[value.name], of_value, kind)
                else:
                    continue
                first.append(f"const {c_type} n{k} = {word};")
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
            return self.copied(value, target, statement.loc)
        if isinstance(value, ir.Arg):
            return self.keep_any(target, self.takes[value.index], f"a{value.index}")
        return self.expression(value, target, statement.loc)

    def set(self, target: str, text: str) -> list[str]:
        return [f"  {self.numbers[target]} = {text};"]

    def copied(self, value: Any, target: str, loc: Any) -> list[str]:
        if range_type(self.types[target]) is not None:
            return self.set(target, self.numbers[value.name])
        if self.is_aggregate(value.name):
            return self.keep(target, self.kind(value, loc), self.numbers[value.name])
        return self.set(target, self.use(value, self.need(self.types[target], "a value", loc)))

    def use(self, var: Any, t: DataType) -> str:
        """A variable, cast to a type."""
        source, word = self.need(self.types[var.name], "a value", var.loc), self.numbers[var.name]
        if self.each and self.is_aggregate(var.name):
            word += f".at[{self.each}]"
        return word if source is t else f"cast<{t.c_type}>({word})"

    # ---- expressions ----

    def expression(self, expr: Any, target: str, loc: Any) -> list[str]:
        op = expr.op
        if op == "phi":  # set by the jump into the block
            return []
        if op in ("cast", "exhaust_iter"):
            return self.copied(expr.value, target, loc)
        if op == "getattr" and expr.value.name in self.objects:
            found = getattr(self.objects[expr.value.name], expr.attr)
            if isinstance(found, (bool, int, float)):
                return self.set(target, _constant(found, self.need(self.types[target], "a constant", loc)))
            self.objects[target] = found
            return []
        if op == "getattr":
            return self.attribute(expr, target, loc)
        if op in ("getitem", "static_getitem"):
            return self.item(expr, target, loc)
        if op == "build_tuple":
            return self.tuple_of(expr, target, loc)
        if op in ("binop", "inplace_binop", "unary"):
            fn = expr.immutable_fn if op == "inplace_binop" else expr.fn
            operands = [expr.value] if op == "unary" else [expr.lhs, expr.rhs]
            write = lambda: self.operation(fn, operands, expr, target, loc)
            if self.is_aggregate(target):
                return self.elementwise(target, operands, loc, write)
            return self.set(target, write())
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
            return (
                ARITHMETIC[fn].replace("<T>", f"<{result.c_type}>").replace("(T)", f"({result.c_type})").format(*words)
            )
        return self.refuse(f"the operator {fn.__name__}", loc)


def _constant(value: Any, t: DataType) -> str:
    """A number in C++, exact to the bit."""
    bits = int(np.array(value).astype(t.np_type).reshape(1).view(f"uint{8 * t.nbytes}")[0])
    if t.kind == "f":
        return f"__int_as_float((int){bits}u)" if t.nbytes == 4 else f"__longlong_as_double((long long){bits}ull)"
    return f"(({t.c_type}){bits}ull)"
