"""python -m benchmarks.builds: making stored forms, transposing them, and what that takes in memory, on one device.

Times are of whole calls, the device synchronised before and after: median of --samples. The peak (GPU) is all that
CuPy's pool gave out at once during the call, over the bytes of input and output; both are part of it. Every result is
compared with one that was made another way.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bitblas as gb
from bitblas.formats.b2sr.layout import B2sr
from bitblas.formats.csr import layout as csr
from bitblas.formats.split import layout as split

from . import graphs

GRAPHS = ("delaunay_n20", "grid2d_2048", "rmat20", "hub_n20")
TILES = (8, 4, 32)
HEADER = f"{'ms':>9s} {'G/s':>7s} {'peak':>6s}  what"


def median_ms(device: Any, run: Callable[[], Any], samples: int) -> float:
    times = []
    for _ in range(samples + 1):  # the first one compiles
        device.synchronize()
        start = time.perf_counter()
        kept = run()
        device.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
        del kept
    return float(np.median(times[1:]))


def peak_bytes(device: Any, run: Callable[[], Any]) -> int | None:
    """The most bytes that were given out at once, results included; None where nobody counts them."""
    if device.name == "cpu" or not hasattr(device.xp, "cuda"):
        return None
    hook_type = device.xp.cuda.memory_hook.MemoryHook

    class Peak(hook_type):
        name, now, top = "peak", 0, 0

        def malloc_postprocess(self, **made: Any) -> None:
            self.now += made["mem_size"]
            self.top = max(self.top, self.now)

        def free_postprocess(self, **gone: Any) -> None:
            self.now -= gone["mem_size"]

    with Peak() as peak:
        run()
        device.synchronize()
    return int(peak.top)


Step = tuple[str, Callable[[], Any], int, int]  # what, how, bytes of the input, of the output


def calls(graph: graphs.Graph, device: Any) -> tuple[list[Step], bool]:
    """What users call; and whether they give the same matrix."""
    rows, col, nvals = device.asarray(graph.rows), device.asarray(graph.col.astype(np.int64)), graph.nvals
    ptr, narrow = device.asarray(graph.ptr.astype(np.int32)), device.asarray(graph.col)
    shuffled = device.asarray(np.random.default_rng(1).permutation(nvals))
    mixed, x = (rows[shuffled], col[shuffled]), device.asarray(np.arange(nvals, dtype=np.float64))
    n = {"nrows": graph.n, "ncols": graph.n, "device": device}
    made = gb.Matrix.from_coo(*mixed, True, **n)
    out, coo, csr_bytes = made.memory().total, 16 * nvals, ptr.nbytes + narrow.nbytes
    steps: list[Step] = [
        ("from_coo, in order", lambda: gb.Matrix.from_coo(rows, col, True, **n), coo, out),
        ("from_coo, shuffled", lambda: gb.Matrix.from_coo(*mixed, True, **n), coo, out),
        ("from_coo, shuffled, FP64", lambda: gb.Matrix.from_coo(*mixed, x, **n), coo + x.nbytes, csr_bytes + x.nbytes),
        ("from_csr", lambda: gb.Matrix.from_csr(ptr, narrow, True, **n), csr_bytes, out),
        ("to_csr", lambda: made.to_csr(), out, 9 * nvals + 8 * graph.n),
    ]
    return steps, made.isequal(gb.Matrix.from_csr(ptr, narrow, True, **n))


def forms(graph: graphs.Graph, device: Any) -> tuple[list[Step], bool]:
    """From one stored form to another; and whether every way back gives what was there."""
    ptr, col = device.asarray(graph.ptr), device.asarray(graph.col)
    A, order = csr.from_arrays(device, graph.n, graph.n, ptr, col), 4 * graph.nvals
    right = A.transpose(False)[0].transpose(False)[0].equals(A)
    steps: list[Step] = [
        ("CSR to its transpose", lambda: A.transpose(False), A.nbytes, A.nbytes),
        ("CSR to its transpose, with the order", lambda: A.transpose(True), A.nbytes, A.nbytes + order),
    ]
    for tile in TILES:
        B, key = B2sr.from_csr(A, tile, False)[0], f"B2SR-{tile}"
        right &= B.to_csr(False)[0].equals(A) and B.transpose(False)[0].transpose(False)[0].equals(B)
        steps += [
            (f"CSR to {key}", lambda t=tile: B2sr.from_csr(A, t, False), A.nbytes, B.nbytes),
            (
                f"CSR to {key}, with the order",
                lambda t=tile: B2sr.from_csr(A, t, True),
                A.nbytes,
                B.nbytes + order,
            ),
            (f"{key} to CSR", lambda B=B: B.to_csr(False), B.nbytes, A.nbytes),
            (f"{key} to its transpose", lambda B=B: B.transpose(False), B.nbytes, B.nbytes),
        ]
    for tile in split.TILES:
        S, key = split.Split.from_csr(A, tile, False)[0], f"Split-{tile}"
        right &= S.to_csr(False)[0].equals(A) and S.transpose(False)[0].transpose(False)[0].equals(S)
        steps += [
            (f"CSR to {key}", lambda t=tile: split.Split.from_csr(A, t, False), A.nbytes, S.nbytes),
            (f"{key} to CSR", lambda S=S: S.to_csr(False), S.nbytes, A.nbytes),
            (f"{key} to its transpose", lambda S=S: S.transpose(False), S.nbytes, S.nbytes),
        ]
    return steps, right


def measure(names: Sequence[str], device: Any, samples: int, say: Callable[[str], None]) -> bool:
    """Whether every result was right."""
    right = True
    for name in names:
        graph = graphs.make(name)
        say(f"\n{name}: {graph.n} rows, {graph.nvals} entries, on {device.name}\n{HEADER}")
        for part in (calls, forms):
            steps, same = part(graph, device)
            right &= same
            for what, run, given, result in steps:
                ms, top = median_ms(device, run, samples), peak_bytes(device, run)
                peak = "-" if top is None else f"{(given + top) / (given + result):.2f}"
                say(f"{ms:9.2f} {graph.nvals / ms / 1e6:7.2f} {peak:>6s}  {what}")
    say("all results are right" if right else "WRONG RESULTS")
    return right


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.builds", description=__doc__)
    p.add_argument("--device", default="cpu")
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py) or .mtx files, with commas")
    p.add_argument("--samples", type=int, default=5)
    args = p.parse_args(argv)
    device = gb.device.get(args.device)
    return 0 if measure(args.graphs.split(","), device, args.samples, lambda text: print(text, flush=True)) else 1


if __name__ == "__main__":
    sys.exit(main())
