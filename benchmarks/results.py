"""python -m benchmarks.results: write the page of results, its tables, charts and JSON, from stored runs.

Reads every file of benchmarks/stored/: JSON of `python -m benchmarks` and `python -m benchmarks.programs`, and figures
of peers with their versions and dates; those of `python -m benchmarks.libraries`, in libraries/, are also peers of a
GPU on the same graphs. To add a run, add its file and run this command; of the same figure in two files
the later one counts. Writes docs/results.md, docs/results.json, and results-*.svg and first-*.svg in docs/pictures/.
`--check` writes nothing, and fails if something would change.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from . import charts, cpu, sections
from .library_worker import LIBRARIES, threaded

ROOT = Path(__file__).parents[1]
STORED, DOCS = ROOT / "benchmarks" / "stored", ROOT / "docs"
OURS = "bitblas"
SIDES = (cpu.OURS, cpu.PEER)
DEVICES = {"gpu": "On a GPU", "cpu": "On a CPU"}
NAMES = {
    "bfs": "BFS", "sssp": "shortest paths", "pagerank": "PageRank", "components": "components",
    "triangles": "triangles", "mis": "independent set", "coloring": "coloring", "forest": "spanning forest",
    "parents": "BFS parents", "searches": "64 searches", "betweenness": "betweenness of 64 sources",
    "labels": "label propagation, 5 rounds", "louvain": "Louvain", "leiden": "Leiden", "truss": "4-truss",
    "trusses": "truss numbers", "cores": "core numbers", "strong": "strong components, undirected",
    "strong_directed": "strong components, directed",
    "msf": "weight of a forest", "mxv": "lor_land product, 30 % of the vector",
    "plus_second": "plus_second product", "min_plus": "min_plus product",
}  # fmt: skip
ALGORITHMS = tuple(NAMES)
# The graph and the libraries of the first page.
FIRST = "rmat20"
FIRST_SIDES = (OURS, "cuGraph", "SuiteSparse, 16 CPU threads", "NetworkX, 1 CPU thread")


Table: TypeAlias = dict[tuple[str, str], dict[str, float]]  # {(algorithm, graph): {library: ms}}


class Run(NamedTuple):
    """A file: the library, its version (of bitblas the commit), device, machine, date and method."""

    who: str
    version: str
    device: str
    machine: str
    date: str
    how: str


class Figure(NamedTuple):
    """Milliseconds of an algorithm on a graph."""

    run: Run
    graph: str
    algorithm: str
    ms: float


def read(folder: Path = STORED) -> list[Figure]:
    """All figures of a folder, earliest first. ValueError for a file of another kind."""
    found: list[Figure] = []
    for path in sorted([*folder.glob("*.json"), *folder.glob("libraries/*.json")]):
        if path.name != "reasons.json":
            found += _figures(path.name, json.loads(path.read_text()))
    return sorted(found, key=lambda figure: figure.run.date)


def _figures(name: str, made: dict[str, Any]) -> list[Figure]:
    if "who" in made:
        run = Run(made["who"], made["version"], made["device"], made["machine"], made["month"], made["how"])
        return [Figure(run, row["graph"], row["algorithm"], row["ms"]) for row in made["rows"]]
    if "libraries" in made:
        return [Figure(run, *row) for run, rows in _graph_libraries(made) for row in rows]
    if "commit" not in made or not ({"rows", "graphs"} & set(made)):
        raise ValueError(f"{name}: expected a run of the benchmarks, or figures of a peer with who, version and month")
    device = "cpu" if made["device"] == "cpu" else "gpu"
    changed = " and changes" if made.get("changed_since_commit") else ""
    machine, date = made["machine"], made["time"][:10]
    where = machine.get("gpu") or f"{machine['processor']}, {machine['cores']} cores"
    how = "median of runs after a warm-up, answers checked"
    ours = Run(OURS, f"{made['commit'][:7]}{changed}", device, where, date, how)
    if "rows" in made:
        runs = ((ours, made["rows"]), *_libraries(made, date))
        return [
            Figure(run, row["graph"], row["algorithm"], row["ms"])
            for run, rows in runs
            for row in rows
            if row["right"] is not False
        ]
    theirs = Run("SuiteSparse", _version(made), device, where, date, "the same text through python-graphblas, in turn")
    found = []
    for graph in made["graphs"]:
        for row in graph["verbs"]:
            for side, run in ((cpu.OURS, ours), (cpu.PEER, theirs)):
                if not row[side]["equal"]:
                    raise ValueError(f"{name}: {row['verb']} on {graph['name']} has another answer from {side}")
                found.append(Figure(run, graph["name"], row["verb"], 1e3 * row[side]["median_seconds"]))
    return found


def _graph_libraries(made: dict[str, Any]) -> list[tuple[Run, list[tuple[str, str, float]]]]:
    """The libraries of a run of `benchmarks.libraries`, and the graph, algorithm and milliseconds of each figure."""
    found = []
    for name in LIBRARIES:
        rows = [
            (row["graph"], row["algorithm"], row["sides"][name]["ms"])
            for row in made["libraries"]
            if name in row["sides"] and row["sides"][name]["right"]
        ]
        if rows and name != OURS:
            version, machine = made["versions"][LIBRARIES[name].packages[0]], made["machine"]
            where = f"{machine['processor']}, {machine['cores']} cores"
            how = f"the least of {made['samples']} calls in a process of its own, from the vertex of largest degree"
            run = Run(threaded(name, made["threads"]), version, "gpu", where, made["time"][:10], how)
            found.append((run, rows))
    return found


def _libraries(made: dict[str, Any], date: str) -> list[tuple[Run, list[dict[str, Any]]]]:
    """The libraries that ran on the CPU of the same machine, and their rows."""
    machine, theirs = made["machine"], made.get("peers", [])
    where = f"{machine['processor']}, {machine['cores']} cores"
    how = "the least of three calls in a process of its own, from the vertex of largest degree, answers checked"
    return [
        (Run(who, version, "gpu", where, date, how), [row for row in theirs if row["who"] == who])
        for who, version in sorted({(row["who"], row["version"]) for row in theirs})
    ]


def _version(made: dict[str, Any]) -> str:
    return str(made["versions"].get("suitesparse-graphblas") or made["versions"].get("suitesparse") or "")


def latest(figures: Sequence[Figure], device: str) -> Table:
    """{(algorithm, graph): {library: ms}} of a device, from the latest runs."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for figure in figures:
        if figure.run.device == device:
            found.setdefault((figure.algorithm, figure.graph), {})[figure.run.who] = figure.ms
    return {key: row for key, row in found.items() if OURS in row and len(row) > 1}


def ratio(ours: float, theirs: float) -> str:
    """A cell of a column "times faster". Losses are in bold, as "slower"."""
    if 0.95 < theirs / ours < 1.05:
        return "the same"
    factor = max(ours / theirs, theirs / ours)
    text = f"{factor:.1f}" if factor < 100 else f"{factor:.0f}"
    return f"**{text} slower**" if ours > theirs else text


def _ms(ms: float | None) -> str:
    return "" if ms is None else f"{ms:.3g}" if ms < 1000 else f"{ms:.0f}"


def by_algorithm(rows: Table) -> dict[str, dict[str, dict[str, float]]]:
    """{algorithm: {graph: {library: ms}}}, in the order of NAMES."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for algorithm, graph in sorted(rows, key=lambda key: ALGORITHMS.index(key[0])):
        found.setdefault(algorithm, {})[graph] = rows[algorithm, graph]
    return found


def versions(figures: Sequence[Figure]) -> dict[str, str]:
    """The libraries other than bitblas with the numbers of their versions, as heads of columns."""
    found = {}
    for run in (figure.run for figure in figures):
        number = re.search(r"\d[\d.]*", run.version)
        first, comma, rest = run.who.partition(", ")
        rest = rest.replace(" CPU", "")
        found[run.who] = f"{first} {number[0].rstrip('.')}{comma and ', '}{rest}" if number else run.who
    return found


def tables(figures: Sequence[Figure], reasons: dict[str, str]) -> str:
    """A chart and a table for each device and algorithm; if a peer is faster, followed by the reason."""
    parts, heads = [], versions(figures)
    for device, title in DEVICES.items():
        rows = latest(figures, device)
        if not rows:
            continue
        parts.append(f"## {title}\n\n{_summary(rows)}\n")
        for algorithm, some in by_algorithm(rows).items():
            peers = sorted({who for row in some.values() for who in row} - {OURS}, key=charts.place)
            name = NAMES[algorithm]
            said = (
                f"{name} {title[0].lower()}{title[1:]}: milliseconds of {', '.join((OURS, *peers))} by graph, log scale"
            )
            parts.append(f"### {name[0].upper()}{name[1:]}\n\n![{said}](pictures/results-{device}-{algorithm}.svg)\n")
            lines = [
                f"| graph | bitblas, ms | {' | '.join(f'{heads[who]}, ms' for who in peers)} |",
                "|---|" + "---:|" * (1 + len(peers)),
            ]
            for graph, row in some.items():
                cells = [f"{_ms(row[who])} ({ratio(row[OURS], row[who])})" if who in row else "" for who in peers]
                lines.append(f"| {graph} | {_ms(row[OURS])} | {' | '.join(cells)} |")
            lost = any(row[who] < 0.95 * row[OURS] for row in some.values() for who in row)
            why = f"\n\nLosses: {reasons.get(algorithm, 'the reason is not known')}." if lost else ""
            parts.append("\n".join(lines) + why + "\n")
    return "\n".join(parts)


def _summary(rows: Table) -> str:
    left_out = *LIBRARIES, charts.library(FIRST_SIDES[-1])
    each = [row[OURS] <= ms for row in rows.values() for who, ms in row.items() if charts.library(who) not in left_out]
    return f"bitblas is at least as fast in {sum(each)} of {len(each)} comparisons with compiled libraries."


def page(figures: Sequence[Figure], reasons: dict[str, str], more: str = "") -> str:
    """docs/results.md. more: sections after those of the algorithms."""
    order = lambda run: (run.device, run.who != OURS, run.who, run.date, run.version)
    runs = sorted({figure.run for figure in figures}, key=order)
    lines = [
        "# Results",
        "",
        "Milliseconds of bitblas and its peers for the same algorithm on the same graph, and in parentheses how many",
        "times faster bitblas is. Losses are in bold, with the reason. `python -m benchmarks.results` makes this page",
        "from runs in",
        "[benchmarks/](../benchmarks/README.md)`stored/`; [results.json](results.json) has the same figures.",
        "",
        tables(figures, reasons),
        *([more] if more else []),
        "## Versions and methods",
        "",
        "| | version or commit | when | on | how |",
        "|---|---|---|---|---|",
        *(f"| {run.who} | {run.version} | {run.date} | {run.machine} | {run.how} |" for run in runs),
        "",
        "Graphs, made by [benchmarks/](../benchmarks/README.md): `rmat20` is a power-law graph of 2^20 vertices and 31",
        "million entries (`rmat22`: 128), `delaunay_n20` a triangulation (`_random`: numbered at random),",
        "`grid2d_2048` a grid, `stencil27_100` a cube with 27 neighbours, `mycielskian13` dense and without triangles,",
        "`road_ny` the roads of New York, `crawl_n18` a copying model of the web and `social_n18` a configuration",
        "model of a social network. `USA-road-d.NW` (roads), `soc-Slashdot0902`, `facebook_combined` and",
        "`JohnsHopkins55` (social networks) are files of public collections, made symmetric. The figures of cuGraph,",
        "BLEST, ECL and cuSPARSE are stored ones of an H200 with these libraries, which the machine of the other runs",
        "does not have: on graphs without such a figure only NetworKit, igraph and SciPy ran next to bitblas, on two",
        "cores of the same host. They are not counted among the comparisons.",
        "",
    ]
    return "\n".join(lines)


def made(folder: Path = STORED) -> dict[str, str]:
    """The texts to write, by their paths in docs/, without pictures."""
    figures, reasons = read(folder), json.loads((folder / "reasons.json").read_text())
    rows = [figure.run._asdict() | figure._asdict() for figure in figures]
    rows = [{key: value for key, value in row.items() if key != "run"} for row in rows]
    return {
        "results.md": page(figures, reasons, sections.sections(folder)),
        "results.json": json.dumps(rows, indent=0) + "\n",
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 1 if --check finds that something would change, else 0."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__.splitlines()[0])
    p.add_argument("--check", action="store_true", help="write nothing; exit code 1 where something would change")
    args = p.parse_args(argv)
    texts = made()
    if args.check:
        stale = [name for name, text in texts.items() if (DOCS / name).read_text() != text]
        print("\n".join(f"docs/{name} is not what the stored runs give" for name in stale), file=sys.stderr)
        return int(bool(stale))
    for name, text in texts.items():
        (DOCS / name).write_text(text)
    import matplotlib

    # Reproducible bytes; text as text.
    matplotlib.rcParams.update({"svg.hashsalt": "bitblas", "svg.fonttype": "none"})
    for name, drawing in pictures(read()).items():
        path = DOCS / "pictures" / f"{name}.svg"
        drawing.savefig(path, metadata={"Date": None})
        print(path.relative_to(ROOT))
    return 0


def pictures(figures: Sequence[Figure]) -> dict[str, Any]:
    """The charts, by the names of their files."""
    found = {}
    for device in DEVICES:
        for algorithm, some in by_algorithm(latest(figures, device)).items():
            found[f"results-{device}-{algorithm}"] = charts.dots(some)
    first = {
        NAMES[algorithm][0].upper() + NAMES[algorithm][1:]: some[FIRST]
        for algorithm, some in by_algorithm(latest(figures, "gpu")).items()
        if FIRST in some and algorithm in ALGORITHMS[:5]
    }
    for scheme in charts.SCHEMES:
        found[f"first-times-{scheme}"] = charts.bars(first, FIRST_SIDES, scheme)
        found[f"first-bytes-{scheme}"] = charts.sizes(sections.sizes_of(STORED, FIRST), scheme)
    return found


if __name__ == "__main__":
    sys.exit(main())
