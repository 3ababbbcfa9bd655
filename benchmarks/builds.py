"""python -m benchmarks.builds: time and peak memory of building, transposing and reading stored formats, on one device.

Times are medians of --samples synchronized calls. The peak (GPU) is the memory of CuPy's pool that was allocated at
once during the call, input and output included, over the bytes of input and output. Every result is compared with one
that was built in another way.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bitblas as gb
from bitblas.formats.b2sr.layout import B2sr
from bitblas.formats.csr import layout as csr
from bitblas.formats.split import layout as split

from . import graphs, table

GRAPHS = ("delaunay_n20", "grid2d_2048", "rmat20", "hub_n20")
TILES = (8, 4, 32)
HEADER = f"{'ms':>9s} {'G/s':>7s} {'peak':>6s}  what"


def peak_bytes(device: Any, run: Callable[[], Any]) -> int | None:
    """The most bytes that were allocated at once, results included; None if the device does not count them."""
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


Step = tuple[str, Callable[[], Any], int, int]  # name, call, bytes of the input, bytes of the output


def calls(graph: graphs.Graph, device: Any) -> tuple[list[Step], bool]:
    """The calls of users, and whether they give the same matrix."""
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
    """Conversions between stored formats, and whether every conversion back restores the matrix."""
    ptr, col = device.asarray(graph.ptr), device.asarray(graph.col)
    A, order = csr.from_arrays(device, graph.n, graph.n, ptr, col), 4 * graph.nvals
    right = A.transpose(False)[0].transpose(False)[0].equals(A)
    steps: list[Step] = [
        ("CSR to its transpose", lambda: A.transpose(False), A.nbytes, A.nbytes),
        ("CSR to its transpose, with the order", lambda: A.transpose(True), A.nbytes, A.nbytes + order),
    ]
    for name, layout, tiles in (("B2SR", B2sr, TILES), ("Split", split.Split, split.TILES)):
        for tile in tiles:
            B, key = layout.from_csr(A, tile, False)[0], f"{name}-{tile}"
            right &= B.to_csr(False)[0].equals(A) and B.transpose(False)[0].transpose(False)[0].equals(B)
            build = functools.partial(layout.from_csr, A, tile)
            steps.append((f"CSR to {key}", functools.partial(build, False), A.nbytes, B.nbytes))
            if layout is B2sr:
                ordered = functools.partial(build, True)
                steps.append((f"CSR to {key}, with the order", ordered, A.nbytes, B.nbytes + order))
            steps.append((f"{key} to CSR", functools.partial(B.to_csr, False), B.nbytes, A.nbytes))
            steps.append((f"{key} to its transpose", functools.partial(B.transpose, False), B.nbytes, B.nbytes))
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
                ms, top = float(np.median(table.timed(device, run, samples)[1])), peak_bytes(device, run)
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
    return 0 if measure(args.graphs.split(","), device, args.samples, table.say) else 1


if __name__ == "__main__":
    sys.exit(main())
