"""Products on a GPU against cuSPARSE's SpMV in FP32: kernel time, least memory traffic, host time of a statement.

Boolean mxv, plus_second (FP32, no weights stored) and min_plus (FP32 with weights); cuSPARSE computes plus_times in
FP32 on the same graph, with the weights if bitblas reads them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bitblas.formats import FORMATS as KEYS
from bitblas.formats import NAMES

from . import graphs, table
from .graphs import numbers, present
from .verbs import VERBS, Verb, answer_of, difference

GRAPHS = ("delaunay_n20", "grid2d_2048", "stencil27_100", "rmat18", "rmat20", "hub_n20", "even_n20")
PRODUCTS = tuple(name for name, verb in VERBS.items() if verb.explain is not None)
FORMATS = tuple(dict.fromkeys(("auto", *NAMES, *KEYS)))
PEER = "cuSPARSE"
TOLERANCE = 1e-5  # of cuSPARSE's FP32 sums, whose order differs; some exceed 2^24
BANDWIDTH = 4.2e12  # bytes per second that an H200 reached
STATEMENTS = 300
STATEMENT_GRAPH = "grid2d_64"  # so small that the host dominates


def _words(size: int) -> int:
    return 8 * -(-size // 64)


def _moved(nbytes: int, warm: float, flushed: float) -> dict[str, float]:
    """Bytes, their time at BANDWIDTH, and that time over the time with a flushed cache."""
    least = nbytes / BANDWIDTH * 1e6
    return {"bytes": nbytes, "least_us": least, "warm_us": warm, "flushed_us": flushed, "reached": least / flushed}


def _cusparse(graph: graphs.Graph, weighted: bool, timer: Any, device: Any) -> dict[str, Any]:
    from .cusparse import Spmv

    values = graph.weights if weighted else np.ones(graph.nvals, np.float32)
    x = numbers(graph.n)
    spmv = Spmv(*(device.asarray(a) for a in (graph.ptr, graph.col, values)), graph.n, graph.n)
    spmv.x[:] = device.asarray(x)
    device.synchronize()
    warm, flushed = timer.warm(spmv.run), timer.flushed(spmv.run)
    nbytes = 4 * (graph.n + 1) + 8 * graph.nvals + 8 * graph.n
    expected = graph.scipy(values) @ x.astype(np.float64)
    equal = np.allclose(device.to_host(spmv.y), expected, rtol=TOLERANCE, atol=0)
    return {**_moved(nbytes, warm, flushed), "equal": bool(equal)}


def _matrix(graph: graphs.Graph, weighted: bool, form: str, device: Any) -> tuple[Any, float]:
    """The graph in a format, and the seconds of building it."""
    import bitblas as gb

    name = form if form in NAMES else form.rstrip("0123456789")
    asked = {"format": name, "tile": int(form[len(name) :])} if name != form else {"format": form}
    ptr, col = device.asarray(graph.ptr), device.asarray(graph.col)
    values = device.asarray(graph.weights) if weighted else True
    for _ in range(2):  # the first one compiles
        device.synchronize()
        start = time.perf_counter()
        A = gb.Matrix.from_csr(ptr, col, values, nrows=graph.n, ncols=graph.n, device=device.name, **asked)
        device.synchronize()
        seconds = time.perf_counter() - start
    A._read(now=True)  # builds the planned format now, which is never built in a capture
    return A, seconds


def _ours(graph: graphs.Graph, verb: Verb, A: Any, timer: Any, device: Any) -> dict[str, Any]:
    import bitblas as gb

    with gb.config.set(device=device.name):
        delayed = verb.explain(gb, A, graph)
    u = delayed.args[1]._store
    assert u.nvals >= 0  # counts now, because a captured statement must not
    plan = gb.explain(delayed)
    last: list[Any] = [None]

    def run() -> Any:
        last[0] = delayed.run(None)
        return last[0]

    expected = verb.reference(graph)

    def right() -> bool:
        # The last store of the capture: only replays have written it.
        t = last[0]
        t.count = None
        got = answer_of(gb.Vector._from_store(t))
        return difference(tuple(device.to_host(a) for a in got), expected) <= verb.tolerance

    device.synchronize()  # the timer has a stream of its own
    warm = timer.warm(run)
    equal = right()
    flushed = timer.flushed(run)
    equal &= right()
    held = A._store.structure.layout(plan.key, transposed=plan.transposed)
    values = 0 if A._store.iso else A._store.values.nbytes
    x = _words(u.size) if u.iso else u.values.nbytes
    y = _words(u.size) + (0 if last[0].iso else last[0].values.nbytes)
    return {**_moved(held.nbytes + values + x + y, warm, flushed), "form": plan.key, "plan": str(plan), "equal": equal}


def statement_us(device: Any, name: str = STATEMENT_GRAPH, count: int = STATEMENTS) -> float:
    """Microseconds of the host for one `w(mask, replace) << A.mxv(v, semiring)`: many in a row, then a wait."""
    import bitblas as gb

    graph = graphs.make(name)
    n, on = graph.n, device.name
    A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=n, ncols=n, device=on)
    v = gb.Vector.from_coo(np.flatnonzero(present(n)), True, size=n, device=on)
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
    names: Sequence[str] = GRAPHS, formats: Sequence[str] = ("auto",), samples: int = 11,
    verbs: Sequence[str] = PRODUCTS, *, device: str = "cuda", timer: Any = None,
    peer: Callable[..., dict[str, Any]] | None = _cusparse, statements: int = STATEMENTS,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Times on the GPU; tables are passed to `say`, everything is in the result. timer: a Timer (cuda_timing.py)."""
    for form in formats:
        if form not in FORMATS:
            raise ValueError(f"--formats: expected some of {', '.join(FORMATS)}, got {form!r}")
    for verb in verbs:
        if verb not in PRODUCTS:
            raise ValueError(f"--verbs: expected some of {', '.join(PRODUCTS)} on a GPU, got {verb!r}")
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
    for name in names:
        found = _graph(graphs.make(name), formats, verbs, d, timer, peer)
        result["graphs"].append(found)
        say(text(found))
    result["equal"] = all(k["equal"] for g in result["graphs"] for v in g["verbs"].values() for k in v.values())
    result["statement_us"] = statement_us(d, count=statements)
    result["hub_over_even"] = _hub_over_even(result["graphs"])
    say(footer(result))
    return result


def _graph(
    graph: graphs.Graph, formats: Sequence[str], verbs: Sequence[str], device: Any, timer: Any,
    peer: Callable[..., dict[str, Any]] | None,
) -> dict[str, Any]:  # fmt: skip
    """Every verb on one graph: the figures of each kernel by verb, the peer's first."""
    found: dict[str, Any] = {"name": graph.name, "n": graph.n, "nvals": graph.nvals, "build_seconds": {}}
    found["verbs"] = {verb: {} for verb in verbs}
    for weighted in (False, True):
        mine = [verb for verb in verbs if (VERBS[verb].form == "weighted") == weighted]
        if mine and peer is not None:
            theirs = peer(graph, weighted, timer, device)
            for verb in mine:
                found["verbs"][verb][PEER] = theirs
        for form in formats if mine else ():
            A, seconds = _matrix(graph, weighted, form, device)
            found["build_seconds"][f"{form}{', weighted' * weighted}"] = seconds
            for verb in mine:
                found["verbs"][verb][form] = _ours(graph, VERBS[verb], A, timer, device)
    return found


HEADS = ("verb", "kernel", "equal", "warm us", "flushed us", f"vs {PEER}", "MB", "least us", "reached", "plan")


def text(found: dict[str, Any]) -> str:
    """The table of one graph."""
    builds = ", ".join(f"{form} {1e3 * s:.1f} ms" for form, s in found["build_seconds"].items())
    rows = [_row(verb, kernel, kernels) for verb, kernels in found["verbs"].items() for kernel in kernels]
    head = f"\n{found['name']}: {found['n']} vertices, {found['nvals']} entries; built: {builds}"
    return f"{head}\n{table.table(HEADS, rows, left=3)}"


def _gpu(device: Any) -> str:
    if not device.captures:
        return str(device.name)
    properties = device.xp.cuda.runtime.getDeviceProperties(device.xp.cuda.Device().id)
    return f"{properties['name'].decode()}, driver {device.xp.cuda.runtime.driverGetVersion()}"


def _row(verb: str, kernel: str, kernels: dict[str, dict[str, Any]]) -> tuple[Any, ...]:
    k, peer = kernels[kernel], kernels.get(PEER)
    ratios = None if peer is None else " ".join(f"{peer[t] / k[t]:.2f}x" for t in ("warm_us", "flushed_us"))
    return (
        verb, kernel, "yes" if k["equal"] else "NO", k["warm_us"], k["flushed_us"], ratios, k["bytes"] / 1e6,
        k["least_us"], f"{100 * k['reached']:.0f} %", k.get("plan", "plus_times FP32, CSR"),
    )  # fmt: skip


def _hub_over_even(measured: list[dict[str, Any]]) -> dict[str, float]:
    """Slowdown by one row of a million entries, per verb and kernel, flushed."""
    found = {g["name"].split("_")[0]: g["verbs"] for g in measured}
    if "hub" not in found or "even" not in found:
        return {}
    return {
        f"{verb} {k}": hub[k]["flushed_us"] / found["even"][verb][k]["flushed_us"]
        for verb, hub in found["hub"].items()
        for k in hub
    }


def footer(result: dict[str, Any]) -> str:
    lines = [
        f"\n{result['gpu']}. Kernel time: a CUDA graph of 20 repetitions / 20, median of {result['samples']}; warm, "
        "and with the L2 cache flushed before each repetition.",
        f"least: what must move (structure, x, y) at {BANDWIDTH / 1e12} TB/s; reached: least / flushed. "
        f"vs {PEER}: warm, flushed. Answers: {'all equal' if result['equal'] else 'NOT ALL EQUAL'}.",
        f"One statement w(mask, replace) << A.mxv(v, semiring) costs the host {result['statement_us']:.1f} us.",
    ]
    if result["hub_over_even"]:
        lines.append("hub / even: " + ", ".join(f"{k} {r:.2f}x" for k, r in result["hub_over_even"].items()))
    return "\n".join(lines)
