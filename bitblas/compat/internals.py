"""Internal modules of python-graphblas that programs import: `graphblas.core` and its submodules, as tables of names.

python-graphblas' modules import each other's classes, so programs find `Vector` in `graphblas.core.matrix` too. Here
the modules of objects share one table, and those of operators another one.
"""

from __future__ import annotations

from typing import Any

from semirings import Operator, Parameterized, Typed, dtypes
from semirings.namespace import Namespace

from .. import core, exceptions
from ..core.aggregators import Aggregator, TypedAggregator
from ..core.statement import expressions, indexing, infix, masks, running
from . import functions

Names = dict[str, Any]  # the content of a module
UTILS = ("UNKNOWN_OPCLASS", "find_opclass", "get_semiring", "get_typed_op")
SPACES = ("agg", "binary", "indexunary", "monoid", "select", "semiring", "unary")
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
    return {name: getattr(functions, name) for name in names}


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
        for family, kind in functions.KINDS.items()
    }
    inside["agg"] = {"Aggregator": Aggregator, "TypedAggregator": TypedAggregator}
    inside["base"] = {"OpBase": Operator, "TypedOpBase": Typed, "ParameterizedUdf": Parameterized, "OpPath": Namespace}
    read = {f"{name}_from_string": getattr(gb, name).from_string for name in (*SPACES[1:], "op")}
    inside["utils"] = _named(*UTILS) | read | {"aggregator_from_string": gb.agg.from_string}
    together = {name: value for content in inside.values() for name, value in content.items()}
    more = together | _types() | {"lookup_dtype": dtypes.lookup_dtype, "output_type": functions.output_type}
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
    shared |= {name: getattr(exceptions, name) for name in RAISED} | {name: getattr(gb, name) for name in SPACES}
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
