"""Type stubs of the operators: `python -m semirings.stubs` writes names.pyi."""

from __future__ import annotations

from pathlib import Path

from .namespace import Namespace
from .namespaces import SPACES

FILE = Path(__file__).parent / "names.pyi"
HEAD = "# Made by python -m semirings.stubs.\n"


def made() -> str:
    """A class per namespace with the type of each operator; user-defined operators are unknown here."""
    classes, kinds = [], {"Namespace": "namespace"}
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
    return HEAD + "\n".join(imports) + "\n\n" + "\n\n".join(classes) + "\n"


if __name__ == "__main__":
    FILE.write_text(made())
