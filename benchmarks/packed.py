"""python -m benchmarks.packed: packed values against arrays of them: bytes per entry, and microseconds of products.

Weights are random, from 1 to --most. Bytes are those of the structure, of the values and of the ranks that lead from a
tile to them, without what was made for other directions. The product is min_plus with a full vector (a pull) and with
one of a thousandth of the entries (a push); every result is compared with that of plain values. A pull's time is that
of its kernels where the device can tell, a push's is what the caller waits for.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bitblas as gb

from . import graphs

GRAPHS = ("rmat16", "delaunay_n16", "road_ny")
FORMS: dict[str, dict[str, Any]] = {key: {"format": key} for key in ("csr", "mplg", "split")}
FORMS["b2sr8"] = {"format": "b2sr", "tile": 8}
HEADER = f"{'form':8s} {'values':>7s} {'B/entry':>8s} {'of it values':>12s} {'pull us':>9s} {'push us':>9s}"


def measure(graph: graphs.Graph, most: int, dtype: str, device: Any, say: Callable[[str], None]) -> bool:
    """Whether packed values gave what plain ones give."""
    kind, n = gb.dtypes.lookup_dtype(dtype).np_type, graph.n
    x = np.random.default_rng(1).integers(1, most, graph.nvals, endpoint=True).astype(kind)
    say(f"\n{graph.name}: {n} rows, {len(x)} entries, {dtype} from 1 to {most}, on {device.name}\n{HEADER}")
    few = np.arange(0, n, 1000)
    vectors = [gb.Vector.from_coo(at, (at % 97).astype(kind), size=n, device=device) for at in (np.arange(n), few)]
    right = True
    for key, form in FORMS.items():
        made = []
        for packed in (False, True):
            A = gb.Matrix.from_coo(graph.rows, graph.col, x, nrows=n, ncols=n, device=device, packed=packed, **form)
            products = [lambda A=A, u=u: u.vxm(A, gb.semiring.min_plus).new() for u in vectors]
            made.append([product() for product in products])
            # The plan of a push reads back how many entries it would go along: no captured graph can hold it.
            us = [
                device.time_us(product, captured=u is vectors[0]) for product, u in zip(products, vectors, strict=True)
            ]
            held = A.memory()
            stored = held.structure + held.values + held.caches.get(f"{A.format} ranks", 0)
            entry = stored / len(x), held.values / len(x)
            what = "packed" if packed else "plain"
            say(f"{key:8s} {what:>7s} {entry[0]:8.2f} {entry[1]:12.2f} {us[0]:9.1f} {us[1]:9.1f}")
        right &= all(plain.isequal(packed) for plain, packed in zip(*made, strict=True))
    return right


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packed", description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), help="as in benchmarks/graphs.py")
    parser.add_argument("--most", type=int, nargs="+", default=[255, 65535], help="the greatest weight")
    parser.add_argument("--dtype", default="INT64", help="of the weights and of the product")
    parser.add_argument("--device", default=None, help="default: cuda if it works")
    options = parser.parse_args(arguments)
    device = gb.device.get(options.device or gb.config.device)
    cases = [(graphs.make(name), most) for name in options.graphs for most in options.most]
    right = [measure(graph, most, options.dtype, device, print) for graph, most in cases]
    print("\nAll results are equal." if all(right) else "\nResults DIFFER.")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
