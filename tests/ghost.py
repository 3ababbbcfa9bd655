"""Ranks of which one has everything, and the other is not there: loops in shares on one device, with all that is made,
captured and chosen for what they exchange, and nobody to exchange it with. So it is seen what that costs beside the
link, and whether a GPU takes it.

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
from benchmarks import ranks, rounds
from bitblas.distributed import exchange, shares, start
from bitblas.distributed.group import Group
from bitblas.loop.gpu import exchange as chosen
from bitblas.loop.symbolic import recorder


class Ghost(Group):
    """Rank 0 of 2. The other one says what this one does, and has no positions."""

    def __init__(self, device):
        super().__init__(0, 2, device)
        self.captures = self.splits = True

    def _allgather(self, x, out, counts):
        out[: counts[0]] = x[: counts[0]]

    def _alltoall(self, x, out, sent, received):
        out[: sent[0]] = x[: sent[0]]

    def gather_host(self, x, about=""):
        return np.stack([x, x])


def alone(device):
    """The group, and all of what is told of objects this rank's."""
    group = start._group = Ghost(device)
    shares._even = lambda size, ranks: (0, size, size)
    exchange.share_facts = lambda store: exchange.SharedFacts(
        np.array([store.nvals, 0]), store.values if store.iso else None
    )
    exchange.concatenated = list
    exchange.reduced = lambda found, monoid: found
    exchange.broadcast = lambda found, dtype, root: found
    return group


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scale", type=int)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--launches", action="store_true")
    parser.add_argument("--least", type=int, default=chosen.LEAST)
    args = parser.parse_args()
    if args.device == "emulator":
        importlib.import_module("emulator.device")  # registers it
    device, al = gb.device.get(args.device), gb.algorithms
    gb.config.device = device.name
    n, source = 1 << args.scale, lambda: ranks.chunks(device.xp, args.scale, 0, 1)
    with rounds.looked_at():
        W = gb.Matrix.from_chunks(source, True, nrows=n, ncols=n, symmetric=True)
        wanted = told("one", lambda: al.connected_components(W), device, args.launches)
        group, made, sent = alone(device), recorder.rematerialize, []
        for name, how, least in (
            ("exchanged", lambda body: body, 1 << 60), ("recomputed", made, 1 << 60), ("lists", made, args.least),
        ):  # fmt: skip
            recorder.rematerialize, chosen.LEAST = how, least
            A = gd.Matrix._of(W, shares.of(n))
            A._known |= {"of": W._stored, "symmetric": True, "symmetric values": True}
            before, runs = group.sent, 7 if args.launches else 6
            found = told(name, functools.partial(al.connected_components, A), device, args.launches)
            assert found._part.isequal(wanted), name
            sent.append((group.sent - before) // runs)
            print(f"{name}: {sent[-1]} bytes a run", flush=True)
        assert sent[0] > 2 * sent[1] > 2 * sent[2], sent


def told(name, run, device, launches):
    result = run()
    times = []
    for _ in range(5):
        device.synchronize()
        begin = time.perf_counter()
        result = run()
        device.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    print(f"{name}: {sorted(times)[2]:.2f} ms", flush=True)
    if launches:
        with rounds.timed() as found:
            run()
        print(found.table(), flush=True)
    return result


if __name__ == "__main__":
    main()
