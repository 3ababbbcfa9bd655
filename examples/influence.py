"""Who is influential: betweenness from a sample of people. Run with: python examples/influence.py [PEOPLE]

Betweenness from all people takes a search from each; from a sample of them it is an estimate, and more of them make a
better one. A search is a program of a few products over the whole graph, on the CPU or on a GPU.
"""

import sys
import time

import numpy as np

import bitblas as gb
from bitblas.algorithms import barabasi_albert_graph, betweenness_centrality, closeness_centrality, pagerank

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
A = barabasi_albert_graph(n, 4, seed=1)  # people who join know those whom many know
rng = np.random.default_rng(1)
order = rng.permutation(n).tolist()
print(f"{n} people, {A.nvals // 2} ties")


def first(scores, count=10):
    """The numbers of those with the highest scores."""
    return np.argsort(-np.asarray(scores.to_dense().tolist()), kind="stable")[:count].tolist()


# The sample in batches: each doubles it, until the first five stay the same.
sums, taken, before, top = gb.Vector.from_scalar(0.0, n), 0, [], []
while taken < n and (not top or set(top[:5]) != set(before[:5])):
    batch, before = order[taken : max(32, 2 * taken)], top
    begin = time.perf_counter()
    sums(gb.monoid.plus) << betweenness_centrality(A, batch)
    taken += len(batch)
    top = first(sums)
    print(f"  {taken} of {n} sources, {time.perf_counter() - begin:.2f} s: {', '.join(map(str, top))}")

print(f"{'person':>8} {'betweenness':>12} {'PageRank':>9} {'closeness':>10} {'ties':>5}")
ranks, near = pagerank(A), closeness_centrality(A)
ties = A.reduce_rowwise(gb.agg.count).new()
for v in top[:5]:
    share = sums[v].value / taken / (n - 1)  # of the shortest paths between two others, those through v
    print(f"{v:>8} {share:>12.4f} {ranks[v].value:>9.4f} {near[v].value:>10.3f} {ties[v].value:>5}")

if n <= 2000:
    whole = first(betweenness_centrality(A))
    print(f"of the first ten by all sources, the sample has {len(set(whole) & set(top))}")
    assert len(set(whole) & set(top)) >= 8 and taken < n
