"""Distances on roads, and the ways: shortest-path trees. Run with: python examples/roads.py [GRAPH.mtx] [FROM] [TO]

Without a file it is a town of 60 x 60 crossings, none quite at its place, with streets of different length. A search
gives the distance to every crossing and, for each, the one before it: the whole tree of ways.
"""

import sys
import time
from itertools import pairwise

import numpy as np

import bitblas as gb
from bitblas.algorithms import bfs_levels, grid_graph, sssp, sssp_tree


def town(side):
    """The streets in meters, an INT64 Matrix: crossings are some 100 m apart, give or take."""
    y, x = np.divmod(np.arange(side * side), side)
    place = 100 * np.stack([x, y]) + np.random.default_rng(1).normal(0, 25, (2, side * side))
    i, j, _ = (np.array(part.tolist()) for part in grid_graph(side, side).to_coo())
    length = np.hypot(*(place[:, i] - place[:, j])).astype(np.int64) + 1
    return gb.Matrix.from_coo(i, j, length, nrows=side * side, ncols=side * side)


A = gb.io.mmread(sys.argv[1]) if len(sys.argv) > 1 else town(60)
start, end = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((2, 0), (3, A.nrows - 1)))
print(f"{A.nrows} crossings, {A.nvals} roads, lengths {A.dtype.name}, on {A.device.name}")

begin = time.perf_counter()
distance, before = sssp_tree(A, start)
taken = time.perf_counter() - begin
far = distance.reduce(gb.monoid.max).value
print(f"{distance.nvals} can be reached from {start}, the farthest at {far:g} ({taken:.2f} s)")
if distance.get(end) is None:
    raise SystemExit(f"{end} cannot be reached from {start}")

# The way: from the end, always to the crossing before.
parents = before.to_dense(-1).tolist()
way = [end]
while way[-1] != start:
    way.append(parents[way[-1]])
way.reverse()
length = sum(A[u, v].value for u, v in pairwise(way))
print(f"from {start} to {end}: {length:g} over {len(way)} crossings")
print("  " + " - ".join(map(str, [*way[:5], "..", *way[-5:]] if len(way) > 12 else way)))
assert length == distance[end].value

# The fewest crossings make another way: no shorter one, with no more crossings.
fewest = bfs_levels(A, start)[end].value
print(f"with the fewest crossings: {fewest + 1}")
assert fewest + 1 <= len(way)

# From several places at once: how far the nearest one is, as for fire stations.
stations = [k * A.nrows // 8 for k in range(8)]
nearest = sssp(A, stations)
mean, most = nearest.reduce(gb.monoid.plus).value / nearest.nvals, nearest.reduce(gb.monoid.max).value
print(f"with {len(stations)} stations: {mean:.0f} to the nearest one on average, {most:g} at most")
assert most <= far
