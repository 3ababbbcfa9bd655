"""Collect the public surface of bitblas: names and signatures, commands and options, environment variables.

The JSON files here have that of commit ffd8f61d, and `saved` has files of all formats that this commit's own code wrote
on a CPU. They are not recorded again (the program that did, record.py, is in the history of this folder):
`tests/test_public_surface.py` collects the surface of today, compares, and lists intended changes with their reasons. A
function is text, "function (other, op=None, *, name=None)", which is readable and which `parameters` parses.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SAVED = HERE / "saved"
# Modules that users import: public are the names of __all__, and these, which docs name. Other packages (plan, verbs,
# formats, loop.host ..) are internal and may be renamed.
MODULES = {
    "bitblas": "__version__ graph nx", "bitblas.agg": "", "bitblas.algorithms": "Watch", "bitblas.cli": "",
    "bitblas.compat": "", "bitblas.device": "", "bitblas.distributed": "", "bitblas.exceptions": "",
    "bitblas.dtypes": "lookup_dtype register_anonymous register_new unify", "bitblas.graph": "", "bitblas.io": "",
    "bitblas.loop": "", "bitblas.nx": "", "bitblas.plots": "", "bitblas.reorder": "", "bitblas.ss": "",
    "bitblas.viz": "", "semirings": "", "semirings.laws": "check_monoid check_operator check_semiring",
}  # fmt: skip
# Modules of which docs name no more than this: docs/planning.md, docs/recipes.md.
FEW = {"bitblas.calibrate.matrices": "grid shuffled", "semirings.catalog": "BINARY MONOIDS"}
SPACES = "binary indexbinary indexunary monoid op select semiring unary".split()
# Classes that the library constructs itself: their parameters may change.
MADE_INSIDE = {"Values", "Group", "Aggregator", "TypedAggregator", "DataType", "Operator", "Parameterized", "Typed"}
# Attributes without underscore that neither python-graphblas nor docs have.
NOT_PUBLIC = set("along axes column_shares computed ends fits masked run symbol with_operator".split())
WRITES = NOT_PUBLIC | {"build", "clear", "load", "resize", "save", "setdiag", "update"}  # what an expression cannot do
OPERATOR = "is_positional name register_anonymous register_new types"


def objects() -> dict[str, tuple[Any, str]]:
    """Objects whose attributes users type, with the names of the public ones; "": all without underscore."""
    import bitblas as gb
    import bitblas.distributed as gd

    A = gb.Matrix.from_coo([0, 1], [1, 2], [1.0, 2.0], nrows=3, ncols=3, device="cpu")
    v = gb.Vector.from_coo([0], [1.0], size=3, device="cpu")
    same = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=3, ncols=3, device="cpu")
    plus, ring, typed = gb.monoid.plus, gb.semiring.plus_times, "name parent return_type type"
    read = lambda x: (x, " ".join(n for n in dir(x) if n[0] != "_" and n not in WRITES and not n.startswith("from_")))
    with gb.trace() as trace:
        A.mxv(v).new()
    return {
        "Matrix": (A, ""), "Vector": (v, ""), "Scalar": (gb.Scalar.from_value(1.0), ""), "TransposedMatrix": (A.T, ""),
        "Matrix.S": (A.S, ""), "Vector.S": (v.S, ""), "Matrix[I, J]": (A[:1, :1], ""), "Vector[I]": (v[:1], ""),
        "Matrix(mask)": (A(A.S), "update"), "A | B": (A | A, ""), "A @ v": (A @ v, ""), "Matrix.ss": (A.ss, ""),
        "Vector.ss": (v.ss, ""), "MatrixExpression": read(A.mxm(A)), "VectorExpression": read(A.mxv(v)),
        "ScalarExpression": read(v.reduce()), "config": (gb.config, ""),
        "device.get()": (gb.device.get("cpu"), "name xp"),
        "Matrix.memory()": (A.memory(), "caches copies forms orders permutation structure total values"),
        "Vector.memory()": (v.memory(), "presence total values"),
        "Matrix.profile()": (A.profile(), "chosen facts held measured outlook predicted reason values"),
        "Matrix.profile().facts": (A.profile().facts, "bytes_of fill heads levels nvals"),
        "Matrix.profile(orders=True)": (A.profile(orders=["degree"]), "best profiles saved seconds"),
        "Matrix.profile(virtual_nodes=True)": (same.profile(virtual_nodes=True), "entries nbytes nodes whole"),
        "Plan": (gb.explain(A.mxv(v)), "direction key kind lanes reason semiring source transposed verb wide"),
        "Plan of mxm": (gb.explain(A.mxm(A)), "verb key reason semiring"), "trace": (trace, "plan runs us"),
        "trace[0]": (trace[0], "device kernel nbytes plan start text units us"),
        "Recorder": (gb.Recorder(start=False), "clear data is_recording max_rows record_raw start stop"),
        "Graph": (gb.Graph(A), " ".join(n for n in dir(gb.Graph) if n[0] != "_")),
        "Graph.degree()": (gb.Graph(A).degree(), ""), "algorithms.Watch": (gb.algorithms.Watch(), ""),
        "loop.Program": (gb.loop.Program(print, while_=v), "checkpoint explain run"),
        "ss.Context": (gb.ss.Context(engage=False), "disengage dup engage"), "distributed.Matrix": (gd.Matrix, ""),
        "distributed.Vector": (gd.Vector, ""), "distributed.TransposedMatrix": (gd.TransposedMatrix, ""),
        "dtypes.INT8": (gb.dtypes.INT8, "gb_name name np_type"), "unary.sqrt": (gb.unary.sqrt, f"{OPERATOR} orig_func"),
        "binary.plus": (gb.binary.plus, f"{OPERATOR} commutes_to is_commutative monoid orig_func"),
        "monoid.plus": (plus, f"{OPERATOR} binaryop identities is_idempotent"),
        "semiring.plus_times": (ring, f"{OPERATOR} binaryop monoid"), "agg.sum": (gb.agg.sum, "name types"),
        "binary.plus[INT64]": (gb.binary.plus["INT64"], f"commutes_to is_commutative is_positional monoid {typed}"),
        "monoid.plus[INT64]": (plus["INT64"], f"binaryop identity is_idempotent {typed}"),
        "semiring.plus_times[INT64]": (ring["INT64"], f"binaryop monoid {typed}"),
        "agg.sum[INT64]": (gb.agg.sum["INT64"], "name return_type"),
    }  # fmt: skip


# ---- names ----

MISSING = object()


def names() -> dict[str, str]:
    """Everything public by its path, as `described`; missing names are omitted."""
    found = {}
    for module, more in {**MODULES, **FEW}.items():
        with contextlib.suppress(ImportError):
            owner = importlib.import_module(module)
            found[module] = "module"
            some = {*more.split(), *(() if module in FEW else getattr(owner, "__all__", ())), *_unlisted(owner)}
            for name in some:
                if (x := getattr(owner, name, MISSING)) is not MISSING:
                    found[f"{module}.{name}"] = described(x, inside=module == "bitblas.device")
    for space in SPACES:
        for path in (space, f"{space}.numpy", f"{space}.ss"):
            with contextlib.suppress(ImportError):
                owner = importlib.import_module(f"bitblas.{path}")
                found[f"bitblas.{path}"] = "module"
                if not path.endswith(".ss") and path != "op.numpy":  # these have the names of others
                    found |= {f"bitblas.{path}.{n}": described(getattr(owner, n)) for n in dir(owner) if n[0] != "_"}
    for path, (x, some) in objects().items():
        for name in some.split() or dir(x):
            if not name.startswith("_") and (some or name not in NOT_PUBLIC):
                found[f"{path} .{name}"] = attribute(x, name)
    return {path: text for path, text in found.items() if text} | compat()


def _unlisted(owner: Any) -> list[str]:
    """Public names of modules that are not in their __all__."""
    if owner.__name__ == "semirings.dtypes":
        return [name for name, x in vars(owner).items() if isinstance(x, owner.DataType)]
    return [n for n in dir(owner) if not n.startswith("_")] if owner.__name__ == "bitblas.agg" else []


def attribute(x: Any, name: str) -> str:
    """An attribute of an object: a function, or a value (a property too, which is not computed); "": missing."""
    kind = x if inspect.isclass(x) else type(x)
    static = inspect.getattr_static(kind, name, None)
    if isinstance(static, property) or inspect.isdatadescriptor(static):
        return "value"
    found = described(value) if (value := getattr(x, name, MISSING)) is not MISSING else ""
    return found.replace("function", "class function") if isinstance(static, (classmethod, staticmethod)) else found


def described(x: Any, inside: bool = False) -> str:
    """The kind of an object, and the signature where it is called: one line."""
    if inspect.ismodule(x):
        return "module"
    if inspect.isclass(x):
        bases = [base.__name__ for base in x.__mro__[1:-1]]
        if issubclass(x, Exception):
            return f"exception ({', '.join(bases)})"
        inside = inside or x.__name__ in MADE_INSIDE or x.__module__.startswith("semirings")
        return "class" if inside else f"class {signature(x)}"
    if inspect.isroutine(x) or hasattr(x, "__wrapped__"):
        return f"function {signature(x)}"
    name = type(x).__name__
    return name if name in ("BinaryOp", "IndexUnaryOp", "Monoid", "SelectOp", "Semiring", "UnaryOp") else "value"


def signature(function: Any) -> str:
    """Parameters with their defaults, without types; "" for what Python's own library defines."""
    if (getattr(function, "__module__", None) or "").partition(".")[0] not in ("bitblas", "semirings"):
        return ""
    found = inspect.signature(function)
    empty = inspect.Parameter.empty
    plain = [
        p.replace(annotation=empty, default=p.default if p.default is empty else _Text(p.default))
        for p in found.parameters.values()
    ]
    return str(inspect.Signature(plain))


class _Text:
    """A default value whose repr is an expression of Python; `...` for a private object."""

    def __init__(self, value: Any) -> None:
        text = getattr(value, "__name__", None) if callable(value) else repr(value)
        try:
            ast.parse(text or str(value), mode="eval")
            self.text = text or str(value)
        except SyntaxError:
            self.text = "..."

    def __repr__(self) -> str:
        return self.text


def parameters(text: str) -> list[tuple[str, str, str | None]]:
    """(name, kind, default or None) of each parameter in the text of a signature."""
    function = ast.parse(f"def f{text}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    a = function.args
    shown = lambda default: None if default is None else ast.unparse(default)
    one = [(p, "positional-only") for p in a.posonlyargs] + [(p, "positional") for p in a.args]
    defaults = [None] * (len(one) - len(a.defaults)) + a.defaults
    found = [(p.arg, kind, shown(d)) for (p, kind), d in zip(one, defaults)]
    found += [(a.vararg.arg, "*", None)] if a.vararg else []
    found += [(p.arg, "keyword-only", shown(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return found + ([(a.kwarg.arg, "**", None)] if a.kwarg else [])


def compat() -> dict[str, str]:
    """Names of the modules that `bitblas.compat.install()` puts in the place of python-graphblas'."""
    import bitblas.compat

    ours = lambda name: name.partition(".")[0] == "graphblas"
    real = {name: sys.modules.pop(name) for name in list(sys.modules) if ours(name)}
    try:
        bitblas.compat.install()
        modules = {name: module for name, module in sys.modules.items() if ours(name)}
        found = dict.fromkeys(modules, "module")
        for path, module in modules.items():
            if path.startswith("graphblas.core"):
                found |= {f"{path}.{name}": "there" for name in vars(module) if not name.startswith("_")}
        return found
    finally:
        bitblas.compat.uninstall()
        sys.modules.update(real)


# ---- the command line, the environment, NetworkX ----


def commands() -> dict[str, dict[str, Any]]:
    """Options and positional arguments of each command, from its parser."""
    from bitblas.cli.parser import parser

    return dict(_actions("bitblas", parser()))


def _actions(path: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, dict[str, Any]]]:
    number = 0
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            first: dict[int, str] = {}
            for name, inner in action.choices.items():
                if (known := first.setdefault(id(inner), name)) != name:
                    yield f"{path} {name}", {"same as": known}
                else:
                    yield f"{path} {name}", {}
                    yield from _actions(f"{path} {name}", inner)
            continue
        number += not action.option_strings
        plain = lambda x: x if x is None or isinstance(x, bool | int | float | str) else repr(x)
        how = {
            "flags": action.option_strings[1:],
            "default": plain(action.default if action.default is not argparse.SUPPRESS else None),
            "choices": list(map(plain, action.choices or ())),
            "nargs": "0" if action.nargs == 0 else action.nargs,
            "type": action.type.__name__ if action.type in (int, float) else None,
            "required": action.required and bool(action.option_strings),
        }
        name = action.option_strings[0] if action.option_strings else f"argument {number}"
        yield f"{path} {name}", {key: x for key, x in how.items() if x not in (None, [], False)}


def library_text() -> str:
    import bitblas

    root = Path(bitblas.__file__).parents[1]
    files = [f for package in ("bitblas", "semirings", "_nx_bitblas") for f in sorted((root / package).rglob("*.py"))]
    return "\n".join(f.read_text() for f in (*files, root / "build_wheel.py"))


def variables() -> list[str]:
    """Of bitblas, and those of other programs that docs name."""
    return sorted({*re.findall(r"\bBITBLAS_[A-Z_]+", library_text()), "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"})


def networkx() -> list[str]:
    from _nx_bitblas.info import get_info

    return sorted(get_info()["functions"])


# ---- objects that saved files hold ----

N = 48


def search(rounds: list[int]) -> tuple[Any, Any, Any]:
    """A program that searches a path of N vertices from its end, its levels, and half of the last level. The recorded
    checkpoint is of the search after 20 rounds."""
    import bitblas as gb

    A = gb.Matrix.from_coo(range(N - 1), range(1, N), True, nrows=N, ncols=N, device="cpu")
    levels, frontier = gb.Vector("INT64", N, device="cpu"), gb.Vector("BOOL", N, device="cpu")
    half = gb.Scalar("FP64")
    frontier[0] = True

    def body(level: int) -> None:
        rounds.append(level)
        levels(frontier.S) << level
        half << level / 2
        frontier(~levels.S, gb.replace) << frontier.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    return gb.loop.Program(body, while_=frontier), levels, half


def pickled(name: str) -> Any:
    """What unpickles to the same object: operators and types; and an equal Scalar."""
    import bitblas as gb

    return {
        "scalar": gb.Scalar.from_value(3.5), "dtype": gb.dtypes.UINT16, "unary": gb.unary.sqrt,
        "binary": gb.binary.plus, "typed": gb.semiring.min_plus["FP32"], "numpy": gb.binary.numpy.hypot,
        "monoid": gb.monoid.max, "select": gb.select.tril, "indexunary": gb.indexunary.rowindex,
        "parameterized": gb.binary.isclose(rel_tol=0.5), "aggregator": gb.agg.mean,
        "typed aggregator": gb.agg.mean["FP32"], "namespace": gb.semiring,
    }[name]  # fmt: skip
