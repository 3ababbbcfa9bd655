"""A graph on all ranks: built, searched and ranked in shares; then betweenness, whose sources are dealt to the ranks.

Run with: bitblas run -n 2 examples/many_gpus.py (on CPUs: --device cpu). A number after it is the scale: 2**scale
vertices.
"""

import sys
import time

import numpy as np

import bitblas.distributed as gd
from bitblas.algorithms import betweenness_centrality, bfs_levels, connected_components, pagerank

group = gd.init()
scale = int(sys.argv[1]) if len(sys.argv) > 1 else 12
n, edges = 1 << scale, 16 << scale
xp = group.device.xp  # NumPy or CuPy


def chunks(parts=8):
    """This rank's part of an R-MAT graph, both directions, some edges at a time: no rank ever has all of them."""
    for part in group.part(range(parts)):
        random = xp.random.RandomState(part)
        i, j = xp.zeros(edges // parts, np.int64), xp.zeros(edges // parts, np.int64)
        for _ in range(scale):
            x = random.random_sample(len(i))
            i, j = 2 * i + (x > 0.76), 2 * j + (((x > 0.57) & (x <= 0.76)) | (x > 0.95))
        i, j = ((end * 2654435761 + 1) % n for end in (i, j))  # so that hubs are spread over the ranks
        yield xp.concatenate([i, j]), xp.concatenate([j, i])


A = gd.Matrix.from_chunks(chunks, True, nrows=n, ncols=n, share=True, symmetric=True)
entries = A.nvals
print(f"rank {group.rank} of {group.size} on {group.device.name}: rows {A.shares.low} to {A.shares.high}", flush=True)


def timed(what, run):
    run()  # kernels are compiled, and copies of the graph are made
    group.barrier()
    begin, sent = time.perf_counter(), group.sent
    found = run()
    group.barrier()
    if group.rank == 0:
        ms, bytes_sent = 1e3 * (time.perf_counter() - begin), group.sent - sent
        print(f"{what}: {ms:.1f} ms, {bytes_sent} bytes sent by this rank", flush=True)
    return found


degrees = A.reduce_rowwise(gd.agg.count).new()
source = int(degrees.to_dense(0).argmax())
levels = timed("search", lambda: bfs_levels(A, source))
ranks = timed("PageRank", lambda: pagerank(A))
parts = timed("components", lambda: connected_components(A))

# Each rank runs the searches from its part of the sources on its own copy of the graph; the sums are added at the end.
sources = degrees.to_coo()[0][:16].tolist()
between = timed("betweenness of 16 sources", lambda: betweenness_centrality(A, sources))
for algorithm in (bfs_levels, betweenness_centrality):
    plan = gd.explain(A, algorithm)  # on all ranks
    if group.rank == 0:
        print(plan)

total, reached = ranks.reduce(gd.monoid.plus).new().value, levels.nvals
same = parts.select("==", parts[source].new().value).new().nvals
if group.rank == 0:
    print(f"{n} vertices, {entries} entries; {reached} reached; PageRank sums to {total:.6f}")
assert abs(total - 1) < 1e-6 and reached == same and between.nvals == n
