"""Single cells: Leiden communities of an AnnData object, in place of `scanpy.tl.leiden`.

    import bitblas.scanpy
    bitblas.scanpy.leiden(adata, resolution=0.5)

The object is only read and written by name (`obsp`, `uns`, `obs`), so neither anndata nor scanpy is needed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import extras
from .algorithms import leiden as leiden_communities
from .algorithms import modularity
from .core import Vector
from .exceptions import DimensionMismatch, InvalidValue
from .graph import Clustering, Graph
from .io import from_scipy_sparse

__all__ = ["leiden"]

KEY = "leiden"


def leiden(
    adata: Any,
    resolution: float = 1,
    *,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    random_state: int | None = 0,
    key_added: str = KEY,
    adjacency: Any = None,
    directed: bool | None = None,
    use_weights: bool = True,
    n_iterations: int = -1,
    partition_type: Any = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
    flavor: str | None = None,
    tol: float = 1e-4,
    device: str | None = None,
) -> Any:
    """Cluster the cells of an AnnData object by Leiden's algorithm, as `scanpy.tl.leiden(adata)` does.

    Parameters
    ----------
    device : optional
        "cpu", "cuda"; None: that of the configuration.

    Returns
    -------
    AnnData or None
        With copy, a changed copy of adata.

    Raises
    ------
    ValueError
        No neighbours, obsp and neighbors_key together, directed, partition_type, categories.
    InvalidValue
        adjacency not symmetric, weights below 0.
    DimensionMismatch
    ImportError
        Without pandas.

    Notes
    -----
    The parameters are those of scanpy, so that a call changes by its import; the graph is
    `adata.obsp["connectivities"]`, as `pp.neighbors` stores it. The same random_state gives the same
    clusters, on CPU and GPU. n_iterations and flavor are accepted and have no effect: a level ends if a
    round gains less than `tol` in modularity.

    Sets `adata.obs[key_added]`, a pandas Categorical of "0", "1", .. (the largest cluster first), and
    `adata.uns[key_added]`: params, and modularity. With restrict_to, (key of obs, categories), only
    these cells are clustered, and `obs[key_added + "_R"]` has the others' categories unchanged.
    """
    if directed:
        raise ValueError(
            "directed: expected None or False, because the communities are of an undirected graph, got True"
        )
    if partition_type is not None:
        raise ValueError(
            f"partition_type: expected None, which is modularity with a resolution, got {partition_type!r}"
        )
    pandas = extras.load("pandas", "bitblas.scanpy.leiden")
    if adjacency is None:
        adjacency = _neighbors(adata, obsp, neighbors_key)
    if adjacency.shape[0] != adjacency.shape[1] or adjacency.shape[0] != len(adata.obs):
        raise DimensionMismatch(f"adjacency: expected {len(adata.obs)} x {len(adata.obs)}, got {adjacency.shape}")
    chosen = None
    if restrict_to is not None:
        key, categories = restrict_to
        chosen = _cells_of(adata, key, categories)
        adjacency = adjacency.tocsr()[chosen, :][:, chosen]
    A = from_scipy_sparse(adjacency.tocsr(), device=device)
    if not A.isequal(A.T):
        raise InvalidValue("adjacency: expected a symmetric matrix, such as pp.neighbors stores, got another")
    found = leiden_communities(A, weighted=use_weights, resolution=resolution, tol=tol, seed=random_state)
    clusters = Clustering(Graph(A, directed=False), A.device.to_host(found.to_dense()))
    labels = Vector.from_dense(clusters.membership, device=A.device.name)
    quality = modularity(A, labels, weighted=use_weights, resolution=resolution)
    names = clusters.membership.astype("U")
    if restrict_to is not None:
        key, categories = restrict_to
        key_added = f"{key_added}_R" if key_added == KEY else key_added
        every = np.asarray(adata.obs[key]).astype("U").astype(object)
        every[chosen] = [f"{'-'.join(categories)},{name}" for name in names.tolist()]
        names = every.astype("U")
    adata = adata.copy() if copy else adata
    adata.obs[key_added] = pandas.Categorical(names, categories=sorted(set(names.tolist()), key=_natural))
    params = {"resolution": resolution, "random_state": random_state, "n_iterations": n_iterations}
    adata.uns[key_added] = {"params": params, "modularity": float(quality)}
    return adata if copy else None


def _neighbors(adata: Any, obsp: str | None, neighbors_key: str | None) -> Any:
    """The graph that scanpy would take."""
    if obsp is not None and neighbors_key is not None:
        raise ValueError("obsp, neighbors_key: expected one of them, got both")
    if neighbors_key is not None and neighbors_key not in adata.uns:
        raise ValueError(f"neighbors_key: expected a key of adata.uns, got {neighbors_key!r}")
    if obsp is None:
        stored = adata.uns.get(neighbors_key or "neighbors", {})
        obsp = str(stored.get("connectivities_key", "connectivities"))
    if obsp not in adata.obsp:
        raise ValueError(
            f"adata: expected neighbours in adata.obsp[{obsp!r}], got none. Hint: scanpy.pp.neighbors(adata)"
        )
    return adata.obsp[obsp]


def _cells_of(adata: Any, key: str, categories: Sequence[str]) -> np.ndarray:
    known = set(map(str, np.unique(np.asarray(adata.obs[key]).astype("U"))))
    for category in categories:
        if not isinstance(category, str) or category not in known:
            raise ValueError(f"restrict_to: expected categories of obs[{key!r}], as strings, got {category!r}")
    found: np.ndarray = np.isin(np.asarray(adata.obs[key]).astype("U"), list(categories))
    return np.flatnonzero(found)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """The key by which "10" comes after "9"."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.findall(r"\d+|\D+", name)]
