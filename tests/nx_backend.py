"""Register the backend with NetworkX even if this tree is not installed; the entry points are those of
pyproject.toml."""

from __future__ import annotations

import re
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

ROOT = Path(__file__).parents[1]
GROUPS = ("networkx.backends", "networkx.backend_info")


def entry_points() -> dict[str, str]:
    """Group -> its entry point, module:attribute."""
    text = (ROOT / "pyproject.toml").read_text()
    found = {}
    for group in GROUPS:
        match = re.search(rf'^\[project\.entry-points\."{re.escape(group)}"\]\nbitblas = "(.+)"$', text, re.M)
        assert match, group
        found[group] = match[1]
    return found


def installed(folder: Path) -> Path:
    """Fill `folder` so that, in PYTHONPATH, it registers the backend in a new process, unless an installed package
    does: NetworkX warns if two register one name."""
    if any(found.name == "bitblas" for found in metadata.entry_points(group=GROUPS[0])):
        folder.mkdir(parents=True)
        return folder
    info = folder / "bit_graphblas_tree-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bit-graphblas-tree\nVersion: 0\n")
    lines = (f"[{group}]\nbitblas = {value}\n" for group, value in entry_points().items())
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


def register() -> None:
    """Register with the NetworkX of this process, as its import would have."""
    import networkx as nx
    from networkx.utils.backends import _dispatchable, backend_info, backends

    if "bitblas" in backends:
        return
    points = {group: EntryPoint("bitblas", value, group) for group, value in entry_points().items()}
    backends["bitblas"] = points["networkx.backends"]
    backend_info["bitblas"] = points["networkx.backend_info"].load()()
    settings = nx.utils.Config(**backend_info["bitblas"]["default_config"])
    nx.config.backends = nx.utils.Config(**{**dict(nx.config.backends), "bitblas": settings})
    _dispatchable.__call__ = _dispatchable._call_if_any_backends_installed
