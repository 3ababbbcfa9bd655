"""CUDA C++ translation of function calls: the functions in udf_tables.py and other Python functions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .dtypes import DataType, lookup_dtype
from .udf_aggregates import Aggregates, scalar
from .udf_tables import ANY, REAL
from .udf_values import kind_of


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
        takes = tuple(_own_type(t) or self.need(t, "an argument", loc) for t in self.calls[expr].args)
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


def _own_type(t: Any) -> DataType | None:
    """The user-defined type of a record; Numba's arrays do not carry theirs."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    return lookup_dtype(as_dtype(t)) if isinstance(t, types.Record) else None


def range_type(t: Any) -> DataType | None:
    """INT64 for Numba's range_state_int64 and range_iter_int64."""
    name = str(t)
    return scalar(name.rsplit("_", 1)[1]) if name.startswith(("range_state_", "range_iter_")) else None
