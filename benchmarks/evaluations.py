"""The page docs/evaluations.md, made from stored runs of `benchmarks.papers` and `benchmarks.cr2`."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bitblas.formats.packing import width_of

from .results import ratio

ROOT = Path(__file__).parents[1]
STORED, PAGE = ROOT / "benchmarks" / "stored" / "papers", ROOT / "docs" / "evaluations.md"
TILES = (4, 8, 16, 32)
LARGE = 1 << 18  # entries: kernels take 2 to 5 us on smaller matrices, whatever they do
SCHEMES = {  # Bit-GraphBLAS' averages over cuSPARSE on a TITAN V, T = 4, 8, 16, 32
    "bin-bin-bin": ("2.04", "2.17", "2.18", "2.26"),
    "bin-bin-full": ("-", "-", "-", "-"),
    "bin-full-full": ("1.88", "1.71", "1.27", "0.81"),
}
ALGORITHMS = {
    "bfs": "BFS", "components": "components", "coloring": "coloring", "mis": "independent set", "forest": "forest",
    "sssp": "shortest paths", "betweenness": "betweenness, 64 sources",
}  # fmt: skip
FORMS = {"csr": "CSR", "nib": "NIB", "cgr": "CGR", "mplg": "MPLG", "virtual": "virtual rows"}
Row = dict[str, Any]

HEAD = """\
# The papers' evaluations, repeated

The measurements of the papers behind the formats ([sources.md](sources.md)), on our graphs and with our kernels.
`python -m benchmarks.papers` and `python -m benchmarks.cr2` measure them; `python -m benchmarks.papers --page` makes
this page from `benchmarks/stored/papers/`. Factors say how many times faster a format is; losses are in bold. Every
answer was checked: those of products against SciPy, those of algorithms by equations over all edges or against SciPy,
those of a format against CSR's.

Not run: GraphBLAST (the peer of Bit-GraphBLAS), Gunrock, GPUCSR, Ligra, Ligra+ and the authors' GCGT (of CGR's paper),
the ECL, Gardenia and Rodinia programs with and without MPLG (stored figures of ECL are in [results.md](results.md)),
Tigr, VWC-CSR and G-Shards (of CR2; their bytes follow by formula). They are programs of their own, and none was built
for CUDA 13 and compute capability 9.0. Their graphs are mostly larger than these, and were not at hand.
"""
VECTORS = """\
Geometric means, and the range. bin-bin-bin: presence, from a vector with 30 % of its entries; bin-bin-full: counts from
it; bin-full-full: sums of a full FP32 vector. Kernels of small matrices take 2 to 5 us whatever they do. Paper:
averages over 521 matrices on a TITAN V, for T = 4, 8, 16, 32.
"""
MATRICES = """\
A A as counts (bin-bin-sum), milliseconds of calls, results included: by cuSPARSE's SpGEMM in FP32 through CuPy, by rows
of CSR, and tile by tile whatever the planner says. Then presence; and the sum of A A' at the entries of A, six times
the number of triangles of an undirected graph, for which cuSPARSE has no masked product.
"""
MPLG = """\
Calls of whole algorithms, milliseconds along CSR, and how many times faster along packed columns. The paper's geometric
means: 0.94 to 1.10 times as fast (TITAN V), 0.98 to 1.11 (RTX 3090). Its ratios are of the columns alone, 59.3 to
81.2 %, 62.5 % for its grid of 2^20 vertices, which is `grid2d_1024`.
"""
CGR = """\
Calls of whole algorithms. The paper: at most 1.54 times the time of GPUCSR in a search (TITAN V, uk-2007), and 2 to 18
times fewer bits than 32 an edge, after virtual nodes and LLP, which are not applied here. NIB is ours.
"""
SCHEDULES = """\
CGR's kernels compiled with other constants. push: presence along all rows but each 1024th, ten statements in a row, per
statement; search: a captured BFS, which gives 8 to 32 lanes to a row whatever the constants; sum: `plus_second` over a
full vector. A statement takes the host some 35 us, so shorter pushes are not measured. The paper's steps are naive, two
phases, task stealing, warp-centric decoding and residual segmentation.
Task stealing does not exist here ([why](sources.md#task-stealing)). Warps decode a segment together only in rows of
more than 32 words, and segments that lanes share.
"""
TWO_PHASES = """\
In this run "as shipped" has two phases, here and below. They cost up to a fifth of a search and gained nothing, so
CGR's kernels have had one since.
"""
CODES = """\
The shipped code has zeta 3, segments of 32 bytes, and intervals from 4 columns. Gamma codes for residuals, the paper's
first variant, do not exist. Intervals are segmented too.
"""
CR2 = """\
Bytes of the stored arrays, builds from CSR, and whole statements of a sum over a full vector (host time included). Of
CR2 without clusters, without groups of pieces, and without either. `tigr`, `g-shards` and `offsets` (row pointers
instead of pieces) by formula.
"""


def read(folder: Path = STORED) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def number(x: float | None) -> str:
    return "" if x is None else f"{x:.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def times(x: float) -> str:
    """A factor, which is how many times faster: bold below 1."""
    return f"**{x:.2f}**" if x < 0.95 else f"{x:.2f}"


def kind_of(row: Row) -> str:
    classes = row["class"].split("+")
    return "hybrid" if "hybrid" in classes else classes[0] or "no entries"


def vectors(rows: Sequence[Row]) -> str:
    """Products with a vector."""
    if not rows:
        return ""
    peer = [row for row in rows if "cuSPARSE" in row["us"]]
    parts = ["## B2SR: products with a vector\n"]
    if peer:
        gain = lambda row, key, scheme: row["us"]["cuSPARSE"] / row["us"][f"{key} {scheme}"]
        keys = ("csr", *(f"b2sr{tile}" for tile in TILES))
        heads = [f"{len(peer)} matrices, cuSPARSE's FP32 over", "CSR", *(f"T = {tile}" for tile in TILES), "paper"]
        made = []
        large = [row for row in peer if row["nvals"] >= LARGE]
        for scheme, theirs in SCHEMES.items():
            for some, name in ((peer, scheme), (large, f"{scheme}, the {len(large)} of {LARGE} entries or more")):
                found = [[gain(row, key, scheme) for row in some] for key in keys]
                cells = [f"{times(mean(x))} ({min(x):.2g} to {max(x):.3g})" if x else "" for x in found]
                made.append([name, *cells, ", ".join(theirs) if some is peer else ""])
        parts.append(f"{VECTORS}\n{table(heads, made)}")
        classes: dict[str, list[Row]] = {}
        for row in peer:
            classes.setdefault(kind_of(row), []).append(row)
        heads = ["pattern class", "matrices"]
        heads += [f"{scheme}, {key}" for scheme in ("bits", "sums") for key in ("CSR", *(f"T = {t}" for t in TILES))]
        made = [
            [kind, str(len(some))]
            + [
                times(mean([gain(row, key, scheme) for row in some]))
                for scheme in ("bin-bin-bin", "bin-full-full")
                for key in keys
            ]
            for kind, some in sorted(classes.items(), key=lambda item: -len(item[1]))
        ]
        parts.append(
            f"By pattern class (`A.profile().pattern`), bin-bin-bin and bin-full-full:\n\n{table(heads, made)}"
        )
    heads = ["matrix", "class", "entries", "bytes, T = 4, 8, 16, 32", "cuSPARSE us"]
    heads += [f"{word} {key}" for word in ("bits", "sums") for key in ("CSR", *TILES)]
    made = []
    for row in rows:
        size = ", ".join(f"{100 * row['ratio'][f'b2sr{tile}']:.0f}" for tile in TILES)
        us = [
            number(row["us"][f"{key} {scheme}"])
            for scheme in ("bin-bin-bin", "bin-full-full")
            for key in ("csr", *(f"b2sr{t}" for t in TILES))
        ]
        made.append([row["graph"], row["class"], str(row["nvals"]), size, number(row["us"].get("cuSPARSE")), *us])
    parts.append(
        "Bytes in percent of CSR with FP32 values, and microseconds of kernels with warm caches (bits, sums):\n"
        f"\n{table(heads, made)}"
    )
    ratios = [[row["ratio"][f"b2sr{tile}"] for tile in TILES] for row in rows]
    smallest = [TILES[sizes.index(min(sizes))] for sizes in ratios]
    counts = ", ".join(f"T = {tile} for {smallest.count(tile)}" for tile in TILES)
    below = ", ".join(f"{sum(row['ratio'][f'b2sr{tile}'] < 1 for row in rows)}" for tile in TILES)
    parts.append(f"Smallest: {counts}. Fewer bytes than CSR with FP32 values: {below} of {len(rows)}.\n")
    return "\n".join(parts)


def matrices(rows: Sequence[Row]) -> str:
    """Products of two matrices."""
    if not rows:
        return ""
    heads = ["matrix", "products", "cuSPARSE ms", "rows", *(f"T = {tile}" for tile in TILES), "best over cuSPARSE"]
    heads += [
        "presence: rows",
        *(f"T = {tile}" for tile in TILES),
        "masked sum: rows",
        *(f"T = {tile}" for tile in TILES),
    ]
    made = []
    for row in rows:
        ms, theirs = row["ms"], row["ms"].get("cuSPARSE")
        keys = ("csr", *(f"b2sr{tile}" for tile in TILES))
        counts = [ms[f"{key} count"] for key in keys]
        cells = [number(theirs), *map(number, counts), "" if theirs is None else ratio(min(counts), theirs)]
        more = [number(ms[f"{key} {what}"]) for what in ("words", "masked") for key in keys]
        made.append([row["graph"], str(row["products"]), *cells, *more])
    parts = ["## B2SR: products of two matrices\n", MATRICES, table(heads, made)]
    if rows := [row for row in rows if "cuSPARSE" in row["ms"]]:
        heads = ["geometric means over cuSPARSE", "rows", *(f"T = {tile}" for tile in TILES)]
        gains = [
            mean([r["ms"]["cuSPARSE"] / r["ms"][f"{k} count"] for r in rows])
            for k in ("csr", *map("b2sr{}".format, TILES))
        ]
        theirs = ["the paper, TITAN V", "", "5.34", "3.65", "9.03", "12.25"]
        parts.append(table(heads, [["A A, counts", *map(times, gains)], theirs]))
    return "\n".join(parts)


def best_limit(found: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The limit of (measure, time by tiles over time by rows) at which the chosen ways lose least against the better
    way, and that loss as a factor (geometric mean)."""
    at = sorted({measure for measure, _ in found})
    between = [math.sqrt(x * y) for x, y in itertools.pairwise(at)]

    def loss(limit: float) -> float:
        return mean([max(1.0, r if measure >= limit else 1 / r) for measure, r in found])

    limit = min([at[0] / 2, *between, at[-1] * 2], key=loss)
    return limit, loss(limit)


def limits(rows: Sequence[Row], more: Sequence[Row]) -> str:
    """Thresholds of tile products."""
    if not rows:
        return ""
    heads = ["matrix", "products per pair of tiles and row of a tile", "presence", "counts"]
    made = []
    found: dict[str, list[tuple[float, float]]] = {"words": [], "count": []}
    for row in sorted(rows, key=lambda row: (row["tile"], row["measure"])):
        r = row["by_tiles_over_rows"]
        made.append(
            [f"{row['graph']}, T = {row['tile']}", number(row["measure"]), number(r["words"]), number(r["count"])]
        )
        for kind, pairs in found.items():
            pairs.append((row["measure"], r[kind]))
    graphs: dict[str, list[tuple[float, float]]] = {"words": [], "count": []}
    for row in more:
        for tile in TILES:
            for kind, pairs in graphs.items():
                pairs.append(
                    (row["measure"][f"b2sr{tile}"], row["ms"][f"b2sr{tile} {kind}"] / row["ms"][f"csr {kind}"])
                )
    said = []
    for kind, name in (("words", "presence"), ("count", "counts")):
        limit, loss = best_limit(found[kind])
        whole, whole_loss = best_limit(found[kind] + graphs[kind])
        said.append(
            f"{name} {limit:.2g} (in the mean {100 * (loss - 1):.0f} % slower than the better way), "
            f"with the graphs above {whole:.2g} ({100 * (whole_loss - 1):.0f} %)"
        )
    text = f"Limits (`spgemm.tile_products`) that lose least: {'; '.join(said)}.\n"
    head = "### When tiles pay\n\nTime tile by tile over time by rows, of A A of matrices made for it:\n"
    return f"{head}\n{table(heads, made)}\n{text}"


def programs(rows: Sequence[Row], title: str, text: str, keys: Sequence[str]) -> str:
    """Algorithms along compressed rows, next to CSR."""
    if not rows:
        return ""
    names = [name for name in ALGORITHMS if f"csr {name}" in rows[0]["ms"]]
    parts = [f"## {title}\n", text]
    for key in keys:
        heads = ["graph", "entries", "bits an entry: CSR", FORMS[key], "of CSR's bytes"]
        heads[-1] += ", columns alone" * (key == "mplg")
        heads += [f"{ALGORITHMS[name]}: CSR ms" if k == 0 else "times faster" for name in names for k in range(2)]
        made = []
        gains: dict[str, list[float]] = {name: [] for name in names}
        for row in rows:
            bits, cells = row["bits"], list[str]()
            for name in names:
                ours, plain = row["ms"].get(f"{key} {name}"), row["ms"].get(f"csr {name}")
                cells += [number(plain), "" if ours is None or plain is None else times(plain / ours)]
                if ours is not None and plain is not None:
                    gains[name].append(plain / ours)
            if key in bits:
                sizes = [f"{bits['csr']:.2f}", f"{bits[key]:.2f}", f"{100 * bits[key] / bits['csr']:.1f} %"]
                if key == "mplg":
                    sizes[-1] += f", {100 * width_of(row['n']) / 32:.1f} %"
                made.append([row["graph"], str(row["nvals"]), *sizes, *cells])
        means = [x for name in names for x in ("", times(mean(gains[name])) if gains[name] else "")]
        parts.append(table(heads, [*made, ["geometric mean", "", "", "", "", *means]]))
    return "\n".join(parts)


def settings(rows: Sequence[Row], title: str, text: str) -> str:
    """CGR's kernels with other constants: times over the shipped ones'."""
    if not rows:
        return ""
    parts = [f"### {title}\n", text]
    if any(row["setting"].endswith("one phase") for row in rows):
        parts.append(TWO_PHASES)
    for graph in dict.fromkeys(row["graph"] for row in rows):
        mine = [row for row in rows if row["graph"] == graph]
        base = mine[0]
        heads = [
            graph,
            "bits an entry",
            *(f"{name} us" if k == 0 else "of shipped" for name in base["us"] for k in (0, 1)),
        ]
        made = []
        for row in mine:
            cells = [x for name, us in row["us"].items() for x in (number(us), f"{us / base['us'][name]:.2f}")]
            made.append([row["setting"], f"{row['bits']:.2f}", *cells])
        parts.append(table(heads, made))
    return "\n".join(parts)


def cr2(runs: Sequence[dict[str, Any]]) -> str:
    """CR2 next to CSR, NIB and virtual rows."""
    parts = []
    for run in runs:
        for what, title in (("bytes", "bytes an entry"), ("build", "build, ms"), ("product", "`plus_second`, us")):
            names = list(run["graphs"][0][what])
            rows = [[one["graph"], *(number(one[what].get(name)) for name in names)] for one in run["graphs"]]
            parts.append(table([title, *(FORMS.get(name, name) for name in names)], rows))
        parts.append(where(run))
    return "\n".join(["## CR2\n", CR2, *parts]) if parts else ""


def where(run: dict[str, Any]) -> str:
    gpu = run.get("gpu") or run["machine"].get("gpu") or run["device"]
    changed = " and changes" if run.get("changed_since_commit") else ""
    return f"bitblas {str(run['commit'])[:7]}{changed}, {run['time'][:10]}, {gpu}, medians of {run['samples']}.\n"


def page(runs: Sequence[dict[str, Any]]) -> str:
    """The text of docs/evaluations.md, of the latest run of each part. Rows with an error or a wrong answer are listed
    and not used."""
    last = {
        row["part"]: run["time"] for run in sorted(runs, key=lambda run: run["time"]) for row in run.get("rows", ())
    }
    every = [row for run in runs for row in run.get("rows", ()) if last[row["part"]] == run["time"]]
    rows = [row for row in every if row["right"] and "error" not in row]
    of = lambda part: [row for row in rows if row["part"] == part]
    failed = [f"- {r['part']}, {r['graph']}: {r.get('error', 'wrong answer')}" for r in every if r not in rows]
    failed += [f"- {r['part']}, {r['graph']}, cuSPARSE: {r['peer_error']}" for r in every if "peer_error" in r]
    parts = [
        HEAD,
        *(where(run) for run in runs if "rows" in run),
        vectors(of("bmv")),
        matrices(of("bmm")),
        limits(of("limits"), of("bmm")),
        programs(of("mplg"), "MPLG: packed columns", MPLG, ("mplg",)),
        programs(of("cgr"), "CGR: searches, components, betweenness", CGR, ("nib", "cgr")),
        settings(of("schedules"), "Schedules of the traversal (Figure 9)", SCHEDULES),
        settings(of("codes"), "Parameters of the code (Figures 11, 12, 14)", CODES),
        cr2([run for run in runs if "rows" not in run]),
        "## Errors and wrong answers\n\n" + ("\n".join(failed) if failed else "None.") + "\n",
    ]
    return "\n".join(filter(None, parts))


def write() -> int:
    """Write the page from the stored runs."""
    PAGE.write_text(page(read()))
    print(PAGE.relative_to(ROOT))
    return 0
