"""NetworkX backend: NetworkX functions that run on bitblas.

    nx.pagerank(G, backend="bitblas")           # this call; G is converted, and the conversion kept with it
    NETWORKX_BACKEND_PRIORITY=bitblas           # in the environment: every call that pays
    H = bitblas.nx.from_networkx(G)             # a graph of its own: nx.pagerank(H) runs here

To add a function of NetworkX, write it into the module of NetworkX's name, with NetworkX's signature, and its row into
`_nx_bitblas/table.py`, which NetworkX reads while it is imported itself, and which therefore stands outside of bitblas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .convert import from_networkx
    from .export import to_networkx
    from .graph import Graph

__all__ = ["Graph", "from_networkx", "to_networkx"]


def __getattr__(name: str) -> Any:
    where = {"Graph": "graph", "from_networkx": "convert", "to_networkx": "export"}.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{where}"), name)
