"""Kronecker graphs in shares: search, PageRank, components on several ranks, and on one GPU as it is.

    bitblas run -n 2 benchmarks/ranks.py 25 26      # scales: 2**25 vertices, 16 edges each, both ways
    python benchmarks/ranks.py 25 26 --whole        # bitblas without ranks, on one device
    bitblas run -n 2 benchmarks/ranks.py 24 --kill  # the last rank is killed in the middle of a loop
    python benchmarks/many.py 26 27                 # all numbers of ranks of a host, as one table

A line a scale and question: milliseconds (the median; of a round for PageRank), G edges/s, bytes that this rank sent
(of a search: in how many levels), the share of the time that its calls took (with waiting for the others; of loops on
GPUs in a run with marks of the clock between the launches), and a number by which answers are compared.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import threading
import time

import numpy as np

import bitblas as gb
import bitblas.distributed as gd
from benchmarks import rounds
from bitblas.compare.programs import fixed

CHUNK = 25  # log2 of the edges that are made together
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
    """The ends of edges of a Kronecker graph by their numbers, the same on every device."""
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
    """This rank's share of the entries, both ways."""
    total = 16 << scale
    step = min(1 << CHUNK, max(1, total // (4 * ranks)))
    for k, first in enumerate(range(0, total, step)):
        if k % ranks == rank:
            i, j = edges(xp, first, min(step, total - first), scale)
            yield xp.concatenate([i, j]), xp.concatenate([j, i])


class Watched:
    """The device time of a group's calls, by events around them; on a CPU that of the host."""

    def __init__(self, group):
        self.group, self.marks = group, []
        for name in ("_allgather", "_alltoall"):
            setattr(group, name, self.around(getattr(type(group), name).__get__(group)))

    def around(self, call):
        def run(*args):
            begin = self.group.device.mark()
            call(*args)
            if begin is not None:  # else it is captured, in a loop whose rounds nobody looks at
                self.marks.append((begin, self.group.device.mark()))

        return run

    def seconds(self):
        found = sum(self.group.device.elapsed(*pair) for pair in self.marks) / 1e6
        self.marks.clear()
        return found


class Bench:
    """One graph: its questions, each told as a line by the first rank."""

    def __init__(self, group, device, scale, sources, rounds, launches=False, form=None):
        self.group, self.device, self.scale, self.sources, self.rounds = group, device, scale, sources, rounds
        self.launches = launches
        self.lib = gb if group is None else gd
        self.rank, self.ranks = (0, 1) if group is None else (group.rank, group.size)
        self.watched = None if group is None else Watched(group)
        begin, n = time.perf_counter(), 1 << scale
        how = ({} if group is None else {"share": True}) | ({} if form is None else {"format": form})
        source = lambda: chunks(device.xp, scale, self.rank, self.ranks)
        self.A = self.lib.Matrix.from_chunks(source, True, nrows=n, ncols=n, symmetric=True, **how)
        self.settle()
        self.entries = self.A.nvals
        self.tell("build", 1e3 * (time.perf_counter() - begin), 0, 0, self.entries)

    def settle(self):
        if self.group is None:
            self.device.synchronize()
        else:
            self.group.barrier()

    def tell(self, what, ms, sent, share, answer, **more):
        row = {"ranks": self.ranks, "scale": self.scale, "what": what, "ms": round(ms, 3)}
        row |= {"gedges": round(self.entries / ms / 1e6, 2), "sent": sent, "calls": round(share, 3), "answer": answer}
        if self.rank == 0:
            print(json.dumps(row | more), flush=True)

    def timed(self, run, times):
        """Median milliseconds of run(k), bytes sent and the share of calls in it; the last result."""
        run(0)
        found = []
        for k in range(times):
            self.settle()
            if self.watched:
                self.watched.marks.clear()
            begin, before = time.perf_counter(), 0 if self.group is None else self.group.sent
            result = run(k)
            self.settle()
            ms = 1e3 * (time.perf_counter() - begin)
            share = 1e3 * self.watched.seconds() / ms if self.watched else 0
            found.append((ms, 0 if self.group is None else self.group.sent - before, share))
        return *sorted(found)[len(found) // 2], result

    def calls(self, what, share, run):
        """The share of the time in calls: of loops that are captured in one more run, with marks between launches."""
        if self.device.host_memory:
            return share
        self.settle()
        with rounds.timed() as found:
            run()
        self.settle()
        if self.launches and self.rank == 0:
            print(f"{what}, scale {self.scale}, {self.ranks} ranks\n{found.table()}", flush=True)
        return found.calls / found.total if found.total else share

    def asked(self, what, run, times, answer, parts=1, more=lambda v: {}):
        """A question: run(k), told by answer(result) and more(result). parts: rounds, of which one is told."""
        ms, sent, share, v = self.timed(run, times)
        self.tell(what, ms / parts, sent // parts, self.calls(what, share, lambda: run(0)), answer(v), **more(v))

    def questions(self, more=False):
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
        self.asked("bfs", lambda k: al.bfs_levels(A, picked[k]), self.sources, total, more=levels)
        ranked = lambda kind: lambda k: fixed(al.pagerank, A, times, dtype=kind)
        self.asked("pagerank round", ranked(None), 3, largest, times)
        if more:
            self.asked("pagerank round, FP32", ranked("FP32"), 3, largest, times)
            self.asked("label propagation", lambda k: al.label_propagation(A, max_iter=3), 1, components)
        self.asked("components", lambda k: al.connected_components(A), 3, components)
        held = A.memory().total
        if not self.device.host_memory:
            pool = self.device.xp.get_default_memory_pool().total_bytes()
            held, pool = self.most([held, pool])
            self.tell("memory", 1, 0, 0, f"{held >> 20} MiB held, {pool >> 20} in the pool", peak=pool)

    def most(self, numbers):
        """The largest of all ranks."""
        return numbers if self.group is None else self.group.allreduce(np.array(numbers), np.maximum).tolist()

    def kill(self):
        """The last rank is killed in the middle of a loop that would not end: what the others say, and how soon."""
        if self.rank == self.ranks - 1:
            threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        self.settle()
        begin = time.perf_counter()
        try:
            gb.algorithms.pagerank(self.A, max_iter=10**6, tol=1e-300)
        except gb.exceptions.DistributedError as error:
            seconds = time.perf_counter() - begin
            print(json.dumps({"ranks": self.ranks, "rank": self.rank, "killed": str(error), "s": seconds}), flush=True)
            raise SystemExit(3) from None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scales", type=int, nargs="+")
    parser.add_argument("--whole", action="store_true", help="without ranks")
    parser.add_argument("--device", help="of --whole")
    parser.add_argument("--sources", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--launches", action="store_true", help="the launches of loops, with the time of each")
    parser.add_argument("--more", action="store_true", help="PageRank of FP32 and label propagation too")
    parser.add_argument("--format", help="the form of the matrix, such as nib; else the plan's")
    parser.add_argument("--kill", action="store_true", help="kill the last rank in the middle of a loop")
    args = parser.parse_args()
    if args.whole:
        group, device = None, gb.device.get(args.device or gb.config.device)
        gb.config.device = device.name
    else:
        group = gd.init()
        device = group.device
    for scale in args.scales:
        bench = Bench(group, device, scale, args.sources, args.rounds, args.launches, args.format)
        with rounds.looked_at():
            bench.kill() if args.kill else bench.questions(args.more)
        del bench
        gc.collect()
        if not device.host_memory:
            device.xp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
