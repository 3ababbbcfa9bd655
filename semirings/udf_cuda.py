"""CUDA C++ translation of user-defined Python functions, from Numba's typed IR.

Supported: numbers and Booleans, records by field, tuples, sub-arrays by element or as a whole; + - * / // % ** << >> &
| ^ ~, comparisons, `not`, `and`, `or`; local variables; if, while, for ... in range(...), break, continue, conditional
expressions; calls of other such functions and of those listed in CALLS; numbers from modules and closures. Everything
else raises UdfParseError with its line.
"""

from __future__ import annotations

import math
import operator
import re
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from .dtypes import BOOL, INT64, DataType, lookup_dtype
from .errors import UdfParseError
from .expressions import include_guarded
from .udf_types import typed_form
from .udf_values import Fields, Fixed, Kind, converted, definitions, kind_of, of_numpy

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
    "setattr": "setting a field",
    "staticraise": "raise",
}


# ---- CUDA C++ translation of record fields, tuples and sub-arrays.

FRESH = {"empty_like": None, "zeros_like": "0", "ones_like": "1", "empty": None, "zeros": "0", "ones": "1"}


def scalar(t: Any) -> DataType | None:
    """The DataType of a Numba type if it is a number, else None."""
    try:
        return lookup_dtype(str(getattr(t, "literal_type", t)))
    except ValueError:
        return None


class Aggregates:
    """The part of a translation that handles records, tuples and sub-arrays. `known`: kinds of variables that are not
    numbers; `each`: the element index while an element-wise statement is written.
    """

    types: Any
    numbers: dict[str, str]
    objects: dict[str, Any]
    helpers: list[str]
    ir: Any
    refuse: Any
    set: Any
    use: Any

    def __init__(self, arguments: tuple[DataType, ...]) -> None:
        self.takes = [kind_of(t) for t in arguments]
        self.known: dict[str, Kind] = {}
        self.fresh: set[str] = set()  # arrays created in the function
        self.each = ""

    # ---- kinds ----

    def kind(self, var: Any, loc: Any) -> Kind:
        """The kind of a variable that already has a value."""
        t = self.types[var.name]
        found: Any = scalar(t) or self.known.get(var.name) or self.of_type(t)
        if found is None or (isinstance(found, DataType) and found.kind == "c"):
            self.refuse(f"a value of type {t}", loc)
        return found

    def of_type(self, t: Any) -> Kind | None:
        """The kind of a Numba type, as far as known: its arrays have no shape."""
        from numba import types
        from numba.np.numpy_support import as_dtype

        if isinstance(t, (types.Record, types.NestedArray)):
            return of_numpy(as_dtype(t))
        if isinstance(t, types.BaseTuple):
            inner: list[Any] = [scalar(x) or self.of_type(x) for x in t]
            return None if any(x is None for x in inner) else Fields(tuple(inner))
        return scalar(t)

    def is_aggregate(self, name: str) -> bool:
        from numba import types

        return isinstance(self.types[name], (types.Record, types.Array, types.BaseTuple))

    def keep(self, target: str, kind: Kind, text: str) -> list[str]:
        """target = text, of that kind."""
        before = self.known.setdefault(target, kind)
        return list(self.set(target, self.as_kind(text, kind, before)))

    def as_kind(self, text: str, source: Kind, to: Kind) -> str:
        head, found = converted(text, source, to)
        self.helpers.append(head)
        return found

    def declared(self) -> tuple[str, list[str]]:
        """The structs, and the declarations of variables of all kinds encountered."""
        kinds = [*self.takes, *self.known.values()]
        lines = [
            f"  {kind.c_type} {self.numbers[v]} = {{}}; (void){self.numbers[v]};" for v, kind in self.known.items()
        ]
        return "".join(dict.fromkeys(map(definitions, kinds))), lines

    # ---- statements ----

    def find_written(self) -> None:
        """Check that arrays whose elements are set are created here under a single name, so that a copy is equivalent
        to a reference.
        """
        from numba.core import ir

        blocks = self.ir.blocks.values()
        written = {s.target.name for b in blocks for s in b.body if isinstance(s, (ir.SetItem, ir.StaticSetItem))}
        for block in blocks:
            last = isinstance(block.terminator, ir.Return)
            for s in block.body:
                value: Any = getattr(s, "value", None)
                if not isinstance(s, ir.Assign):
                    continue
                op = "" if isinstance(value, ir.Var) else getattr(value, "op", "none")
                if op not in ("", "phi", "build_tuple") or (op == "build_tuple" and last):
                    continue
                used = [value] if not op else value.list_vars()
                if written & {s.target.name, *(v.name for v in used)}:
                    self.refuse("an array that is set under two names", s.loc)

    def set_item(self, s: Any) -> list[str]:
        """target[index] = value."""
        kind = self.kind(s.target, s.loc)
        if not isinstance(kind, Fixed) or s.target.name not in self.fresh:
            return self.refuse("setting a part of an operand", s.loc)
        where, shape = self.place_of(kind, s.index, s.loc)
        if shape:
            return self.refuse("setting several elements at once", s.loc)
        return [f"  {self.numbers[s.target.name]}.at[{where}] = {self.use(s.value, kind.base)};"]

    def place_of(self, kind: Fixed, index: Any, loc: Any) -> tuple[str, tuple[int, ...]]:
        """The first element that an index (a literal or a variable) selects, and the shape of the selection."""
        words: list[str] = []
        if not hasattr(index, "name"):
            parts = index if isinstance(index, tuple) else (index,)
            words = [str(i) for i in parts if type(i) is int]
            if len(words) < len(parts):
                self.refuse("a slice", loc)
        elif isinstance(found := self.known.get(index.name), Fields):
            words = [f"{self.numbers[index.name]}.f{k}" for k in range(len(found.kinds))]
        elif scalar(self.types[index.name]) is not None:
            words = [self.use(index, INT64)]
        if not 0 < len(words) <= len(kind.shape):
            self.refuse("this index", loc)
        steps = [math.prod(kind.shape[axis + 1 :]) for axis in range(len(words))]
        terms = [f"place({word}, {n}) * {step}" for word, n, step in zip(words, kind.shape, steps)]
        return " + ".join(terms), kind.shape[len(words) :]

    def item(self, expr: Any, target: str, loc: Any) -> list[str]:
        """value[index] for a record, a tuple or a sub-array."""
        kind, word = self.kind(expr.value, loc), self.numbers[expr.value.name]
        index = expr.index
        if isinstance(kind, Fields):
            names: Any = kind.names or tuple(range(len(kind.kinds)))
            literal = index if not hasattr(index, "name") else getattr(self.types[index.name], "literal_value", None)
            if isinstance(literal, int) and kind.names == () and literal < 0:
                literal += len(kind.kinds)
            if literal not in names:
                return self.refuse("this index", loc)
            k = names.index(literal)
            return self.keep_any(target, kind.kinds[k], f"{word}.f{k}")
        if not isinstance(kind, Fixed):
            return self.refuse("an index", loc)
        where, shape = self.place_of(kind, index, loc)
        if not shape:
            return list(self.set(target, f"{word}.at[{where}]"))
        made = Fixed(kind.base, shape)
        return self.keep(target, made, f"part<{made.size}>({word}, {where})")

    def keep_any(self, target: str, kind: Kind, text: str) -> list[str]:
        return list(self.set(target, text)) if isinstance(kind, DataType) else self.keep(target, kind, text)

    def attribute(self, expr: Any, target: str, loc: Any) -> list[str]:
        """value.name: a field, or a method of a sub-array, which is called next."""
        kind = self.kind(expr.value, loc)
        if isinstance(kind, Fields) and expr.attr in kind.names:
            k = kind.names.index(expr.attr)
            return self.keep_any(target, kind.kinds[k], f"{self.numbers[expr.value.name]}.f{k}")
        if isinstance(kind, Fixed) and expr.attr in ("copy", "sum"):
            self.objects[target] = (expr.attr, expr.value)
            return []
        return self.refuse(f"the attribute {expr.attr}", loc)

    def tuple_of(self, expr: Any, target: str, loc: Any) -> list[str]:
        kinds = tuple(self.kind(v, loc) for v in expr.items)
        made = Fields(kinds)
        words = ", ".join(self.numbers[v.name] for v in expr.items)
        return self.keep(target, made, f"{made.c_type}{{{words}}}")

    # ---- sub-arrays ----

    def elementwise(self, target: str, operands: list[Any], loc: Any, write: Any) -> list[str]:
        """A loop over the elements; `write` returns the text for one element."""
        shapes = {k.shape for v in operands if isinstance(k := self.kind(v, loc), Fixed)}
        base = scalar(self.types[target].dtype)
        if len(shapes) != 1 or base is None:
            return self.refuse("arrays of several shapes", loc)
        made = Fixed(base, shapes.pop())
        self.known.setdefault(target, made)
        self.fresh.add(target)
        self.each = "k"
        text = write()
        self.each = ""
        return [f"  for (int k = 0; k < {made.size}; ++k) {self.numbers[target]}.at[k] = {text};"]

    def array_call(self, function: Any, expr: Any, target: str, loc: Any) -> list[str] | None:
        """Calls that take or create sub-arrays; None for other calls."""
        from numba import types

        name = getattr(function, "__name__", "")
        if isinstance(function, tuple):  # a method
            kind: Any = self.kind(function[1], loc)
            word = self.numbers[function[1].name]
            if expr.args or expr.kws:
                return self.refuse(f"arguments of {function[0]}", loc)
            if function[0] == "copy":
                self.fresh.add(target)
                return self.keep(target, kind, word)
            return self.sum(target, kind, word, loc)
        if not any(isinstance(self.types[v.name], types.Array) for v in expr.args) and name not in FRESH:
            return None
        if name == "len":
            kind = self.kind(expr.args[0], loc)
            return list(self.set(target, str(kind.shape[0])))
        if name == "sum" and len(expr.args) == 1:
            return self.sum(target, self.kind(expr.args[0], loc), self.numbers[expr.args[0].name], loc)
        if name in FRESH and len(expr.args) == 1 and not expr.kws and isinstance(self.types[target], types.Array):
            base, shape = scalar(self.types[target].dtype), self._shape_of(expr.args[0], name, loc)
            if base is None or not shape:
                return self.refuse(f"this call of {name}", loc)
            made = Fixed(base, shape)
            self.known.setdefault(target, made)
            self.fresh.add(target)
            value = FRESH[name] or "0"
            return [f"  for (int k = 0; k < {made.size}; ++k) {self.numbers[target]}.at[k] = ({base.c_type}){value};"]
        return None

    def _shape_of(self, var: Any, name: str, loc: Any) -> tuple[int, ...]:
        if name.endswith("_like"):
            kind = self.kind(var, loc)
            return kind.shape if isinstance(kind, Fixed) else ()
        t = self.types[var.name]
        found: list[Any] = [getattr(x, "literal_value", None) for x in (t if hasattr(t, "__iter__") else (t,))]
        return tuple(found) if all(type(n) is int and n > 0 for n in found) else ()

    def sum(self, target: str, kind: Any, word: str, loc: Any) -> list[str]:
        t = scalar(self.types[target])
        if not isinstance(kind, Fixed) or t is None:
            return self.refuse("this sum", loc)
        z = self.numbers[target]
        step = f"{z} = plus<{t.c_type}>({z}, cast<{t.c_type}>({word}.at[k]));"
        return [f"  {z} = 0;", f"  for (int k = 0; k < {kind.size}; ++k) {step}"]


# ---- CUDA C++ translation of function calls: known functions and other Python functions.


class Calls(Aggregates):
    name: str
    called_by_name: dict[str, list[Any]]
    calls: Any
    need: Any
    text: Any
    result: Any

    def call(self, expr: Any, target: str, loc: Any) -> list[str]:
        function: Any = self.objects.get(expr.func.name)
        if function is range:
            words = [self.use(v, self.range_of(target, loc)) for v in expr.args]
            t = self.range_of(target, loc).c_type
            words = ["0", *words] if len(words) == 1 else words
            first, stop, step = words if len(words) == 3 else (*words, "1")
            return self.set(target, f"make_range<{t}>({first}, {stop}, {step})")
        found = self.array_call(function, expr, target, loc)
        if found is not None:
            return found
        if hasattr(function, "py_func"):
            return self.helper(function.py_func, expr, target, loc)
        result = lambda: self.need(self.types[target], "a value", loc)
        if self.is_aggregate(target):
            return self.elementwise(target, expr.args, loc, lambda: self.called(function, expr, result(), loc))
        return self.set(target, self.called(function, expr, result(), loc))

    def helper(self, function: Any, expr: Any, target: str, loc: Any) -> list[str]:
        """The call of another Python function of the user."""
        if expr.kws or expr.vararg is not None:
            self.refuse(f"a call of {function.__name__} with keywords", loc)
        word, words = re.sub(r"\W", "_", function.__name__), []
        same = self.called_by_name.setdefault(word, [])
        if function not in same:
            same.append(function)
        name = f"{self.name}_{word}" + (f"_{same.index(function)}" if function is not same[0] else "")
        takes = tuple(_record_type(t) or self.need(t, "an argument", loc) for t in self.calls[expr].args)
        for v, t in zip(expr.args, takes):
            words.append(
                self.use(v, t) if not t._is_udt else self.as_kind(self.numbers[v.name], self.kind(v, loc), kind_of(t))
            )
        translate: Any = type(self)
        made = translate(name, function, takes)
        self.helpers.append(made.text())
        result = scalar(self.types[target]) or made.result
        return self.keep_any(target, result, self.as_kind(f"{name}({', '.join(words)})", made.result, result))

    def called(self, function: Any, expr: Any, result: DataType, loc: Any) -> str:
        key = (getattr(function, "__module__", None) or "numpy", getattr(function, "__name__", ""))
        args = list(expr.args)
        if expr.kws or expr.vararg is not None:
            return self.refuse(f"a call of {key[1]} with keywords", loc)
        types = [scalar(getattr(self.types[v.name], "dtype", self.types[v.name])) for v in args]
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

    def range_of(self, target: str, loc: Any) -> DataType:
        found = range_type(self.types[target])
        return found if found is not None else self.refuse("this range", loc)


def _float_of(types: list[DataType | None], result: DataType) -> DataType:
    """The floating-point type in which a real function is computed."""
    floats = [t for t in (*types, result) if t is not None and t.kind == "f"]
    whole = [t for t in types if t is not None and t.kind != "f"]
    narrow = floats and all(t.nbytes == 4 for t in floats) and (not whole or result.nbytes == 4)
    return lookup_dtype("FP32" if narrow else "FP64")


def _record_type(t: Any) -> DataType | None:
    """The user-defined type of a record; Numba's arrays do not carry theirs."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    return lookup_dtype(as_dtype(t)) if isinstance(t, types.Record) else None


def range_type(t: Any) -> DataType | None:
    """INT64 for Numba's range_state_int64 and range_iter_int64."""
    name = str(t)
    return scalar(name.rsplit("_", 1)[1]) if name.startswith(("range_state_", "range_iter_")) else None


# ---- CUDA C++ translation of user-defined Python functions, from Numba's typed IR.
#
# Supported: numbers and Booleans, records by field, tuples, sub-arrays by element or as a whole; +
# - * / // % ** << >> & | ^ ~, comparisons, `not`, `and`, `or`; local variables; if, while, for ... in range(...),
# break, continue, conditional expressions; calls of other such functions and of those listed below; numbers
# from modules and closures. Everything else raises UdfParseError with its line.


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
    return include_guarded("UDF_CUH", (Path(__file__).parent / "udf.cuh").read_text())


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
            structs
            + "".join(dict.fromkeys(self.helpers))
            + include_guarded(guard, "\n".join([head, *variables, *body, "}", ""]))
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
