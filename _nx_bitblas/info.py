"""NetworkX backend entry point: the functions that bitblas implements, their restrictions, and the default settings."""

from __future__ import annotations

from typing import Any

from .table import TABLE

MIN_EDGES = 10_000  # below this NetworkX finishes before the graph is converted (measured in docs/networkx.md)


def get_info() -> dict[str, Any]:
    """The dictionary for NetworkX's entry point `networkx.backend_info`."""
    return {
        "backend_name": "bitblas",
        "project": "bit-graphblas",
        "package": "bitblas",
        "short_summary": "GraphBLAS on bits, on NVIDIA GPUs and CPUs.",
        "default_config": {"min_edges": MIN_EDGES},
        "functions": {name: _documented(found.refuses) for name, found in sorted(TABLE.items())},
    }


def _documented(refuses: Any) -> dict[str, str]:
    return {"additional_docs": f"Left to NetworkX: {'; '.join(text for text, _ in refuses)}."} if refuses else {}


def listing() -> list[str]:
    """The table as Markdown rows: module of `bitblas.nx`, functions, arguments left to NetworkX."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, found in TABLE.items():
        rows.setdefault((found.module, "; ".join(text for text, _ in found.refuses)), []).append(f"`{name}`")
    return [f"| {module} | {', '.join(names)} | {left} |" for (module, left), names in rows.items()]
