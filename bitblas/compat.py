"""Run programs that say `import graphblas` on bitblas: `bitblas.compat.install()`, before they are imported.

It puts bitblas into `sys.modules` under python-graphblas' name, with those of its internals that programs import
(`graphblas.core.operator`, `.matrix`, `.utils`, ...). A program that needs more raises ImportError or AttributeError.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from semirings import BinaryOp, IndexUnaryOp, Monoid, Semiring, Typed, UnaryOp, dtypes

from . import core
from .core import aggregators, operators
from .core.aggregators import Aggregator, TypedAggregator
from .core.statement import base, expr, indexing, infix, mask

NAME = "graphblas"
# What `from graphblas import *` gives there, as far as bitblas has it.
STAR = (
    "MAX_SIZE", "Matrix", "Recorder", "Scalar", "Vector", "agg", "backend", "binary", "config", "core", "dtypes",
    "exceptions", "indexunary", "init", "io", "monoid", "op", "replace", "select", "semiring", "ss", "unary", "viz",
)  # fmt: skip
SPACES = ("agg", "binary", "config", "dtypes", "indexunary", "monoid", "op", "select", "semiring", "unary")


def output_type(value: Any) -> type:
    """The class of the object that `value` is, or would be once it is computed."""
    if isinstance(value, (expr.Expression, infix.Infix, indexing.IndexExpr)):
        return (core.Scalar, core.Vector, core.Matrix)[value.ndim]
    return type(value)


def ensure_type(value: Any, types: type | tuple[type, ...]) -> Any:
    """`value`, computed if it is delayed. TypeError unless it is one of `types`."""
    found = output_type(value)
    if not issubclass(found, types):
        raise TypeError(f"expected {types}, got {found}")
    return value._resolve() if isinstance(value, base.Operand) else value


def find_opclass(op: Any) -> tuple[Any, str]:
    """The operator (that text or a Python function names) and the name of its class."""
    if isinstance(op, str):
        op = core.op_from_string(op)
    plain = op.op if isinstance(op, Typed) else op
    kinds = (BinaryOp, Monoid, Semiring, UnaryOp, IndexUnaryOp)
    if isinstance(plain, (Aggregator, TypedAggregator)):
        return op, "Aggregator"
    return op, next((k.__name__ for k in kinds if isinstance(plain, k)), type(op).__name__)


def get_typed_op(op: Any, dtype: Any, dtype2: Any = None, *, kind: str = "binary", **_: Any) -> Any:
    """The operator for operands of these types; kind: "unary", "binary", "monoid", "semiring", "index"."""
    second = None if dtype2 is None else dtypes.lookup_dtype(dtype2)
    return operators.typed(op, kind, dtypes.lookup_dtype(dtype), second)


def get_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Any:
    """The semiring of a monoid and a multiplier."""
    from semirings.catalog import compose

    return compose(monoid, binaryop)


def _internals() -> dict[str, dict[str, Any]]:
    ops: dict[str, Any] = {
        "UnaryOp": UnaryOp, "BinaryOp": BinaryOp, "IndexUnaryOp": IndexUnaryOp, "SelectOp": IndexUnaryOp,
        "Monoid": Monoid, "Semiring": Semiring, "Aggregator": aggregators.Aggregator,
        "find_opclass": find_opclass, "get_typed_op": get_typed_op, "get_semiring": get_semiring,
    }  # fmt: skip
    matrices = {"Matrix": core.Matrix, "TransposedMatrix": core.TransposedMatrix}
    return {
        "core": {"_supports_udfs": True},
        "core.operator": ops,
        "core.matrix": matrices | {"MatrixExpression": expr.MatrixExpression},
        "core.vector": {"Vector": core.Vector, "VectorExpression": expr.VectorExpression},
        "core.scalar": {"Scalar": core.Scalar, "ScalarExpression": expr.ScalarExpression},
        "core.mask": {"Mask": mask.Mask},
        "core.utils": {"ensure_type": ensure_type, "output_type": output_type},
    }


class _Alias(ModuleType):
    """A module under python-graphblas' name: what it holds itself, and whatever `source` has."""

    _source: str | None = None

    def __getattr__(self, name: str) -> Any:
        if (name.startswith("__") and name != "__all__") or self._source is None:
            raise AttributeError(f"{self.__name__}: bitblas has nothing under the name {name!r} there")
        return getattr(importlib.import_module(self._source), name)


def _alias(name: str, content: dict[str, Any], source: str | None = None) -> None:
    module = _Alias(name)
    module._source = source
    module.__path__ = []  # a package: `import graphblas.core.operator` looks for submodules
    module.__dict__.update(content)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def install() -> None:
    """Make `import graphblas` mean bitblas in this process. ImportError if the real one is loaded already."""
    there = sys.modules.get(NAME)
    if isinstance(there, _Alias):
        return
    if there is not None:
        raise ImportError(f"{NAME}: expected it not to be imported yet, but {there.__file__} is")
    _alias(NAME, {}, "bitblas")
    for space in SPACES:
        sys.modules[f"{NAME}.{space}"] = getattr(sys.modules[NAME], space)
    for module in ("exceptions", "io"):
        _alias(f"{NAME}.{module}", {}, f"bitblas.{module}")
    for name, content in _internals().items():
        _alias(f"{NAME}.{name}", content)
    whole: Any = sys.modules[NAME]
    whole.__all__ = [name for name in STAR if hasattr(whole, name)]


def uninstall() -> None:
    """Undo `install()`; programs that were imported keep what they have."""
    if isinstance(sys.modules.get(NAME), _Alias):
        for name in [n for n in sys.modules if n == NAME or n.startswith(f"{NAME}.")]:
            del sys.modules[name]


__all__ = ["install", "uninstall"]
