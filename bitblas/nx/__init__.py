"""NetworkX backend: NetworkX functions that run on bitblas.

    nx.pagerank(G, backend="bitblas")           # this call; G is converted, and the conversion is cached with it
    NETWORKX_BACKEND_PRIORITY=bitblas           # in the environment: every call that pays off
    H = bitblas.nx.from_networkx(G)             # a graph of the backend: nx.pagerank(H) runs here

To add a function of NetworkX, write it in the module of its subject, with NetworkX's name and signature, and add a
row to `_nx_bitblas/table.py`. That table is outside of bitblas because NetworkX reads it during its own import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .convert import from_networkx
    from .graph import Graph, to_networkx

__all__ = ["Graph", "from_networkx", "to_networkx"]


def __getattr__(name: str) -> Any:
    where = {"Graph": "graph", "from_networkx": "convert", "to_networkx": "graph"}.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{where}"), name)
