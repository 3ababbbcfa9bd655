"""What one rank through bitblas.distributed costs over bitblas itself: the same graph, the same questions, in turn.

    python benchmarks/one_rank.py 18 --device cpu
    python benchmarks/one_rank.py 18 24

A line a question: milliseconds without ranks, on one rank, and one over the other; the least of many, as what else the
machine does only adds to it.
"""

from __future__ import annotations

import argparse
import functools
import time

import bitblas as gb
import bitblas.distributed as gd
from benchmarks.ranks import chunks
from bitblas.compare.programs import fixed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scales", type=int, nargs="+")
    parser.add_argument("--device")
    parser.add_argument("--times", type=int, default=31)
    args = parser.parse_args()
    group, al = gd.init(args.device), gb.algorithms
    device = group.device
    clock = time.process_time if device.host_memory and device.threads == 1 else time.perf_counter
    for scale in args.scales:
        source, n = functools.partial(chunks, device.xp, scale, 0, 1), 1 << scale
        A = gb.Matrix.from_chunks(source, True, nrows=n, ncols=n, symmetric=True)
        B = gd.Matrix.from_chunks(source, True, nrows=n, ncols=n, symmetric=True, share=True)
        of_rows = A.mxv(gb.Vector.from_scalar(True, n), gb.semiring.plus_pair["INT64"]).new()
        hub = int(of_rows.to_dense(0).argmax())
        ranked = lambda G: fixed(al.pagerank, G, 20)
        search = functools.partial(lambda hub, G: al.bfs_levels(G, hub), hub)
        for name, run in (
            ("bfs", search), ("pagerank, 20 rounds", ranked), ("components", al.connected_components),
            ("nvals", lambda G: G.nvals),
        ):  # fmt: skip
            found = {"none": [], "one": []}
            for k in range(args.times + 3):
                for who, graph in (("none", A), ("one", B))[:: 1 if k % 2 else -1]:
                    device.synchronize()
                    begin = clock()
                    run(graph)
                    device.synchronize()
                    if k >= 3:
                        found[who].append(1e3 * (clock() - begin))
            none, one = min(found["none"]), min(found["one"])
            print(f"kron{scale} {name}: {none:.3f} ms, on one rank {one:.3f}: {one / none:.3f}", flush=True)


if __name__ == "__main__":
    main()
