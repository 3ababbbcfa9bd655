"""Algorithms for NetworkX, from graphblas-algorithms, which was written for python-graphblas, on bitblas.

Needs `pip install networkx` and `pip install --no-deps graphblas-algorithms`; says so and stops where they are missing.
"""

import importlib.util
import warnings

import bitblas.compat
import bitblas.io

bitblas.compat.install()  # from here on `import graphblas` means bitblas

missing = [name for name in ("networkx", "graphblas_algorithms") if importlib.util.find_spec(name) is None]
if missing:
    print(f"not installed: {', '.join(missing)}; pip install networkx; pip install --no-deps graphblas-algorithms")
    raise SystemExit(0)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the two packages say about each other's versions
    import graphblas_algorithms as ga
    import networkx as nx

    G = nx.karate_club_graph()
    A = bitblas.io.from_scipy_sparse(nx.to_scipy_sparse_array(G, weight=None))
    ranks, triangles = ga.pagerank(ga.Graph(A)), ga.triangles(ga.Graph(A))

    expected = nx.pagerank(G, weight=None)
    print("matrix:", type(ga.Graph(A)._A).__module__)
    print("PageRank agrees:", all(abs(expected[v] - ranks.get(v)) < 1e-6 for v in G))
    print("triangles agree:", triangles.to_dict() == {v: n for v, n in nx.triangles(G).items() if n})
