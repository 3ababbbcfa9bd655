"""python -m benchmarks.results: write the page of results, its tables, pictures and JSON, from stored runs.

Reads every file of benchmarks/stored/: JSON of `python -m benchmarks` and `python -m benchmarks.programs`, and figures
of peers with their versions and dates. To add a run, add its file and run this command; of the same figure in two files
the later one counts. Writes docs/results.md, docs/results.json and docs/pictures/results-*.svg, light and dark.
`--check` writes nothing, and fails if something would change.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import cpu, sections

ROOT = Path(__file__).parents[1]
STORED, DOCS = ROOT / "benchmarks" / "stored", ROOT / "docs"
OURS = "bitblas"
SIDES = (cpu.OURS, cpu.PEER)
DEVICES = {"gpu": "On a GPU", "cpu": "On a CPU"}
NAMES = {
    "bfs": "BFS", "sssp": "shortest paths", "pagerank": "PageRank", "components": "components",
    "triangles": "triangles", "mis": "independent set", "coloring": "coloring", "forest": "spanning forest",
    "msf": "weight of a forest", "mxv": "lor_land product, 30 % of the vector",
    "plus_second": "plus_second product", "min_plus": "min_plus product",
}  # fmt: skip
ALGORITHMS = tuple(NAMES)


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
    for path in sorted(folder.glob("*.json")):
        if path.name != "reasons.json":
            found += _figures(path.name, json.loads(path.read_text()))
    return sorted(found, key=lambda figure: figure.run.date)


def _figures(name: str, made: dict[str, Any]) -> list[Figure]:
    if "who" in made:
        run = Run(made["who"], made["version"], made["device"], made["machine"], made["month"], made["how"])
        return [Figure(run, row["graph"], row["algorithm"], row["ms"]) for row in made["rows"]]
    if "commit" not in made or not ({"rows", "graphs"} & set(made)):
        raise ValueError(f"{name}: expected a run of the benchmarks, or figures of a peer with who, version and month")
    device = "cpu" if made["device"] == "cpu" else "gpu"
    changed = " and changes" if made.get("changed_since_commit") else ""
    machine, date = made["machine"], made["time"][:10]
    where = machine.get("gpu") or f"{machine['processor']}, {machine['cores']} cores"
    how = "median of runs after a warm-up, answers checked"
    ours = Run(OURS, f"{made['commit'][:7]}{changed}", device, where, date, how)
    if "rows" in made:
        right = (row for row in made["rows"] if row["right"] is not False)
        return [Figure(ours, row["graph"], row["algorithm"], row["ms"]) for row in right]
    theirs = Run("SuiteSparse", _version(made), device, where, date, "the same text through python-graphblas, in turn")
    found = []
    for graph in made["graphs"]:
        for row in graph["verbs"]:
            for side, run in ((cpu.OURS, ours), (cpu.PEER, theirs)):
                if not row[side]["equal"]:
                    raise ValueError(f"{name}: {row['verb']} on {graph['name']} has another answer from {side}")
                found.append(Figure(run, graph["name"], row["verb"], 1e3 * row[side]["median_seconds"]))
    return found


def _version(made: dict[str, Any]) -> str:
    return str(made["versions"].get("suitesparse-graphblas") or made["versions"].get("suitesparse") or "")


def latest(figures: Sequence[Figure], device: str) -> dict[tuple[str, str], dict[str, float]]:
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


def tables(figures: Sequence[Figure], reasons: dict[str, str]) -> str:
    """A table for each device and algorithm; if a peer is faster, followed by the reason."""
    parts = []
    for device, title in DEVICES.items():
        rows = latest(figures, device)
        if not rows:
            continue
        parts.append(
            f"## {title}\n\n![{title}: {_alt(rows)}](pictures/results-{device}-light.svg#only-light)"
            f"![](pictures/results-{device}-dark.svg#only-dark)\n"
        )
        for algorithm in sorted({key[0] for key in rows}, key=ALGORITHMS.index):
            some = {graph: row for (name, graph), row in rows.items() if name == algorithm}
            peers = sorted({who for row in some.values() for who in row} - {OURS})
            heads = " | ".join(f"{who} | times faster" for who in peers)
            lines = [f"| {NAMES[algorithm]}, ms | bitblas | {heads} |", "|---|" + "---|" * (1 + 2 * len(peers))]
            for graph, row in some.items():
                cells = [f"{_ms(row.get(who))} | {ratio(row[OURS], row[who]) if who in row else ''}" for who in peers]
                lines.append(f"| {graph} | {_ms(row[OURS])} | {' | '.join(cells)} |")
            lost = any(row[who] < 0.95 * row[OURS] for row in some.values() for who in row)
            said = f"\n\nLosses: {reasons.get(algorithm, 'the reason is not known')}." if lost else ""
            parts.append("\n".join(lines) + said + "\n")
    return "\n".join(parts)


def _alt(rows: dict[tuple[str, str], dict[str, float]]) -> str:
    won = sum(row[OURS] <= ms for row in rows.values() for who, ms in row.items() if who != OURS)
    total = sum(len(row) - 1 for row in rows.values())
    return f"bars of how many times faster bitblas is; it is at least as fast in {won} of {total} comparisons"


def page(figures: Sequence[Figure], reasons: dict[str, str], more: str = "") -> str:
    """docs/results.md. more: sections after those of the algorithms."""
    order = lambda run: (run.device, run.who != OURS, run.who, run.date, run.version)
    runs = sorted({figure.run for figure in figures}, key=order)
    lines = [
        "# Results",
        "",
        "Milliseconds of bitblas and its peers for the same algorithm on the same graph, and how many times faster",
        "bitblas is. Losses are in bold, with the reason. `python -m benchmarks.results` makes this page from runs in",
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
        "`road_ny` the roads of New York.",
        "",
    ]
    return "\n".join(lines)


COLORS = {False: ("#1b2733", "#ffffff"), True: ("#e6edf3", "#1e2129")}  # ink and paper, light and dark


def _styled(axes: Any, ink: str, paper: str) -> None:
    axes.set_facecolor(paper)
    axes.tick_params(colors=ink, length=0, which="both")
    axes.spines[:].set_visible(False)
    for text in axes.get_legend().get_texts() if axes.get_legend() else ():
        text.set_color(ink)


def picture(rows: dict[tuple[str, str], dict[str, float]], title: str, dark: bool) -> Any:
    """Bars to the right if bitblas is faster, to the left if slower; one for each peer and graph."""
    import numpy as np
    from matplotlib.figure import Figure as Drawing

    ink, paper = COLORS[dark]
    peers = sorted({who for row in rows.values() for who in row} - {OURS})
    hues = dict(zip(peers, ("#2a9d8f", "#e9a23b", "#c05780", "#5b8def", "#8a6fd1", "#7a8b99")))
    bars = [
        (algorithm, graph, who, row[who] / row[OURS])
        for (algorithm, graph), row in sorted(rows.items(), key=lambda item: ALGORITHMS.index(item[0][0]))
        for who in peers
        if who in row
    ]
    drawing = Drawing(figsize=(9, 1.2 + 0.17 * len(bars)), facecolor=paper, layout="constrained")
    axes = drawing.add_subplot()
    at = np.arange(len(bars))
    axes.barh(at, [np.log10(x) for *_, x in bars], color=[hues[who] for *_, who, _ in bars], height=0.75)
    axes.set_yticks(at, [f"{NAMES[a]}  {g}" for a, g, *_ in bars], fontsize=7, color=ink)
    axes.invert_yaxis()
    axes.axvline(0, color=ink, linewidth=0.8)
    axes.margins(y=0.01)
    low = min(-1, int(np.floor(min(np.log10(x) for *_, x in bars))))
    high = max(1, int(np.ceil(max(np.log10(x) for *_, x in bars))))
    said = [
        f"{10**-k}x slower" if k < 0 else "the same" if k == 0 else f"{10**k}x faster" for k in range(low, high + 1)
    ]
    axes.set_xticks(range(low, high + 1), said, color=ink, fontsize=8)
    axes.xaxis.tick_top()
    axes.grid(axis="x", color=ink, alpha=0.15)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left", color=ink, fontsize=11, fontweight="bold")
    handles = [axes.barh([0], [0], color=hue) for hue in hues.values()]
    axes.legend(handles, [f"than {who}" for who in hues], loc="lower right", fontsize=8, facecolor=paper)
    _styled(axes, ink, paper)
    return drawing


def first_picture(rows: dict[tuple[str, str], dict[str, float]], graph: str, dark: bool) -> Any:
    """Milliseconds of some algorithms on a graph, for bitblas and the peers that have most of them; and bytes."""
    import numpy as np
    from matplotlib.figure import Figure as Drawing

    ink, paper = COLORS[dark]
    some = {name: row for (name, on), row in rows.items() if on == graph and name in ALGORITHMS[:5]}
    names = sorted(some, key=ALGORITHMS.index)
    count = {who: sum(who in row for row in some.values()) for row in some.values() for who in row}
    sides = [OURS, *sorted((who for who in count if who != OURS and count[who] >= 4), key=lambda who: -count[who])]
    drawing = Drawing(figsize=(9, 3.2), facecolor=paper, layout="constrained")
    axes, beside = drawing.subplots(1, 2, width_ratios=[3, 1])
    sections.draw_sizes(beside, STORED, graph, ink)
    width = 0.8 / len(sides)
    for k, (who, hue) in enumerate(zip(sides, ("#2a9d8f", "#e9a23b", "#7a8b99", "#5b8def"))):
        at = np.arange(len(names)) + (k - (len(sides) - 1) / 2) * width
        heights = [some[name].get(who, np.nan) for name in names]
        bars = axes.bar(at, heights, width * 0.92, color=hue, label=who)
        axes.bar_label(bars, [_ms(x) if x == x else "" for x in heights], fontsize=7, color=ink, padding=1)
    axes.set_yscale("log")
    axes.set_xticks(range(len(names)), [NAMES[name] for name in names], color=ink)
    axes.set_ylabel("ms, log scale", color=ink, fontsize=8)
    axes.legend(fontsize=8, facecolor=paper, ncols=len(sides), loc="upper left")
    for one in (axes, beside):
        _styled(one, ink, paper)
    axes.margins(y=0.25)
    return drawing


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
    figures = read()
    for device in DEVICES:
        if rows := latest(figures, device):
            for dark in (False, True):
                drawn = {device: picture(rows, f"{DEVICES[device]}: how many times bitblas is", dark)}
                if device == "gpu":
                    drawn["start"] = first_picture(rows, "rmat20", dark)
                for name, drawing in drawn.items():
                    path = DOCS / "pictures" / f"results-{name}-{'dark' if dark else 'light'}.svg"
                    drawing.savefig(path, metadata={"Date": None})
                    print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
