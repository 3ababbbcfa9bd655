"""User-defined operators from Python functions, for CPU and GPU.

Numba infers the types, as in python-graphblas. On the CPU the function itself runs, compiled by Numba: its code and the
numbers and functions that it captures become part of the kernel's text. For a GPU its typed IR is translated to CUDA
C++ (udf_cuda.py).
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .dtypes import ALL, BOOL, FP64, INT8, INT64, UINT64, DataType, UdfParseError, cast_scalar
from .expressions import Expression
from .udf_types import captured, jitted, result_of, typed_form
from .user_types import UserType

_MODULES: dict[Any, str] = {math: "math", np: "numpy"}


POSITIONS = ("ix", "jx", "iy", "jy")


class Call(Expression):
    """`name_digest(x, y)`: the call of a Python function with everything that it captures. `names` are its parameters
    by role; the text may rename them.
    """

    function: Any
    names: tuple[str, ...]

    def __new__(cls, function: FunctionType, names: tuple[str, ...]) -> Call:
        text = _text_of("f", function)
        import hashlib

        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        word = function.__name__ if function.__name__.isidentifier() and function.__name__.isascii() else "function"
        self = super().__new__(cls, f"{word}_{digest}({', '.join(names)})")
        self.function, self.names = function, names
        return self

    def renamed(self, text: str) -> Call:
        twin = str.__new__(Call, text)
        twin.function, twin.names = self.function, self.names
        return twin

    @property
    def called(self) -> str:
        return self.partition("(")[0]

    def arguments(self, types: Mapping[str, DataType]) -> tuple[DataType, ...]:
        """The argument types; positions are UINT64, as in python-graphblas."""
        return tuple(UINT64 if n in POSITIONS else types[n] for n in self.names)

    def gives(self, types: Mapping[str, DataType]) -> DataType:
        found = result_of(self.function, self.arguments(types))
        if found is None:
            raise UdfParseError(f"{self.function.__name__}: no version for {self.arguments(types)}")
        return found

    def evaluate(self, types: Mapping[str, DataType], names: Mapping[str, Any]) -> Any:
        taken = self.arguments(types)
        args = [cast_scalar(names[n], t) for n, t in zip(self.names, taken)]
        args = [t.decoded([x])[0] if isinstance(t, UserType) else x for x, t in zip(args, taken)]
        return jitted(self.function)(*args)

    def definition_python(self, types: Mapping[str, DataType]) -> str:
        self._reject_user_types(types)
        inner = ", ".join(f"np.uint64({n})" if n in POSITIONS else n for n in self.names)
        return (
            f"{_text_of(f'{self.called}_body', self.function)}@njit(**FUNCTION)\n"
            f"def {self.called}({', '.join(self.names)}):\n    return {self.called}_body({inner})\n\n\n"
        )

    def _reject_user_types(self, types: Mapping[str, DataType]) -> None:
        """UdfParseError for user-defined types: such a kernel holds dictionary indices of values, not their fields."""
        own = next((t for t in self.arguments(types) if t._is_udt), None)
        if own is not None:
            raise UdfParseError(f"{self.function.__name__}: this operation does not support values of {own}")

    def definition_cpp(self, types: Mapping[str, DataType]) -> str:
        self._reject_user_types(types)
        from . import udf_cuda  # imported late: not needed on the CPU

        return udf_cuda.definition(self.called, self.function, self.arguments(types))


# ---- types ----------------------------------------------------------------------------------------------------------


class UserRule:
    """The typing rule of a function: T x T -> the type that Numba infers. `narrow` converts it back to T if it is of
    the same kind, as python-graphblas does for registered operators.
    """

    def __init__(self, call: Call, narrow: bool) -> None:
        self.call, self.narrow = call, narrow

    def __call__(self, t: DataType) -> tuple[DataType, DataType] | None:
        z = self._inferred(t)
        if z is None or t._is_udt or not self.narrow or z is t:
            return None if z is None else (t, z)
        if (z.kind in "iu" and t.kind in "iu") or (z.kind == t.kind and t.kind in "fc"):
            return t, t
        if t is UINT64 and z is FP64 and self._inferred(INT64) is INT64:
            return t, t
        if t is BOOL and z is INT64 and (self(INT8) or (None, None))[1] is INT8:
            return t, INT8
        return t, z

    def _inferred(self, t: DataType) -> DataType | None:
        return result_of(self.call.function, self.call.arguments(dict.fromkeys(("x", "y", "t"), t)))


def check(call: Call, rule: UserRule) -> None:
    """UdfParseError, with Numba's message, for a function that supports no type."""
    if any(rule(t) for t in (FP64, INT64, *ALL)):
        return
    from numba.core.errors import NumbaError

    why = "Numba infers no result of a GraphBLAS type"
    try:
        typed_form(call.function, call.arguments(dict.fromkeys(("x", "y", "t"), FP64)))
    except NumbaError as error:
        why = str(error)
    raise UdfParseError(f"{call.function.__name__}: Unable to parse function using Numba: {why}")


# ---- the function as text -------------------------------------------------------------------------------------------


def _text_of(name: str, function: FunctionType, callers: tuple[FunctionType, ...] = ()) -> str:
    """Python source that recreates the function under a name, from its code object and captured values."""
    import marshal

    if function in callers:
        raise UdfParseError(f"{function.__name__}: recursion is not supported. Hint: use a loop")
    if function.__defaults__ or function.__kwdefaults__:
        raise UdfParseError(f"{function.__name__}: argument defaults are not supported. Hint: capture the values")
    head, values = "", {}
    for n, value in captured(function):
        if isinstance(value, FunctionType) or hasattr(value, "py_func"):
            values[n] = f"{name}_{n}"
            head += _text_of(values[n], getattr(value, "py_func", value), (*callers, function))
        else:
            values[n] = _literal(function, n, value)
    code = function.__code__.replace(co_filename="<operator>", co_firstlineno=1)
    free = code.co_freevars
    cells = "".join(f"_cell({values[n]}), " for n in free)
    names = ", ".join(["'__name__': __name__", *(f"{n!r}: {v}" for n, v in values.items() if n not in free)])
    return (
        f"{head}{name} = njit(error_model='numpy', nogil=True)(type(lambda: 0)(\n"
        f"    __import__('marshal').loads({marshal.dumps(code)!r}),\n"
        f"    {{{names}}}, {name!r}, None, ({cells})))\n"
    ).replace("_cell(", "(lambda v: (lambda: v).__closure__[0])(")


def _literal(function: FunctionType, name: str, value: Any) -> str:
    if isinstance(value, ModuleType) and value in _MODULES:
        return f"__import__({_MODULES[value]!r})"
    if isinstance(value, (bool, int)):
        return repr(value)
    if type(value) is complex:
        return f"complex(float({str(value.real)!r}), float({str(value.imag)!r}))"
    if isinstance(value, (float, np.generic)) and (kind := np.asarray(value).dtype).kind in "biuf":
        exact = f"float({str(float(value))!r})" if kind.kind == "f" else repr(int(value))
        return exact if type(value) is float else f"np.{kind.name}({exact})"
    origin, word = getattr(value, "__module__", None), getattr(value, "__name__", "")
    if origin in ("math", "numpy") and getattr(__import__(origin), word, None) is value:
        return f"__import__({origin!r}).{word}"
    if isinstance(value, (BuiltinFunctionType, type)) and origin == "builtins":
        return str(word)
    if isinstance(value, (str, tuple, np.ndarray)):  # Numba constants
        return f"__import__('pickle').loads({pickle.dumps(value)!r})"
    raise UdfParseError(
        f"{function.__name__}: captures {name}, a {type(value).__name__}; expected a number, an array, a function, "
        "math or numpy"
    )
