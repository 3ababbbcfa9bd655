"""CUDA C++ translation of record fields, tuples and sub-arrays (part of udf_cpp.py)."""

from __future__ import annotations

import math
from typing import Any

from .dtypes import INT64, DataType, lookup_dtype
from .udf_values import Fields, Fixed, Kind, converted, definitions, kind_of, of_numpy

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
