"""The modules inside python-graphblas that programs import, `graphblas.core` and what stands in it, as tables of what
bitblas has for them."""

from __future__ import annotations

from typing import Any

from semirings import Operator, Parameterized, Typed, dtypes
from semirings.namespace import Namespace

from .. import core
from ..core.aggregators import Aggregator, TypedAggregator
from ..core.statement import base, expr, indexing, infix, mask
from . import functions

UTILS = ("UNKNOWN_OPCLASS", "find_opclass", "get_semiring", "get_typed_op")


def _named(*names: str) -> dict[str, Any]:
    return {name: getattr(functions, name) for name in names}


def _operators() -> dict[str, dict[str, Any]]:
    """graphblas.core.operator and the modules in it."""
    # typed, or waiting for parameters, operators are of one class each
    inside = {
        family: {kind.__name__: kind, f"Parameterized{kind.__name__}": Parameterized}
        for family, kind in functions.KINDS.items()
    }  # fmt: skip
    inside["agg"] = {"Aggregator": Aggregator, "TypedAggregator": TypedAggregator}
    inside["base"] = {"OpBase": Operator, "TypedOpBase": Typed, "ParameterizedUdf": Parameterized, "OpPath": Namespace}
    inside["utils"] = _named(*UTILS)
    together = {name: value for content in inside.values() for name, value in content.items()}
    return {"core.operator": together} | {f"core.operator.{name}": content for name, content in inside.items()}


def _statements() -> dict[str, dict[str, Any]]:
    """Objects and what is made of them."""
    objects: dict[str, dict[str, Any]] = {
        "core.matrix": {"Matrix": core.Matrix, "TransposedMatrix": core.TransposedMatrix},
        "core.vector": {"Vector": core.Vector},
        "core.scalar": {"Scalar": core.Scalar},
    }
    for name, kind in zip(("matrix", "vector", "scalar"), ("Matrix", "Vector", "Scalar")):
        objects[f"core.{name}"] |= {
            f"{kind}Expression": getattr(expr, f"{kind}Expression"), f"{kind}IndexExpr": indexing.IndexExpr,
        }  # fmt: skip
    updates = {"Updater": base.Updater, "Assigner": indexing.Assigner, "InfixExpression": infix.Infix}
    return objects | {
        "core.mask": {"Mask": mask.Mask},
        "core.expr": updates | {"AmbiguousAssignOrExtract": indexing.IndexExpr},
        "core.infix": {"InfixExpression": infix.Infix},
    }


def modules() -> dict[str, dict[str, Any]]:
    """Name below `graphblas` -> its content; a module stands after the one that it lies in."""
    types = {name: getattr(dtypes, name) for name in dir(dtypes) if name in {t.name for t in dtypes.ALL}}
    return {
        "core": {"_supports_udfs": True},
        "core.dtypes": types | {
            "DataType": dtypes.DataType, "lookup_dtype": dtypes.lookup_dtype, "unify": dtypes.unify,
            "_supports_complex": dtypes._supports_complex,
        },
        "core.utils": _named("ensure_type", "output_type"),
    } | _statements() | _operators()  # fmt: skip
