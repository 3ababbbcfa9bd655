"""A group of two ranks, of which one has all data and the other does not exist: distributed loops on one device, with
all work and captures for exchanges but no link. Measures the cost of exchanges without the link, and whether a GPU can
capture them.

    PYTHONPATH=tests python tests/ghost.py 22 [--device cuda]
"""

from __future__ import annotations

import argparse
import functools
import importlib
import time

import numpy as np

import bitblas as gb
import bitblas.distributed as gd
from benchmarks import ranks
from bitblas.distributed import exchange, shares, start
from bitblas.distributed.group import Group
from bitblas.loop.symbolic import recorder

RUNS = 6  # of a program, the first one untimed


class Ghost(Group):
    """Rank 0 of 2. Messages of the other rank equal its own; the other rank has no positions."""

    def __init__(self, device):
        super().__init__(0, 2, device)
        self.captures, self.choice = True, "partitioned"

    def _allgather(self, x, out, counts):
        out[: counts[0]] = x[: counts[0]]

    def _alltoall(self, x, out, sent, received):
        out[: sent[0]] = x[: sent[0]]
        out[sent[0] :] = 0  # the other rank has no entries to send

    def gather_host(self, x, about=""):
        return np.stack([x, x])


def alone(device):
    """The group; facts about objects are those of this rank."""
    group = start._group = Ghost(device)
    shares._even = lambda size, ranks: (0, size, size)
    exchange.share_facts = lambda store: exchange.SharedFacts(
        np.array([store.nvals, 0]), store.values if store.iso else None
    )
    exchange.concatenate = list
    exchange.reduce_scalars = lambda found, monoid: found
    exchange.broadcast = lambda found, dtype, root: found
    return group


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scale", type=int)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    if args.device == "emulator":
        importlib.import_module("emulator.device")  # registers it
    device, al = gb.device.get(args.device), gb.algorithms
    gb.config.device = device.name
    n, source = 1 << args.scale, lambda: ranks.chunks(device.xp, args.scale, 0, 1)
    W = gb.Matrix.from_chunks(source, True, nrows=n, ncols=n, symmetric=True)
    wanted = told("one", lambda: al.connected_components(W), device)
    group, made, sent = alone(device), recorder.rematerialize, []
    for name, how in (("exchanged", lambda body: body), ("recomputed", made)):
        recorder.rematerialize = how
        A = gd.Matrix._of(W, shares.of(n))
        A._known |= {"of": W._stored, "symmetric": True, "symmetric values": True}
        before = group.sent
        found = told(name, functools.partial(al.connected_components, A), device)
        assert found._part.isequal(wanted), name
        sent.append((group.sent - before) // RUNS)
        print(f"{name}: {sent[-1]} bytes a run", flush=True)
    assert sent[0] > 2 * sent[1], sent


def told(name, run, device):
    result = run()
    times = []
    for _ in range(RUNS - 1):
        device.synchronize()
        begin = time.perf_counter()
        result = run()
        device.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    print(f"{name}: {sorted(times)[2]:.2f} ms", flush=True)
    return result


if __name__ == "__main__":
    main()
