"""Kronecker graphs on several ranks, or on one device: search, PageRank and components.

    bitblas run -n 2 benchmarks/ranks.py 25 26      # scales: 2**25 vertices, 16 edges each, both ways
    python benchmarks/ranks.py 25 26 --whole        # bitblas without ranks, on one device

Prints one JSON line per scale and program: median milliseconds (PageRank: of a round), G edges/s, bytes that rank 0
sent (search: see `levels`), the share of time that the host waits in calls of the group (on GPUs also for captured
loops), and a number for comparing answers.
"""

import argparse
import gc
import json
import time

import numpy as np

import bitblas as gb
import bitblas.distributed as gd
from bitblas.compare import fixed

CHUNK = 25  # log2 of the edges generated at once
KRON = """
unsigned long long x = e * 0x9E3779B97F4A7C15ull + 1;
long long a = 0, b = 0;
for (int k = 0; k < scale; ++k) {
    x ^= x >> 30; x *= 0xBF58476D1CE4E5B9ull; x ^= x >> 27; x *= 0x94D049BB133111EBull; x ^= x >> 31;
    double u = (double)(x >> 11) * (1.0 / 9007199254740992.0);
    a = 2 * a + (u >= 0.76);
    b = 2 * b + ((u >= 0.57 && u < 0.76) || u >= 0.95);
    x += 0x9E3779B97F4A7C15ull;
}
const long long low = (1ll << scale) - 1;
row = (a * 2654435761ll + 12345) & low;
col = (b * 2654435761ll + 12345) & low;
"""


def edges(xp, first, count, scale):
    """The ends of edges `first` to `first + count` of a Kronecker graph, the same on every device."""
    if hasattr(xp, "ElementwiseKernel"):  # CuPy
        e = xp.arange(first, first + count, dtype=np.uint64)
        kernel = xp.ElementwiseKernel("uint64 e, int32 scale", "int64 row, int64 col", KRON, "kron")
        return kernel(e, np.int32(scale))
    x = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    a, b = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for _ in range(scale):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            x ^= x >> np.uint64(shift)
            x *= np.uint64(factor)
        u = (x >> np.uint64(11)) / 2.0**53
        a, b = 2 * a + (u >= 0.76), 2 * b + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
        x += np.uint64(0x9E3779B97F4A7C15)
    low = (1 << scale) - 1
    return (a * 2654435761 + 12345) & low, (b * 2654435761 + 12345) & low


def chunks(xp, scale, rank, ranks):
    """The entries of this rank's part of the edges, in both directions."""
    total = 16 << scale
    step = min(1 << CHUNK, max(1, total // (4 * ranks)))
    for k, first in enumerate(range(0, total, step)):
        if k % ranks == rank:
            i, j = edges(xp, first, min(step, total - first), scale)
            yield xp.concatenate([i, j]), xp.concatenate([j, i])


class Bench:
    """One graph: its build and its programs, each printed as a line by rank 0."""

    def __init__(self, group, device, scale, sources, rounds, form=None):
        self.group, self.device, self.scale, self.sources, self.rounds = group, device, scale, sources, rounds
        self.lib = gb if group is None else gd
        self.rank, self.ranks = (0, 1) if group is None else (group.rank, group.size)
        begin, n = time.perf_counter(), 1 << scale
        how = ({} if group is None else {"share": True}) | ({} if form is None else {"format": form})
        source = lambda: chunks(device.xp, scale, self.rank, self.ranks)
        self.A = self.lib.Matrix.from_chunks(source, True, nrows=n, ncols=n, symmetric=True, **how)
        self.wait()
        self.entries = self.A.nvals
        self.print("build", 1e3 * (time.perf_counter() - begin), 0, 0, self.entries)

    def wait(self):
        if self.group is None:
            self.device.synchronize()
        else:
            self.group.barrier()

    def print(self, what, ms, sent, share, answer, **more):
        row = {"ranks": self.ranks, "scale": self.scale, "what": what, "ms": round(ms, 3)}
        row |= {"gedges": round(self.entries / ms / 1e6, 2), "sent": sent, "calls": round(share, 3), "answer": answer}
        if self.rank == 0:
            print(json.dumps(row | more), flush=True)

    def spent(self):
        """Seconds now, bytes sent and seconds in collectives so far."""
        return time.perf_counter(), *((0, 0.0) if self.group is None else (self.group.sent, self.group.seconds))

    def run(self, what, run, times, answer, parts=1, more=lambda v: {}):
        """Measure run(k): the median of `times`. answer(result), more(result): printed. parts: rounds of a run, of
        which one is printed."""
        run(0)
        found = []
        for k in range(times):
            self.wait()
            before = self.spent()
            result = run(k)
            self.wait()
            found.append([b - a for a, b in zip(before, self.spent())])
        seconds, sent, calls = sorted(found)[len(found) // 2]
        self.print(what, 1e3 * seconds / parts, sent // parts, calls / seconds, answer(result), **more(result))

    def programs(self):
        A, lib, al, times = self.A, self.lib, gb.algorithms, self.rounds
        degrees = A.mxv(lib.Vector.from_scalar(True, A.nrows), lib.semiring.plus_pair[lib.dtypes.INT64]).new()
        some = degrees.select("valuegt", 0).new().to_coo(values=False)[0]
        picked = [int(some[k * len(some) // self.sources]) for k in range(self.sources)]
        total = lambda v: int(v.reduce("plus").new().value)
        largest = lambda v: float(v.reduce("max").new().value)

        def components(v):
            roots = gb.binary.eq(v & v.apply(gb.indexunary.index).new()).new()
            return int(roots.reduce(gb.monoid.plus[gb.dtypes.INT64]).new().value)

        levels = lambda v: {"levels": 1 + int(largest(v))}
        self.run("bfs", lambda k: al.bfs_levels(A, picked[k]), self.sources, total, more=levels)
        self.run("pagerank round", lambda k: fixed(al.pagerank, A, times), 3, largest, times)
        self.run("components", lambda k: al.connected_components(A), 3, components)
        if not self.device.host_memory:
            memory = [A.memory().total, self.device.xp.get_default_memory_pool().total_bytes()]
            held, pool = memory if self.group is None else self.group.allreduce(np.array(memory), np.maximum).tolist()
            self.print("memory", 1, 0, 0, f"{held >> 20} MiB held, {pool >> 20} in the pool", peak=pool)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scales", type=int, nargs="+")
    parser.add_argument("--whole", action="store_true", help="without ranks")
    parser.add_argument("--device", help="with --whole")
    parser.add_argument("--sources", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--format", help="stored format of the matrix, such as nib; default: planned")
    args = parser.parse_args()
    group = None if args.whole else gd.init()
    device = gb.device.get(args.device or gb.config.device) if group is None else group.device
    gb.config.device = device.name
    for scale in args.scales:
        bench = Bench(group, device, scale, args.sources, args.rounds, args.format)
        bench.programs()
        del bench
        gc.collect()
        if not device.host_memory:
            device.xp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
