"""Run programs that `import graphblas` on bitblas: call `bitblas.compat.install()` before importing them.

It registers bitblas in `sys.modules` under the name of python-graphblas, with the internal modules that programs import
(`graphblas.core.operator`, `.matrix`, `.utils`, ...). A program that needs more raises ImportError or AttributeError.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import semirings
from semirings import Operator, Parameterized, Typed, dtypes, semiring
from semirings.namespaces import Namespace

from . import core, exceptions
from .core import operators
from .core.aggregators import Aggregator, TypedAggregator
from .core.statement import expressions, indexing, infix, masks, running
from .core.statement.infix import Delayed
from .typing import DTypeLike

# ---- Internal functions of python-graphblas that programs import: type tests and operator look-up.

UNKNOWN_OPCLASS = "UnknownOpClass"
KINDS: dict[str, type] = {"unary": semirings.UnaryOp, "binary": semirings.BinaryOp, "monoid": semirings.Monoid}
KINDS |= {"indexunary": semirings.IndexUnaryOp, "select": semirings.SelectOp, "semiring": semirings.Semiring}


def output_type(value: object) -> type:
    """The class of `value`, or of its result if it is delayed."""
    if isinstance(value, Delayed):
        return (core.Scalar, core.Vector, core.Matrix)[value.ndim]
    return type(value)


def ensure_type(value: object, types: type | tuple[type, ...]) -> object:
    """`value`, computed if it is delayed. TypeError unless it is one of `types`."""
    found = output_type(value)
    if not issubclass(found, types):
        raise TypeError(f"expected {types}, got {found}")
    return value.new() if isinstance(value, Delayed) else value


def find_opclass(op: object) -> tuple[object, str]:
    """The operator (also given as text or a Python function) and the name of its class."""
    if isinstance(op, str):
        try:
            op = core.op_from_string(op)
        except ValueError:
            return op, UNKNOWN_OPCLASS
    plain = op.op if isinstance(op, Typed) else op
    if isinstance(plain, (Aggregator, TypedAggregator)):
        return op, "Aggregator"
    return op, next((k.__name__ for k in KINDS.values() if isinstance(plain, k)), UNKNOWN_OPCLASS)


def get_typed_op(
    op: Any, dtype: DTypeLike, dtype2: DTypeLike | None = None, *, kind: str | None = None, **_: object
) -> Typed | TypedAggregator:
    """The operator for operands of these types. kind, required for a name or a function: "unary", "binary", "monoid",
    "semiring", "indexunary", "select" or "binary|aggregator". ValueError without it, or for an unknown name."""
    if isinstance(op, str):
        if kind is None:
            raise ValueError(f'kind: expected the kind of {op!r}, for example "unary" or "binary", got None')
        if kind == "binary|aggregator":
            op, kind = core.op_from_string(op), "binary"
    if isinstance(op, TypedAggregator):
        return op
    left, right = dtypes.lookup_dtype(dtype), None if dtype2 is None else dtypes.lookup_dtype(dtype2)
    if isinstance(op, Aggregator):
        return op[left]
    plain = op.op if isinstance(op, Typed) else op
    found = (name for name, its in KINDS.items() if isinstance(plain, its))
    return operators.typed(op, kind or next(found, "binary"), left, right)


get_semiring = semiring.get_semiring


# ---- Internal modules of python-graphblas that programs import: `graphblas.core` and its submodules, as tables of
# names.
#
# python-graphblas' modules import each other's classes, so programs find `Vector` in `graphblas.core.matrix` too. Here
# the modules of objects share one table, and those of operators another one.

Names = dict[str, Any]  # the content of a module
UTILS = ("UNKNOWN_OPCLASS", "find_opclass", "get_semiring", "get_typed_op")
SEARCHED_SPACES = ("agg", "binary", "indexunary", "monoid", "select", "semiring", "unary")
RAISED = ("DimensionMismatch", "EmptyObject", "InvalidValue", "NoValue")


class _MaskKind(type):
    """The class of one kind of mask: its instances are the objects of class `Mask` of that kind."""

    structure: bool
    complement: bool

    def __instancecheck__(cls, found: object) -> bool:
        return isinstance(found, masks.Mask) and (found.structure, found.complement) == (cls.structure, cls.complement)

    def __call__(cls, parent: core.Matrix | core.Vector) -> masks.Mask:
        return masks.Mask(parent, cls.structure, cls.complement)


def _masks() -> Names:
    kinds: Names = {"Mask": masks.Mask}
    for prefix, complement in (("", False), ("Complemented", True)):
        for name, structure in (("StructuralMask", True), ("ValueMask", False)):
            content = {"__slots__": (), "structure": structure, "complement": complement}
            kinds[prefix + name] = _MaskKind(prefix + name, (), content)
    return kinds


def _named(*names: str) -> Names:
    return {name: globals()[name] for name in names}


def _types() -> Names:
    return {name: getattr(dtypes, name) for name in dir(dtypes) if name in {t.name for t in dtypes.ALL}}


def _operators() -> dict[str, Names]:
    """graphblas.core.operator and the modules in it."""
    import bitblas as gb

    # typed operators share one class, and parameterized ones another
    inside: dict[str, Names] = {
        family: {
            kind.__name__: kind,
            f"Parameterized{kind.__name__}": Parameterized,
            f"TypedBuiltin{kind.__name__}": Typed,
            f"TypedUser{kind.__name__}": Typed,
        }
        for family, kind in KINDS.items()
    }
    inside["agg"] = {"Aggregator": Aggregator, "TypedAggregator": TypedAggregator}
    inside["base"] = {"OpBase": Operator, "TypedOpBase": Typed, "ParameterizedUdf": Parameterized, "OpPath": Namespace}
    read = {f"{name}_from_string": getattr(gb, name).from_string for name in (*SEARCHED_SPACES[1:], "op")}
    inside["utils"] = _named(*UTILS) | read | {"aggregator_from_string": gb.agg.from_string}
    together = {name: value for content in inside.values() for name, value in content.items()}
    more = together | _types() | {"lookup_dtype": dtypes.lookup_dtype, "output_type": output_type}
    return {"core.operator": together} | {f"core.operator.{name}": more for name in inside}


def _statements() -> dict[str, Names]:
    """Objects and their expressions."""
    import bitblas as gb

    objects: Names = {name: getattr(core, name) for name in ("Matrix", "Scalar", "TransposedMatrix", "Vector")}
    for kind in ("Matrix", "Vector", "Scalar"):
        objects[f"{kind}Expression"] = getattr(expressions, f"{kind}Expression")
        objects[f"{kind}IndexExpr"] = indexing.IndexExpr
        objects[f"{kind}InfixExpr"] = infix.Infix
    objects |= {"BaseType": indexing.Output, "BaseExpression": expressions.Expression, "InfixExprBase": infix.Infix}
    objects |= {"InfixExpression": infix.Infix, "Updater": indexing.Updater, "Assigner": indexing.Assigner}
    objects |= {"AmbiguousAssignOrExtract": indexing.IndexExpr} | _masks()
    shared = objects | _types() | _named(*UTILS, "ensure_type", "output_type")
    shared |= {name: getattr(exceptions, name) for name in RAISED} | {
        name: getattr(gb, name) for name in SEARCHED_SPACES
    }
    shared |= {"lookup_dtype": dtypes.lookup_dtype, "unify": dtypes.unify, "_supports_udfs": True}
    names = ("base", "expr", "infix", "mask", "matrix", "scalar", "vector")
    recorder: Names = {"Recorder": running.Recorder}
    return {f"core.{name}": shared for name in names} | {"core.recorder": recorder}


def modules() -> dict[str, Names]:
    """Module name below `graphblas` -> its content; parents precede their submodules."""
    kinds = {"DataType": dtypes.DataType, "lookup_dtype": dtypes.lookup_dtype, "unify": dtypes.unify}
    registering = {name: getattr(dtypes, name) for name in ("register_anonymous", "register_new")}
    whole: dict[str, Names] = {
        "core": {"_supports_udfs": True},
        "core.dtypes": _types() | kinds | registering | {"_supports_complex": dtypes._supports_complex},
        "core.utils": _named("ensure_type", "output_type") | {"lookup_dtype": dtypes.lookup_dtype},
    }
    return whole | _statements() | _operators()


NAME = "graphblas"
VERSION = "2025.2.0"  # of python-graphblas, whose names and call style bitblas follows
# The names of `from graphblas import *`, as far as bitblas has them.
STAR = (
    "MAX_SIZE Matrix Recorder Scalar Vector agg backend binary config core dtypes exceptions indexunary init "
    "io monoid op replace select semiring ss unary viz"
).split()
SPACES = ("agg", "binary", "config", "dtypes", "indexunary", "monoid", "op", "select", "semiring", "unary")
MODULES = ("exceptions", "io", "ss", "viz")  # modules of bitblas with the same names


class _Alias(ModuleType):
    """A module under a name of python-graphblas: its own content, and that of the module `_source`."""

    _source: str | None = None

    def __getattr__(self, name: str) -> Any:
        if (name.startswith("__") and name != "__all__") or self._source is None:
            raise AttributeError(f"{self.__name__}: bitblas has no {name!r} in this module")
        return getattr(importlib.import_module(self._source), name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(dir(importlib.import_module(self._source)) if self._source else ())]


def _alias(name: str, content: dict[str, object], source: str | None = None) -> None:
    module = _Alias(name)
    module._source = source
    module.__path__ = []  # makes it a package, so that `import graphblas.core.operator` finds submodules
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
        raise ImportError(f"{NAME}: expected install() before the first import, got {there.__file__} already imported")
    _alias(NAME, {"__version__": VERSION}, "bitblas")
    for space in SPACES:
        found = sys.modules[f"{NAME}.{space}"] = getattr(sys.modules[NAME], space)
        for part in ("numpy", "ss"):
            if hasattr(found, part):
                sys.modules[f"{NAME}.{space}.{part}"] = getattr(found, part)
    for module in MODULES:
        _alias(f"{NAME}.{module}", {}, f"bitblas.{module}")
    for name, content in modules().items():
        _alias(f"{NAME}.{name}", content)
    whole: Any = sys.modules[NAME]
    whole.__all__ = [name for name in STAR if hasattr(whole, name)]


def uninstall() -> None:
    """Undo `install()`; programs that are already imported keep their references."""
    if isinstance(sys.modules.get(NAME), _Alias):
        for name in [n for n in sys.modules if n == NAME or n.startswith(f"{NAME}.")]:
            del sys.modules[name]


__all__ = ["install", "uninstall"]
