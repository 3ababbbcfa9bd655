"""Boolean mxv on a GPU against cuSPARSE's SpMV in FP32: kernel time, bytes that must move, host time of a statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import graphs, table

GRAPHS = ("delaunay_n20", "grid2d_2048", "stencil27_100", "rmat18", "rmat20", "hub_n20", "even_n20")
BANDWIDTH = 4.2e12  # bytes a second that an H200 was seen to read
STATEMENTS = 300
STATEMENT_GRAPH = "grid2d_64"  # so small that the host is what takes the time


def _words(size: int) -> int:
    return 8 * -(-size // 64)


def _moved(nbytes: int, warm: float, flushed: float) -> dict[str, float]:
    """Bytes, their time at BANDWIDTH, and the share of it that was reached with the structure not in the cache."""
    least = nbytes / BANDWIDTH * 1e6
    return {"bytes": nbytes, "least_us": least, "warm_us": warm, "flushed_us": flushed, "reached": least / flushed}


def _cusparse(graph: graphs.Graph, x: np.ndarray, expected: np.ndarray, timer: Any, device: Any) -> dict[str, Any]:
    from .cusparse import Spmv

    ptr, col = device.asarray(graph.ptr.astype(np.int32)), device.asarray(graph.col)
    spmv = Spmv(ptr, col, graph.n, graph.n)
    spmv.x[:] = device.asarray(x.astype(np.float32))
    device.synchronize()
    warm, flushed = timer.warm(spmv.run), timer.flushed(spmv.run)
    nbytes = 4 * (graph.n + 1) + 8 * graph.nvals + 8 * graph.n
    return {**_moved(nbytes, warm, flushed), "equal": bool((device.to_host(spmv.y) == expected).all())}


def _ours(
    graph: graphs.Graph, x: np.ndarray, expected: np.ndarray, form: str, timer: Any, device: Any
) -> dict[str, Any]:
    import bitblas as gb
    from bitblas.store import unpack
    from bitblas.verbs import product
    from semirings.dtypes import BOOL

    asked = {"format": "b2sr", "tile": int(form[4:])} if form.startswith("b2sr") else {"format": form}
    n, semiring = graph.n, gb.semiring.lor_land[BOOL]
    ptr, col = device.asarray(graph.ptr), device.asarray(graph.col)
    built = []
    for _ in range(2):  # the first one compiles
        device.synchronize()
        start = time.perf_counter()
        A = gb.Matrix.from_csr(ptr, col, True, nrows=n, ncols=n, device=device.name, **asked)
        device.synchronize()
        built.append(time.perf_counter() - start)
    v = gb.Vector.from_coo(np.flatnonzero(x), True, size=n, device=device.name)
    assert v.nvals == np.count_nonzero(x)  # known from here on: a captured statement must not count
    plan = gb.explain(A.mxv(v, semiring))
    a, u = A._store, v._store
    last: list[Any] = [None]

    def run() -> Any:
        last[0] = product.mxv(a, u, semiring)
        return last[0]

    def right() -> bool:
        # The store that was made last while the graph was captured: replays alone have written it.
        t = last[0]
        return bool((device.to_host(unpack(device, t.present, n)) == (expected > 0)).all())

    device.synchronize()  # the timer has a stream of its own
    warm = timer.warm(run)
    equal = right()
    flushed = timer.flushed(run)
    equal &= right()
    held = a.structure.form(plan.key, transposed=plan.transposed)
    return {
        **_moved(held.nbytes + 2 * _words(n), warm, flushed),
        "form": plan.key,
        "plan": str(plan),
        "build_seconds": built[-1],
        "equal": equal,
    }


def statement_us(device: Any, name: str = STATEMENT_GRAPH, count: int = STATEMENTS) -> float:
    """Microseconds of the host for one `w(mask, replace) << A.mxv(v, semiring)`: many in a row, then a wait."""
    import bitblas as gb

    graph = graphs.make(name)
    n, on = graph.n, device.name
    A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=n, ncols=n, device=on)
    v = gb.Vector.from_coo(np.flatnonzero(graphs.present(n)), True, size=n, device=on)
    seen = gb.Vector.from_coo(np.arange(0, n, 2), True, size=n, device=on)
    w, semiring, mask = gb.Vector(gb.dtypes.BOOL, n, device=on), gb.semiring.lor_land[gb.dtypes.BOOL], ~seen.S

    def several(times: int) -> float:
        device.synchronize()
        start = time.perf_counter()
        for _ in range(times):
            w(mask, gb.replace) << A.mxv(v, semiring)
        device.synchronize()
        return (time.perf_counter() - start) / times * 1e6

    several(max(1, count // 10))
    return float(np.median([several(count) for _ in range(5)]))


def measure(
    names: Sequence[str] = GRAPHS, formats: Sequence[str] = ("auto",), samples: int = 11, *, device: str = "cuda",
    timer: Any = None, peer: Callable[..., dict[str, Any]] | None = _cusparse, statements: int = STATEMENTS,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Times on the GPU; tables go to `say`, everything into the result. timer: a Timer (see cuda_timing.py)."""
    for form in formats:
        if form not in ("auto", "csr", "b2sr4", "b2sr8", "b2sr16", "b2sr32", "b2sr64"):
            raise ValueError(f"--formats: expected auto, csr or b2sr4 .. b2sr64, got {form!r}")
    from bitblas import device as devices

    d = devices.get(device)
    if timer is None:
        from .cuda_timing import Timer

        timer = Timer(samples)
    result = table.surroundings(device=device, samples=samples, bandwidth=BANDWIDTH, graphs=[])
    result["versions"].update(
        {n: table.version(n) for n in ("cuda-core", "cuda-bindings", "cupy-cuda13x", "cupy-cuda12x")}
    )
    result["gpu"] = _gpu(d)
    heads = (
        "graph",
        "kernel",
        "equal",
        "warm us",
        "flushed us",
        "vs cuSPARSE",
        "MB",
        "least us",
        "reached",
        "build ms",
        "plan",
    )
    for name in names:
        graph = graphs.make(name)
        x = graphs.present(graph.n)
        expected = graph.scipy(dtype=np.float32) @ x.astype(np.float32)
        kernels: dict[str, dict[str, Any]] = {}
        if peer is not None:
            kernels["cuSPARSE"] = peer(graph, x, expected, timer, d)
        for form in formats:
            kernels[form] = _ours(graph, x, expected, form, timer, d)
        result["graphs"].append({"name": graph.name, "n": graph.n, "nvals": graph.nvals, "kernels": kernels})
        say("\n" + table.table(heads, [_row(graph.name, k, kernels) for k in kernels], left=3))
    result["equal"] = all(k["equal"] for g in result["graphs"] for k in g["kernels"].values())
    result["statement_us"] = statement_us(d, count=statements)
    result["hub_over_even"] = _hub_over_even(result["graphs"])
    say(footer(result))
    return result


def _gpu(device: Any) -> str:
    if not device.captures:
        return str(device.name)
    properties = device.xp.cuda.runtime.getDeviceProperties(device.xp.cuda.Device().id)
    return f"{properties['name'].decode()}, driver {device.xp.cuda.runtime.driverGetVersion()}"


def _row(name: str, kernel: str, kernels: dict[str, dict[str, Any]]) -> tuple[Any, ...]:
    k, peer = kernels[kernel], kernels.get("cuSPARSE")
    ratios = None if peer is None else " ".join(f"{peer[t] / k[t]:.2f}x" for t in ("warm_us", "flushed_us"))
    build = 1e3 * k["build_seconds"] if "build_seconds" in k else None
    return (
        name, kernel, "yes" if k["equal"] else "NO", k["warm_us"], k["flushed_us"], ratios, k["bytes"] / 1e6,
        k["least_us"], f"{100 * k['reached']:.0f} %", build, k.get("plan", "FP32 CSR"),
    )  # fmt: skip


def _hub_over_even(measured: list[dict[str, Any]]) -> dict[str, float]:
    """How much longer one row of a million entries makes it, per kernel, flushed."""
    found = {g["name"].split("_")[0]: g["kernels"] for g in measured}
    if "hub" not in found or "even" not in found:
        return {}
    return {k: found["hub"][k]["flushed_us"] / found["even"][k]["flushed_us"] for k in found["hub"]}


def footer(result: dict[str, Any]) -> str:
    lines = [
        f"\n{result['gpu']}. Kernel time: a CUDA graph of 20 repetitions / 20, median of {result['samples']}; warm, "
        "and with the L2 cache flushed before each repetition.",
        f"least: what must move (structure, x, y) at {BANDWIDTH / 1e12} TB/s; reached: least / flushed. "
        f"vs cuSPARSE: warm, flushed. Answers: {'all equal' if result['equal'] else 'NOT ALL EQUAL'}.",
        f"One statement w(mask, replace) << A.mxv(v, semiring) costs the host {result['statement_us']:.1f} us.",
    ]
    if result["hub_over_even"]:
        lines.append("hub / even: " + ", ".join(f"{k} {r:.2f}x" for k, r in result["hub_over_even"].items()))
    return "\n".join(lines)
