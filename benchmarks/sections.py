"""Sections of the results page other than algorithm times: graph libraries on a CPU, bytes, builds, repeated sums,
closeness, GAP, LDBC Graphalytics, graphs that fill a device, process start. Each section is made from the JSON of its
benchmark, in the folder of benchmarks/stored/ with its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

FORMS = {"csr": "CSR", "mplg": "MPLG", "b2sr8": "B2SR-8", "split8": "Split-8", "nib": "NIB", "cgr": "CGR"}
SUITESPARSE = "SuiteSparse"


def read(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The runs of a section, in the order of their files' names."""
    return [json.loads(path.read_text()) for path in sorted((folder / kind).glob("*.json"))]


def _where(run: dict[str, Any], how: str, commits: Sequence[str] = ()) -> str:
    """The line below a table: commits, date, device."""
    machine = run["machine"]
    device = run["device"] if run.get("gpu") else f"{machine['processor']}, {machine['cores']} cores"
    note = f" ({run['commit_note']})" if run.get("commit_note") else ""
    changed = " and changes" if run.get("changed_since_commit") else ""
    which = ", ".join(commits) or run["commit"][:7]
    return f"\nbitblas {which}{changed}{note}, {run['time'][:10]}, {device}. {how}\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def sizes(folder: Path) -> str:
    """Bytes per entry of graphs without weights, in each stored format, and in SuiteSparse."""
    parts = []
    for run in read(folder, "bytes"):
        rows = []
        for row in run["rows"]:
            least = min(row[key] for key in FORMS)
            cells = [f"**{row[key]:.2f}**" if row[key] == least else f"{row[key]:.2f}" for key in FORMS]
            theirs = row[SUITESPARSE]
            beside = ["", ""] if theirs is None else [f"{theirs:.2f}", f"{theirs / least:.1f}"]
            rows.append([row["graph"], f"{row['edges'] / 1e6:.1f}", *cells, *beside])
        version = run["peer"]["suitesparse-graphblas"]
        heads = ["bytes an entry", "M entries", *FORMS.values(), f"{SUITESPARSE} {version}", "times smaller"]
        how = "Exact, with pointers, in the graphs' own order; `python -m benchmarks.bytes`."
        parts.append(f"{_table(heads, rows)}\n{_where(run, how)}")
    said = "Bold: the smallest, compared with SuiteSparse. By default bitblas chooses the fastest format of no more\n"
    said += (
        "bytes than CSR instead; on a GPU a search of RMAT 20 or 22 along NIB takes 1.7 to 1.9 times as long as along\n"
    )
    said += "CSR, along CGR 2.0 to 2.2 times ([loops.md](loops.md#formats-and-load-balancing))."
    return "\n".join(["## Bytes\n", *parts, said, ""]) if parts else ""


def builds(folder: Path) -> str:
    """Milliseconds from sorted coordinates to a matrix, for bitblas and SuiteSparse."""
    from .results import ratio

    rows, where = [], []
    for path in sorted(folder.glob("*.json")):
        run = json.loads(path.read_text())
        for graph in run.get("graphs", ()):
            for layout in graph["forms"]:
                ours, theirs = (1e3 * median(layout["build_seconds"][who]) for who in ("bitblas", SUITESPARSE))
                held, beside = (layout["bytes"][who] / 1e6 for who in ("bitblas", SUITESPARSE))
                rows.append([
                    graph["name"], "none" if layout["form"] == "pattern" else "FP32",
                    f"{ours:.1f}", f"{theirs:.1f}", ratio(ours, theirs), f"{held:.1f}", f"{beside:.1f}",
                ])  # fmt: skip
        if "graphs" in run:
            where.append(_where(run, "").strip())
    if not rows:
        return ""
    heads = ["build", "weights", "ms", f"{SUITESPARSE}, ms", "times faster", "MB", f"{SUITESPARSE}, MB"]
    said = (
        "From sorted coordinates, medians of three. Without weights both store one value; column indices have 64 bits\n"
        "in SuiteSparse here, 32 in bitblas.\n"
    )
    if any("slower" in row[4] for row in rows):
        said += "Where bitblas is slower: the reason is not known.\n"
    return "\n".join(["## Builds\n", _table(heads, rows), f"\n{' '.join(dict.fromkeys(where))}\n", said])


def closeness(folder: Path) -> str:
    """Exact closeness: searches and entries a second."""
    parts = []
    for run in read(folder, "closeness"):
        rows = [
            [
                row["graph"], f"{row['n']:,}", f"{row['nvals'] / 1e6:.1f}", f"{row['searches']:,}", f"{row['s']:.2f}",
                f"{row['searches_per_s']:,.0f}", f"{row['G_entries_per_s']:.0f}",
                f"{row['whole_s']:.2f}" if row["whole"] else f"{row['whole_s']:.0f} (estimated)",
            ]
            for row in run["rows"]
        ]  # fmt: skip
        heads = ["closeness", "vertices", "M entries", "searches", "s", "searches/s", "G entries/s", "all vertices, s"]
        parts.append(f"{_table(heads, rows)}\n{_where(run, '`python -m benchmarks.closeness`.')}")
    said = (
        "A search from every vertex, 64 at once. Where not all ran, evenly spaced batches of 64 did, and the time of\n"
    )
    said += "all is estimated from theirs. A search reads the entries of its source's component."
    return "\n".join(["## Exact closeness\n", *parts, said, ""]) if parts else ""


def scale(folder: Path) -> str:
    """Graphs that fill a device."""
    rows = []
    runs = sorted(read(folder, "scale"), key=lambda run: (run["nvals"], run["format"]))
    for run in runs:
        rows.append([
            f"2^{run['scale']}{', at random' if run.get('numbered') else ''}", f"{run['nvals'] / 1e9:.2f}",
            f"{run['format'].upper()}, {run['bytes'] / run['nvals']:.2f}",
            f"{run['build s']:.1f}", f"{run['build peak'] / 1e9:.0f}", f"{run['bfs ms']:.1f}",
            f"{run['edges a second'] / 1e9:.0f}", f"{run['components ms']:.0f}", f"{run['pagerank ms']:.0f}",
            f"{run['labels ms']:.0f}" if "labels ms" in run else "",
        ])  # fmt: skip
    if not rows:
        return ""
    heads = ["vertices", "G entries", "format, bytes an entry", "build, s", "peak, GB", "BFS, ms", "G edges/s"]
    heads += ["components, ms", "a round of PageRank, ms", "of label propagation, ms"]
    said = (
        "R-MAT, made on the device, numbered by the recursion or at random; answers are checked by their properties.\n"
    )
    said += (
        "A loss: in these runs a search along NIB takes 4.5 times as long as along CSR. After later changes it took\n"
    )
    said += (
        "1.9 times on RMAT 22 ([loops.md](loops.md#formats-and-load-balancing)); these graphs have not been run again."
    )
    commits: dict[str, list[str]] = {}
    for run in runs:
        commits.setdefault(_where(run, "", ["{}"]), []).append(run["commit"][:7])
    where = " ".join(line.format(", ".join(dict.fromkeys(same))).strip() for line, same in commits.items())
    return "\n".join(["## Graphs that fill a GPU\n", _table(heads, rows), f"\n{where}\n", said, ""])


PROGRAMS = {
    "betweenness256": "betweenness, 256 sources", "betweenness64": "betweenness, 64 sources",
    "betweenness512": "betweenness, 512 sources", "closeness": "closeness, exact", "triangles": "triangles",
    "spmm64": "product with 64 columns, FP32", "labels": "label propagation", "pagerank": "PageRank, FP32",
    "search": "search", "components": "components",
}  # fmt: skip


def _ms(row: dict[str, Any]) -> str:
    return f"{row['ms']:.3g}" if row["ms"] < 1000 else f"{row['ms']:.0f}"


def ranks(folder: Path) -> str:
    """One, two and four GPUs: times, speedups over one of the same run, and how the plan ran a program; of a row in
    several runs the latest."""
    runs = sorted(read(folder, "ranks"), key=lambda run: str(run["time"]))
    found: dict[tuple[str, str], dict[tuple[int, bool], dict[str, Any]]] = {}
    for run in runs:
        ones = {(row["program"], row["graph"]): row["ms"] for row in run["rows"] if row["ranks"] == 1}
        for row in run["rows"]:
            if (key := (row["program"], row["graph"]))[0] in PROGRAMS:
                found.setdefault(key, {})[row["ranks"], row["planned"]] = row | {"one": ones.get(key)}
    lines = []
    for program, graph in sorted(found, key=lambda key: [*PROGRAMS].index(key[0])):
        rows = found[program, graph]
        cells = [PROGRAMS[program], graph, _ms(rows[1, True]) if (1, True) in rows else ""]
        for count in (2, 4):
            row = rows.get((count, True))
            times = 0.0 if row is None or row["one"] is None else row["one"] / row["ms"]
            cells.append("" if row is None else _ms(row))
            cells.append("" if not times else f"{times:.2f}" if times >= 0.95 else f"**{times:.2f}**")
        planned = dict.fromkeys(row["choice"] for (count, plan), row in rows.items() if plan and count > 1)
        forced = [f"{row['choice']} {_ms(row)} ({count})" for (count, plan), row in rows.items() if not plan]
        lines.append([*cells, "; ".join([", ".join(planned), *([", ".join(forced)] if forced else [])])])
    if not lines:
        return ""
    heads = ["program", "graph", "one, ms", "two, ms", "times", "four, ms", "times", "how"]
    where = " ".join(dict.fromkeys(_where(run, "").strip() for run in runs))
    said = "GPUs of one host, NVLink, NCCL without multicast. Searches: the mean of 16 sources; PageRank and label\n"
    said += "propagation: a round. How: the [plan's choice](scale.md#how-ranks-run-an-algorithm), and ms of\n"
    said += "another on (GPUs). All answers agree. [scale.md](scale.md#measured) has the reasons.\n"
    said += "`python benchmarks/many_ranks.py` measures this."
    return "\n".join(["## Several GPUs\n", _table(heads, lines), f"\n{where}\n", said, ""])


def start(folder: Path) -> str:
    """From the start of Python to an answer."""
    parts = []
    for run in read(folder, "start"):
        rows = []
        for row in run["rows"]:
            bar = float("inf") if row["bar"] is None else row["bar"]
            cells = [f"**{row[key]:.2f}**" if row[key] > bar else f"{row[key]:.2f}" for key in ("empty", "warm")]
            rows.append([row["program"], *cells, "" if row["bar"] is None else f"{bar:.2f}"])
        how = f"An installed wheel, new processes; the least of {run['samples']} or more, each with its own empty "
        how += "cache, and of the same number with the caches that these filled. "
        how += "Bold: above its bar; most of the import is NumPy's."
        parts.append(f"{_table(['seconds', 'empty cache', 'warm cache', 'bar'], rows)}\n{_where(run, how)}")
    return "\n".join(["## The start of a process\n", *parts, ""]) if parts else ""


GAP = {"bfs": "BFS", "sssp": "SSSP", "pr": "PageRank", "cc": "components", "bc": "betweenness", "tc": "triangles"}
LDBC = {
    "BFS": "BFS",
    "PR": "PageRank",
    "WCC": "weak components",
    "CDLP": "label propagation",
    "LCC": "clustering",
    "SSSP": "shortest paths",
}


def _by_graph(run: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The rows of a harness by graph, then by kernel or algorithm."""
    found: dict[str, dict[str, Any]] = {}
    for row in run["rows"]:
        found.setdefault(row["graph"], {})[row[kind]] = row
    return found


def _on(run: dict[str, Any]) -> dict[str, Any]:
    """A run of a harness as `_where` reads it."""
    gpu = run["machine"].get("gpu")
    return run | {"gpu": gpu, "device": gpu or run["device"]}


def _unchecked(row: dict[str, Any]) -> str:
    return " (not verified)" if row["right"] is None else ""


def gap(folder: Path) -> str:
    """The GAP Benchmark Suite: mean milliseconds of the trials of its kernels, a row for each graph."""
    parts = []
    for run in read(folder, "gap"):
        by_graph = _by_graph(run, "kernel")
        kernels = [kernel for kernel in GAP if any(kernel in rows for rows in by_graph.values())]
        cells = []
        for graph, rows in by_graph.items():
            entries = next(iter(rows.values()))["entries"] / 1e6
            found = [rows.get(kernel) for kernel in kernels]
            times = ["" if row is None else f"{row['mean_ms']:.3g}{_unchecked(row)}" for row in found]
            cells.append([graph, f"{entries:.1f}", *times])
        trials = {kernel: max(rows[kernel]["trials"] for rows in by_graph.values()) for kernel in kernels}
        heads = ["graph", "M entries", *(f"{GAP[kernel]}, ms, {trials[kernel]} trials" for kernel in kernels)]
        how = "Means of trials from the stored graph to the answer, by GAP's rules; `python -m benchmarks.gap`."
        parts.append(f"{_table(heads, cells)}\n{_where(_on(run), how)}")
    said = (
        "Kron and Urand have GAP's parameters, at a smaller scale than its 27, and are other draws. GAP's published\n"
    )
    said += "times are for scale 27 on CPUs, so they are not next to these."
    return "\n".join(["## GAP Benchmark Suite\n", *parts, said, ""]) if parts else ""


def _time_and_rate(row: dict[str, Any]) -> str:
    rate = float(f"{row['evps'] / 1e6:.3g}")
    return f"{row['ms']:.3g} ({rate:,g}){_unchecked(row)}"


def graphalytics(folder: Path) -> str:
    """LDBC Graphalytics: milliseconds of its algorithms and millions of edges and vertices per second."""
    parts = []
    for run in read(folder, "ldbc"):
        by_graph = _by_graph(run, "algorithm")
        chosen = [name for name in LDBC if any(name in rows for rows in by_graph.values())]
        cells = []
        for graph, rows in by_graph.items():
            found = [rows.get(name) for name in chosen]
            edges = next(iter(rows.values()))["edges"] / 1e6
            cells.append([graph, f"{edges:.2f}", *("" if row is None else _time_and_rate(row) for row in found)])
        heads = ["graph", "M edges", *(f"{LDBC[name]}, ms" for name in chosen)]
        how = "Medians of calls, from the stored graph to the answer, valid by the rules; `python -m benchmarks.ldbc`."
        parts.append(f"{_table(heads, cells)}\n{_where(_on(run), how)}")
    said = "In parentheses millions of vertices and edges per second, the unit of Graphalytics (EVPS); an undirected\n"
    said += "edge counts once. PageRank and label propagation take 10 rounds. The graphs are not those of the\n"
    said += "specification, and no auditor has seen these results."
    return "\n".join(["## LDBC Graphalytics\n", *parts, said, ""]) if parts else ""


LIBRARIES = "NetworKit", "igraph", "SciPy"
CALLS = {
    "bfs": "BFS levels", "sssp": "shortest paths", "components": "components", "mis": "independent set",
    "cores": "core numbers", "clustering": "clustering coefficients", "labels": "label propagation, 5 rounds",
    "louvain": "Louvain", "leiden": "Leiden",
}  # fmt: skip


def libraries(folder: Path) -> str:
    """NetworKit, igraph and SciPy on a CPU: milliseconds, and the modularity of communities."""
    from .results import ratio

    parts = []
    for run in read(folder, "libraries"):
        rows = []
        for row in run["libraries"]:
            sides = row["sides"]
            if not row["equal"]:
                raise ValueError(f"libraries: a wrong answer of {row['algorithm']} on {row['graph']}")
            ours = sides["bitblas"]
            cells = [_call(sides[name], ours, ratio) if name in sides else "" for name in LIBRARIES]
            if any(cells):
                rows.append([CALLS[row["algorithm"]], row["graph"], _call(ours, None, ratio), *cells])
        heads = ["on a CPU", "graph", "bitblas, ms", *(f"{n} {run['versions'][n.lower()]}, ms" for n in LIBRARIES)]
        how = f"{run['threads']} threads; the least of {run['samples']} runs; `python -m benchmarks.libraries`."
        parts.append(f"{_table(heads, rows)}\n{_where(run, how)}")
    said = (
        "In parentheses how many times faster bitblas is, in brackets the modularity of the communities. Each library\n"
    )
    said += (
        "has a process and its own graph; igraph and SciPy use one thread. Label propagation differs: ours moves all\n"
    )
    said += "vertices at once, as LDBC Graphalytics defines it, NetworKit's one after the other. SciPy's levels are\n"
    said += "Dijkstra's without weights. USA-road-d.NW is stored as packed rows: components unpack them, a quarter of\n"
    said += "their time. Its core numbers are peeled by one thread, by both in NetworKit.\n"
    return "\n".join(["## Graph libraries on a CPU\n", *parts, said]) if parts else ""


def _call(side: dict[str, Any], ours: dict[str, Any] | None, ratio: Callable[[float, float], str]) -> str:
    """A cell: milliseconds (times faster) [modularity]."""
    more = "" if ours is None else f" ({ratio(ours['ms'], side['ms'])})"
    quality = f" [{side['modularity']:.4f}]" if "modularity" in side else ""
    return f"{_ms(side)}{more}{quality}"


def sums(folder: Path) -> str:
    """Repeated sums on a GPU: products by rows, by the copy for sums and by cuSPARSE, then PageRank."""
    parts = []
    for run in read(folder, "sums"):
        on = run | {"gpu": run["machine"]["gpu"], "device": run["machine"]["gpu"]}
        if run["rows"]:
            cells = []
            for row in run["rows"]:
                peer, copy = row.get("cusparse_us"), row["copy_us"]
                ratio = "" if peer is None else f"{peer / min(copy, row['rows_us']):.2f}"
                times = (f"{row['rows_us']:.3g}", f"{copy:.3g}" if row["copied"] else "", f"{peer:.3g}" if peer else "")
                cells.append([row["graph"], f"{row['product']} {row['dtype']}", *times, ratio])
            heads = ["graph", "product", "rows, us", "copy for sums, us", "cuSPARSE, us", "cuSPARSE / best"]
            how = "Kernel time, warm caches; next to plus_second cuSPARSE's plus_times; `python -m benchmarks.sums`."
            parts.append(f"{_table(heads, cells)}\n{_where(on, how)}")
        if run["ranked"]:
            cells = []
            for row in run["ranked"]:
                built = "" if row["build_s"] is None else f"{row['build_s'] * 1e3:.3g}"
                search = f"{row['search_with_copy']:.2f}" if "search_with_copy" in row else ""
                times = f"{row['before_ms']:.3g}", f"{row['after_ms']:.3g}"
                cells.append([row["graph"], f"{row['nvals'] / 1e6:.1f}", *times, built, search])
            heads = ["graph", "M entries", "PageRank x 20, rows, ms", "with the copy, ms", "building it, ms"]
            heads += ["search with / without"]
            how = "Calls, FP32; building includes a product; searches on two matrices in turn."
            parts.append(f"{_table(heads, cells)}\n{_where(on, how)}")
    return "\n".join(["## Repeated sums\n", *parts, ""]) if parts else ""


def sizes_of(folder: Path, graph: str) -> dict[str, float]:
    """A graph's bytes per entry: in SuiteSparse, in CSR, and in the smallest format."""
    row = next(row for run in read(folder, "bytes") for row in run["rows"] if row["graph"] == graph)
    least = min(FORMS, key=lambda key: row[key])
    return {SUITESPARSE: row[SUITESPARSE], "bitblas, plain rows": row["csr"], f"bitblas, {FORMS[least]}": row[least]}


def sections(folder: Path) -> str:
    """All sections."""
    made = (
        section(folder)
        for section in (libraries, sizes, builds, sums, closeness, gap, graphalytics, scale, ranks, start)
    )
    return "\n".join(part for part in made if part)
