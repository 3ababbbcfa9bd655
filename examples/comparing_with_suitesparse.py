"""The same statements on bitblas and on SuiteSparse:GraphBLAS: answers, times, bytes. Needs python-graphblas.

Run: python examples/comparing_with_suitesparse.py. For a file of yours: bitblas compare FILE
"""

import os
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads of one library must not take the other's cores

import graphblas
import numpy as np

import bitblas

# A triangulated grid: 300 x 300 crossings, each joined to the next to the right, below, and diagonally.
side = 300
at = np.arange(side * side).reshape(side, side)
pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:]), (at[:-1, :-1], at[1:, 1:])]
i, j = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
rows, cols, n = np.concatenate([i, j]), np.concatenate([j, i]), side * side


def neighbours(gb, A):
    """The vertices that one step leads to from every hundredth vertex."""
    v = gb.Vector.from_coo(range(0, n, 100), True, size=n)
    return v.vxm(A, gb.semiring.any_pair).new()


def triangles(gb, A):
    """Each triangle is counted once: at the entry (i, j) of L, the k with k < j < i."""
    L = A.select("tril").new()
    return L.mxm(L.T, gb.semiring.plus_pair).new(mask=L.S).reduce_scalar(gb.monoid.plus).new()


def levels(gb, A):
    """Breadth-first search from a corner."""
    level = gb.Vector(gb.dtypes.INT64, n)
    frontier = gb.Vector.from_coo([0], True, size=n)
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, gb.replace) << frontier.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])
        depth += 1
    return level


def timed(program, gb, A):
    """The answer, and the best time of three in milliseconds after one run to warm up."""
    answer, best = program(gb, A), float("inf")
    for _ in range(3):
        start = time.perf_counter()
        program(gb, A)
        best = min(best, time.perf_counter() - start)
    return answer, 1000 * best


ours = bitblas.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, device="cpu")
theirs = graphblas.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
print(f"{n} vertices, {ours.nvals} entries; milliseconds: bitblas, SuiteSparse")
for program in (neighbours, triangles, levels):
    answer, here = timed(program, bitblas, ours)
    reference, there = timed(program, graphblas, theirs)
    print(f"{program.__name__:12}{here:10.2f}{there:10.2f}")
    if program is triangles:
        assert answer.value == reference.value == 2 * (side - 1) ** 2
    else:
        assert bitblas.io.to_graphblas(answer).isequal(reference)
print(f"bytes of the structure: {ours.memory().structure} as {ours.format}, {theirs.ss.nbytes} in SuiteSparse")
assert bitblas.io.to_graphblas(ours).isequal(theirs)
