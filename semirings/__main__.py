"""Command-line entry point for generated files: the page of all operators, and their type stubs.

python -m semirings > docs/semirings.md
python -m semirings stubs > semirings/names.pyi
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from . import dtypes, numpy_operators
from .algebra import Monoid
from .catalog import BINARY, INDEXUNARY, MONOIDS, NAMED_SEMIRINGS, PARAMETERIZED, UNARY, is_close
from .dtypes import DataType
from .expressions import ByKind
from .laws import ULPS
from .namespaces import SPACES, Namespace
from .operators import BinaryOp, Operator
from .udf_cuda import CALLS

DATA = Path(__file__).parent / "data"
PROSE = DATA / "semirings.md"  # the page's template: {name} is replaced by a generated part
ALGORITHMS = DATA / "algorithms.md"  # by docs/semiring_schemes.py
GROUPS = {
    "all": dtypes.ALL, "all real": (dtypes.BOOL, *dtypes.NUMBERS), "complex": dtypes.COMPLEX,
    "floats and complex": dtypes.FLOATS + dtypes.COMPLEX, "numbers and complex": dtypes.NUMBERS + dtypes.COMPLEX,
    "integers": dtypes.INTEGERS, "numbers": dtypes.NUMBERS, "floats": dtypes.FLOATS,
    "unsigned": tuple(t for t in dtypes.INTEGERS if t.kind == "u"), "BOOL": (dtypes.BOOL,),
    "BOOL, 8 and 16 bits": tuple(t for t in dtypes.ALL if t.nbytes <= 2),
    "integers of 32 and 64 bits": tuple(t for t in dtypes.INTEGERS if t.nbytes >= 4),
}  # fmt: skip


def names_of(types: Iterable[DataType]) -> str:
    """The name of a group of types, or the names of the types."""
    found = set(types)
    return next((name for name, group in GROUPS.items() if set(group) == found), ", ".join(t.name for t in types))


def signature(types: dict[DataType, DataType]) -> str:
    """Operand and result types: `all -> T`, `integers -> BOOL`, exceptions after a semicolon."""
    same = [t for t, z in types.items() if t is z]
    by_result: dict[DataType, list[DataType]] = {}
    for t, z in types.items():
        if t is not z:
            by_result.setdefault(z, []).append(t)
    if len(by_result) == 1 and (z := next(iter(by_result))) in same and len(same) == 1:
        return f"{names_of(types)} -> {z}"
    parts = [f"{names_of(same)} -> T"] if same else []
    for z, given in by_result.items():
        rest = len(parts) and len(by_result) == 1 and len(types) == len(dtypes.ALL)
        parts.append(f"{'others' if rest else names_of(given)} -> {z}")
    return "; ".join(parts)


def expression(op: Operator) -> str:
    """The formula, by kind of operand if they differ. A complex formula `complex_NAME` is the default and left out."""
    texts = dict.fromkeys(("BOOL", "integers", "floats", "complex"), op.expr)
    if isinstance(op.expr, ByKind):
        kinds = {t.kind for t in op.types}
        texts = {name: op.expr.texts[name[0].lower()] for name in texts if name[0].lower() in kinds}
    if len(set(texts.values())) == 1:
        texts = {"": texts.popitem()[1]}
    if len(texts) > 1 and len({text for kind, text in texts.items() if kind != "complex"}) == 1:
        texts = {"": next(iter(texts.values())), "complex": texts["complex"]}
        if texts["complex"] == f"complex_{texts['']}":
            del texts["complex"]
    return "; ".join(f"{kind}: `{text}`" if kind else f"`{text}`" for kind, text in texts.items())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def operators(ops: dict[str, Operator]) -> str:
    """The operators as lists, one for each signature; unary ones that call the function of their name share a line."""
    by_types: dict[str, list[str]] = {}
    calls: dict[str, list[str]] = {}
    for name, op in ops.items():
        types, text = signature(op.types), expression(op)
        if text == f"`{name}(x)`":
            by_types.setdefault(types, [])
            calls.setdefault(types, []).append(text)
            continue
        line = f"- {text}" if text == f"`{name}(x, y)`" else f"- `{name}`: {text}"
        if isinstance(op, BinaryOp) and (other := op.commutes_to) is not None:
            line += ", commutative" if other is op else f", exchanged: `{other.name}`"
        by_types.setdefault(types, []).append(line)
    for types, texts in calls.items():
        by_types[types].insert(0, f"- {', '.join(texts)}")
    return "\n\n".join("\n".join([f"{types}:", "", *lines]) for types, lines in by_types.items())


def monoids(listed: Mapping[str, Monoid]) -> str:
    rows = []
    for name, m in listed.items():
        ones = {t: m.identity(t) for t in m.types}
        shown = {"max": "least value", "min": "greatest value"}.get(name.replace("imum", ""), "")
        last = {"max": "greatest value", "min": "least value", "bor": "all bits", "any": "any value"}.get(name)
        some = next(iter(ones))
        one = shown or ("all bits" if name in ("band", "bxnor") else str(ones[some]))
        terminal = m.terminal(some)
        end = last or ("" if terminal is None else str(terminal))
        repeated = "" if m.is_idempotent else f"`{m.repeated}`" if m.repeated else "by doubling"
        rows.append([f"`{name}`", signature(m.types), one, end, repeated])
    return table(["name", "types", "identity", "terminal", "sum of k equal values, unless idempotent"], rows)


def page() -> str:
    types = [[f"`{t.name}`", f"`{t.np_type.name}`", f"`{t.c_type}`"] for t in dtypes.ALL]
    far = {k: [n for n in ULPS if ULPS[n] == k] for k in sorted(set(ULPS.values()))}
    parts = {
        "dtypes": table(["name", "NumPy", "CUDA C++"], types),
        "unary": operators(dict(UNARY)),
        "binary": operators({**BINARY, **{n: is_close() for n in PARAMETERIZED}}),
        "indexunary": operators(dict(INDEXUNARY)),
        "monoids": monoids(MONOIDS),
        "named": " ".join(f"`{name}`" for name in NAMED_SEMIRINGS),
        "ulps": "; ".join(f"{k}: {' '.join(names)}" for k, names in far.items()),
        "numpy_unary": operators(dict(numpy_operators.UNARY)),
        "numpy_binary": operators(dict(numpy_operators.BINARY)),
        "numpy_monoids": monoids(numpy_operators.MONOIDS),
        "algorithms": ALGORITHMS.read_text().rstrip(),
        "calls": ", ".join(f"`{name}`" for name in CALLS),
    }
    text = PROSE.read_text()
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return text


def stubs() -> str:
    """The text of names.pyi: a class per namespace with the type of each operator that is not user-defined."""
    classes, kinds = [], {"Namespace": "namespaces"}
    for family, space in SPACES.items():
        lines = []
        for name in sorted(space.__all__):
            found = space[name]
            if name.isidentifier() and not isinstance(found, Namespace):
                kind = type(found)
                kinds[kind.__name__] = kind.__module__.rpartition(".")[2]
                lines.append(f"    {name}: {kind.__name__}")
        head = f"class {family.capitalize()}Names(Namespace):"
        classes.append("\n".join([head, *lines]) if lines else f"{head} ...")
    # The first that has a name wins. The last namespace has no names: ruff keeps one-line classes together.
    classes[-1] += "\nclass OpNames(UnaryNames, BinaryNames, SemiringNames): ..."
    modules: dict[str, list[str]] = {}
    for name, module in kinds.items():
        modules.setdefault(module, []).append(name)
    imports = [f"from .{module} import {', '.join(sorted(names))}" for module, names in sorted(modules.items())]
    return "# Made by python -m semirings stubs.\n" + "\n".join(imports) + "\n\n" + "\n\n".join(classes) + "\n"


if __name__ == "__main__":
    print(stubs() if sys.argv[1:] == ["stubs"] else page(), end="")
