"""Numba type inference for user-defined functions: variable types and result type.

Numba is imported when the first function is inspected.
"""

from __future__ import annotations

import contextlib
import dis
import functools
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from .dtypes import DataType, lookup_dtype
from .user_types import UserType


@functools.cache
def result_of(function: FunctionType, arguments: tuple[DataType, ...]) -> DataType | None:
    """The result type that Numba infers, None if the function does not accept such arguments."""
    from numba.core.errors import NumbaError

    try:
        found = typed_form(function, arguments).return_type
        own = next((t for t in arguments if isinstance(t, UserType)), None)
        if own is not None and (of_own := _own_result(found, own)) is not None:
            return of_own
        return lookup_dtype(str(getattr(found, "literal_type", found)))
    except (NumbaError, ValueError):
        return None


def typed_form(function: FunctionType, arguments: tuple[DataType, ...]) -> Any:
    """Numba's IR of a function (func_ir), with the types of its variables (typemap) and calls (calltypes). Raises
    numba.core.errors.NumbaError if Numba cannot type it.
    """
    return _front_end(jitted(function), tuple(map(numba_type, arguments)), any(t._is_udt for t in arguments))


def gives_record(function: FunctionType, arguments: tuple[DataType, ...]) -> bool:
    """Whether a function returns a record rather than a tuple of fields."""
    from numba import types

    return isinstance(typed_form(function, arguments).return_type, types.Record)


def numba_type(t: DataType) -> Any:
    """The Numba type of a DataType; sub-arrays are arrays."""
    from numba import from_dtype, types

    if not isinstance(t, UserType):
        return from_dtype(t.np_type)
    if t.record.subdtype is None:
        return from_dtype(t.record)
    base, shape = t.record.subdtype
    return types.Array(from_dtype(base), len(shape), "C")


def _own_result(found: Any, own: UserType) -> DataType | None:
    """The user-defined type of a result: that of a record, or `own` for a tuple of its fields or an array."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    shape = own.record.shape if own.record.subdtype is not None else (len(own.record.names or ()),)
    if isinstance(found, types.Record):
        return lookup_dtype(as_dtype(found))
    if isinstance(found, types.BaseTuple) and len(found) == shape[0] and len(shape) == 1:
        return own
    arrays = isinstance(found, types.Array) and own.record.subdtype is not None
    return own if arrays and found.ndim == len(shape) else None


def _front_end(dispatcher: Any, arguments: tuple[Any, ...], makes_arrays: bool) -> Any:
    from numba.core import compiler
    from numba.core.typed_passes import NopythonTypeInference

    class TypesOnly(compiler.CompilerBase):
        def define_pipelines(self) -> list[Any]:
            passes = compiler.DefaultPassBuilder.define_untyped_pipeline(self.state)
            passes.add_pass(NopythonTypeInference, "types")
            passes.finalize()
            return [passes]

    target = dispatcher.targetdescr
    target.typing_context.refresh()
    target.target_context.refresh()
    flags = compiler.Flags()
    flags.error_model = "numpy"
    flags.nrt = makes_arrays
    pipeline = TypesOnly(target.typing_context, target.target_context, None, arguments, None, flags, {})
    with contextlib.suppress(AttributeError):  # raised because there is no compiled result
        pipeline.compile_extra(dispatcher.py_func)
    return pipeline.state


@functools.cache
def jitted(function: FunctionType) -> Any:
    """The function compiled by Numba, including the plain functions that it calls."""
    import numba

    inner = {n: jitted(v) for n, v in captured(function) if isinstance(v, FunctionType) and v is not function}
    made = function
    if inner:
        cells = function.__closure__ or ()
        closure = tuple(CellType(inner.get(n, c.cell_contents)) for n, c in zip(function.__code__.co_freevars, cells))
        made = FunctionType(function.__code__, {**function.__globals__, **inner}, function.__name__, None, closure)
    return numba.njit(made, error_model="numpy", nogil=True)


def captured(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The names that a function reads from its module and enclosing functions, with their values."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        yield name, cell.cell_contents
    for name in sorted(_global_names(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _global_names(code: CodeType) -> set[str]:
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_global_names(c) for c in code.co_consts if isinstance(c, CodeType)))
