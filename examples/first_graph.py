"""A first graph: make it, walk over it, ask what ran and what it costs. Run with: python examples/first_graph.py"""

import bitblas as gb
from bitblas.algorithms import bfs_levels, connected_components, pagerank, triangle_count

# Streets of a town of 40 x 40 crossings: each crossing is joined to the next one to the right and below.
SIDE = 40
n = SIDE * SIDE
right = [(i, i + 1) for i in range(n) if (i + 1) % SIDE]
below = [(i, i + SIDE) for i in range(n - SIDE)]
streets = right + below
rows, cols = zip(*streets, *[(j, i) for i, j in streets])  # both directions

A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)  # one bit an edge: no values are stored
print(f"{A.nrows} crossings, {A.nvals} one-way streets, on {A.device.name}")

# The usual algorithms.
levels = bfs_levels(A, 0)
far = levels.reduce(gb.monoid.max).value
ranks = pagerank(A)
print(f"the farthest crossing is {far} streets away")
print(f"{len(set(connected_components(A).to_coo()[1].tolist()))} connected part, {triangle_count(A)} triangles")
print(f"PageRank sums to {ranks.reduce(gb.monoid.plus).value:.6f}")
assert far == 2 * (SIDE - 1)
assert triangle_count(A) == 0

# The same as algebra: one step from a set of crossings, to those only that are not in it.
frontier = gb.Vector.from_coo([0, 5], True, size=n)
step = frontier.vxm(A, gb.semiring.any_pair)
reached = gb.Vector(gb.dtypes.BOOL, n)
reached(~frontier.S, gb.replace) << step
assert sorted(reached.to_coo()[0].tolist()) == [1, 4, 6, SIDE, SIDE + 5]

# Why it runs as it does, and what it costs.
print(gb.explain(frontier.vxm(A, gb.semiring.any_pair)))  # form, direction, kernel, and the reason
print(A.profile())  # bytes that each form would need, and the choice
print(A.memory())  # bytes that are held now
