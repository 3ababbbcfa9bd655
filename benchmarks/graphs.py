"""Benchmark graphs by name, the same everywhere: `make("grid2d_1024")`, or a Matrix Market file.

    python -m benchmarks.graphs rmat20 delaunay_n20 --folder FOLDER

makes graphs in processes of their own and writes them to FOLDER/NAME.npz, from where `make` reads them in a second.

A name is a family and a size: rmat18 (scale; 16 edges a vertex), delaunay_n18 (2^18 points in Morton order;
delaunay_n18_random: in random order), grid2d_1024 and stencil27_58 (points a side), mycielskian13, road_ny (the file
that bitblas ships), web_n19 (2^19 pages in the order of a crawl, 14 M links: a copying model, see `_web`), crawl_n18
(6 M entries, searches of some 25 levels), social_n18 and college_n15 (5 and 2.8 M entries: configuration
models), hub_n20 and even_n20
(2^23 directed edges, half of them drawn in one row; equally many, spread evenly). All but web, hub and even are
symmetric; none has self loops or equal edges. With "+degree" after its name a graph's vertices are numbered by falling
degree; with "+undirected" each edge goes both ways.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

ROAD = Path(__file__).parents[1] / "bitblas" / "data" / "USA-road-d.NY.mtx.gz"


@dataclass(frozen=True, eq=False)
class Graph:
    """Row pointers (INT64) and ascending columns (INT32) of a square pattern."""

    name: str
    ptr: np.ndarray
    col: np.ndarray

    @property
    def n(self) -> int:
        return len(self.ptr) - 1

    @property
    def nvals(self) -> int:
        return len(self.col)

    @cached_property
    def rows(self) -> np.ndarray:
        return np.repeat(np.arange(self.n, dtype=np.int64), np.diff(self.ptr))

    @cached_property
    def weights(self) -> np.ndarray:
        """Whole numbers 1..63 (FP32), the same for (i, j) and (j, i): sums of them are exact."""
        return (1 + (self._hash() >> 16) % 63).astype(np.float32)

    def _hash(self) -> np.ndarray:
        """A number below 2^32 of each entry, the same for (i, j) and (j, i)."""
        low, high = np.minimum(self.rows, self.col), np.maximum(self.rows, self.col)
        h = (low * 2654435761 + high * 40503) & 0xFFFFFFFF
        h = (h ^ (h >> 13)) * 1274126177 & 0xFFFFFFFF
        return h

    @property
    def source(self) -> int:
        """A vertex of largest degree, where searches start."""
        return int(np.diff(self.ptr).argmax())

    def sources(self, count: int) -> list[int]:
        """Random vertices with edges, where searches start."""
        linked = np.flatnonzero(np.diff(self.ptr))
        return [int(s) for s in np.random.default_rng(1).choice(linked, count)]

    @cached_property
    def directed(self) -> Graph:
        """Each edge of a symmetric graph in one direction, given by a hash of its ends."""
        keep = ((self._hash() >> 15) % 2 == 1) == (self.rows < self.col)
        ptr = np.zeros(self.n + 1, np.int64)
        np.cumsum(np.bincount(self.rows[keep], minlength=self.n), out=ptr[1:])
        return Graph(f"{self.name}+directed", ptr, self.col[keep])

    def scipy(self, values: np.ndarray | None = None, dtype: Any = np.float64) -> Any:
        """The graph as a SciPy array, all values one unless given."""
        from scipy.sparse import csr_array

        data = np.ones(self.nvals, dtype) if values is None else values
        return csr_array((data, self.col, self.ptr), shape=(self.n, self.n))


def present(n: int, density: float = 0.3) -> np.ndarray:
    """The entries of the Boolean vector that a matrix is multiplied with, as flags."""
    return np.random.default_rng(0).random(n) < density


def numbers(n: int) -> np.ndarray:
    """The full FP32 vector that a matrix is multiplied with: small whole numbers, so that sums are exact."""
    return np.random.default_rng(1).integers(1, 8, n).astype(np.float32)


def _clean(rows: np.ndarray, cols: np.ndarray, n: int, symmetric: bool = True) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse import coo_array

    keep = rows != cols
    rows, cols = rows[keep], cols[keep]
    if symmetric:
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    A = coo_array((np.ones(len(rows), np.uint8), (rows, cols)), shape=(n, n)).tocsr()
    A.sum_duplicates()
    A.sort_indices()
    return A.indptr.astype(np.int64), A.indices.astype(np.int32)


def _rmat(scale: int, edges: int = 16, a: float = 0.57, b: float = 0.19, c: float = 0.19) -> Any:
    rng, m = np.random.default_rng(1), edges << scale
    rows, cols = np.zeros(m, np.int32), np.zeros(m, np.int32)
    for _ in range(scale):
        u = rng.random(m, dtype=np.float32)
        down = u >= a + b
        right = ((u >= a) & (u < a + b)) | (u >= a + b + c)
        rows, cols = (rows << 1) | down, (cols << 1) | right
    order = rng.permutation(1 << scale).astype(np.int32)
    return _clean(order[rows], order[cols], 1 << scale)


def _morton(x: np.ndarray, y: np.ndarray, bits: int = 16) -> np.ndarray:
    def spread(v: np.ndarray) -> np.ndarray:
        v = (v * (1 << bits)).astype(np.uint64)
        for shift, keep in ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F),
                            (2, 0x3333333333333333), (1, 0x5555555555555555)):  # fmt: skip
            v = (v | (v << np.uint64(shift))) & np.uint64(keep)
        return v

    return spread(x) | (spread(y) << np.uint64(1))


def _delaunay(log_n: int, ordered: bool = True) -> Any:
    from scipy.spatial import Delaunay

    points = np.random.default_rng(1).random((1 << log_n, 2))
    if ordered:
        points = points[np.argsort(_morton(points[:, 0], points[:, 1]))]
    t = Delaunay(points).simplices
    return _clean(t[:, [0, 1, 2]].T.ravel(), t[:, [1, 2, 0]].T.ravel(), 1 << log_n)


def _grid2d(k: int) -> Any:
    i = np.arange(k * k, dtype=np.int32).reshape(k, k)
    rows, cols = [i[:, :-1].ravel(), i[:-1].ravel()], [i[:, 1:].ravel(), i[1:].ravel()]
    return _clean(np.concatenate(rows), np.concatenate(cols), k * k)


def _stencil27(k: int) -> Any:
    i = np.arange(k**3, dtype=np.int32).reshape(k, k, k)
    rows, cols = [], []
    for step in np.ndindex(3, 3, 3):
        d = tuple(s - 1 for s in step)
        if d > (0, 0, 0):
            rows.append(i[tuple(slice(max(0, -s), k - max(0, s)) for s in d)].ravel())
            cols.append(i[tuple(slice(max(0, s), k + min(0, s)) for s in d)].ravel())
    return _clean(np.concatenate(rows), np.concatenate(cols), k**3)


def _mycielskian(order: int) -> Any:
    rows, cols, n = np.array([0], np.int64), np.array([1], np.int64), 2
    for _ in range(order - 2):
        new = np.arange(n) + n
        more = np.concatenate([cols, cols + n, rows + n, np.full(n, 2 * n)])
        rows, cols, n = np.concatenate([rows, rows, cols, new]), more, 2 * n + 1
    return _clean(rows, cols, n)


def _hub(log_n: int) -> Any:
    """8 n edges are drawn, half of them in one row, which they nearly fill."""
    n, m, rng = 1 << log_n, 8 << log_n, np.random.default_rng(0)
    rows, cols = rng.integers(0, n, m), rng.integers(0, n, m)
    rows[: m // 2] = 7
    return _clean(rows, cols, n, symmetric=False)


def _even(log_n: int) -> Any:
    """As many edges as `_hub` has, drawn uniformly."""
    n, nvals, rng = 1 << log_n, len(_hub(log_n)[1]), np.random.default_rng(0)
    keys = np.unique(rng.integers(0, n * n, nvals + nvals // 16 + 64))
    keys = keys[keys // n != keys % n]
    keys = np.sort(rng.permutation(keys)[:nvals])
    return _clean(keys // n, keys % n, n, symmetric=False)


def _web(
    log_n: int, links: int = 8, copied: float = 0.85, far: float = 0.25, menu: int = 40, reach: float = 0.0
) -> Any:
    """Pages of hosts of Zipf size, host after host, directed. A page has `links` links: each is copied from a page
    shortly before it on its host (`copied`; the copying model of Kumar et al.), else a new one, to a page near it or
    (`far`) to one of the first pages of a host: any host, or one about `reach` hosts away, and
    then all pages link to the first of their host. All pages of a section of
    32 also link to a menu: 4 to `menu` consecutive pages of their host."""
    n, rng = 1 << log_n, np.random.default_rng(0)
    sizes = np.minimum(rng.zipf(1.6, n) * 8, 1 << 13)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n) + 1]
    first = np.cumsum(sizes) - sizes
    host = np.repeat(np.arange(len(sizes)), sizes)[:n]
    near = np.arange(n)[:, None] + np.round(rng.laplace(0, 12, (n, links))).astype(np.int64)
    near = np.clip(near, first[host][:, None], np.minimum(first + sizes, n)[host][:, None] - 1)
    other = host[rng.integers(0, n, (n, links))]  # by its pages
    if reach:
        other = np.clip(host[:, None] + np.round(rng.laplace(0, reach, (n, links))).astype(np.int64), 0, host[-1])
    front = first[other] + rng.geometric(0.3, (n, links)) - 1
    target = np.where(rng.random((n, links)) < far, np.minimum(front, n - 1), near)
    copies, back = rng.random((n, links)) < copied, rng.geometric(0.5, n)
    order = np.argsort(-sizes, kind="stable")
    for k in range(1, int(sizes.max())):  # page k of all hosts that have one
        page = first[order[: np.searchsorted(-sizes[order], -k)]] + k
        page = page[page < n]
        target[page] = np.where(copies[page], target[page - np.minimum(k, back[page])], target[page])
    section = np.arange(n) >> 5
    length = np.minimum(
        rng.integers(4, menu + 1, section[-1] + 1)[section], np.minimum(first + sizes, n)[host] - first[host]
    )
    room = np.minimum(first + sizes, n)[host] - first[host] - length + 1
    begin = first[host] + (rng.random(section[-1] + 1)[section] * room).astype(np.int64)
    pages = np.arange(n)
    pointed = np.repeat(begin - np.cumsum(length) + length, length) + np.arange(length.sum())
    rows = np.concatenate([np.repeat(pages, links), np.repeat(pages, length)])
    cols = np.concatenate([target.ravel(), pointed])
    if reach:
        rows, cols = np.concatenate([rows, pages]), np.concatenate([cols, first[host]])
    return _clean(rows, cols, n, symmetric=False)


def _crawl(log_n: int) -> Any:
    """A crawl of a few neighbouring sites, undirected: searches have some 20 levels, and front pages are hubs."""
    ptr, col = _web(log_n, links=5, far=0.05, menu=9, reach=20.0)
    n = len(ptr) - 1
    return _clean(np.repeat(np.arange(n), np.diff(ptr)), col, n)


def _social(log_n: int, mean: float = 22.0, exponent: float = 2.1) -> Any:
    """A configuration model: ends of edges are matched at random; degrees follow a power law, up to n / 32."""
    n, rng = 1 << log_n, np.random.default_rng(0)
    degree = (1 - rng.random(n)) ** (-1 / (exponent - 1))
    degree = np.minimum(degree, n / 32)
    degree = np.round(degree * mean / degree.mean()).astype(np.int64).clip(1, n // 32)
    ends = rng.permutation(np.repeat(np.arange(n), degree))[: degree.sum() // 2 * 2]
    return _clean(ends[::2], ends[1::2], n)


def _college(log_n: int, mean: float = 86.0) -> Any:
    """A configuration model of friendships at a college: degrees are lognormal, up to n / 8."""
    n, rng = 1 << log_n, np.random.default_rng(0)
    degree = rng.lognormal(0, 0.9, n)
    degree = np.round(degree * mean / degree.mean()).astype(np.int64).clip(1, n // 8)
    ends = rng.permutation(np.repeat(np.arange(n), degree))[: degree.sum() // 2 * 2]
    return _clean(ends[::2], ends[1::2], n)


def _file(path: str) -> Any:
    from scipy.io import mmread

    A = mmread(path, spmatrix=False)
    A = A.tocoo() if hasattr(A, "tocoo") else None
    if A is None or A.shape[0] != A.shape[1]:
        raise ValueError(f"{path}: expected a square sparse matrix")
    return _clean(np.asarray(A.row), np.asarray(A.col), A.shape[0])


FAMILIES: dict[str, Callable[[int], Any]] = {
    r"rmat(\d+)": _rmat,
    r"delaunay_n(\d+)": _delaunay,
    r"delaunay_n(\d+)_random": lambda log_n: _delaunay(log_n, ordered=False),
    r"grid2d_(\d+)": _grid2d,
    r"stencil27_(\d+)": _stencil27,
    r"mycielskian(\d+)": _mycielskian,
    r"web_n(\d+)": _web,
    r"crawl_n(\d+)": _crawl,
    r"social_n(\d+)": _social,
    r"college_n(\d+)": _college,
    r"hub_n(\d+)": _hub,
    r"even_n(\d+)": _even,
}


def located(name: str, folder: str | os.PathLike[str] | None) -> str:
    """The path of the file NAME.npz, NAME.mtx or NAME.mtx.gz in the folder, else the name."""
    paths = [Path(folder) / f"{name}{ending}" for ending in (".npz", ".mtx", ".mtx.gz")] if folder else []
    return next((str(path) for path in paths if path.exists()), name)


def _by_degree(graph: Graph, name: str) -> Graph:
    number = np.empty(graph.n, np.int64)
    number[np.argsort(-np.diff(graph.ptr), kind="stable")] = np.arange(graph.n)
    return Graph(name, *_clean(number[graph.rows], number[graph.col], graph.n, symmetric=False))


def make(name: str, folder: str | os.PathLike[str] | None = None) -> Graph:
    """The graph of that name, from its file in the folder if there is one; or of a Matrix Market file, made symmetric.
    ValueError for other names."""
    name = located(name, folder)
    if name.endswith("+degree"):
        return _by_degree(make(name.removesuffix("+degree")), name)
    if name.endswith("+undirected"):
        graph = make(name.removesuffix("+undirected"))
        return Graph(name, *_clean(graph.rows, graph.col, graph.n))
    if name == "road_ny":
        return Graph(name, *_file(str(ROAD)))
    if name.endswith(".npz"):
        with np.load(name) as stored:
            return Graph(Path(name).stem, stored["ptr"], stored["col"])
    if name.endswith((".mtx", ".mtx.gz")):
        return Graph(Path(name).name.split(".mtx")[0], *_file(name))
    for pattern, family in FAMILIES.items():
        if found := re.fullmatch(pattern, name):
            return Graph(name, *family(int(found[1])))
    known = ", ".join(p.replace(r"(\d+)", "<size>") for p in FAMILIES)
    raise ValueError(f"graph: expected a file ending in .mtx or .mtx.gz, road_ny, or one of {known}; got {name!r}")


def _write(name: str, folder: str) -> None:
    graph = make(name)
    np.savez(Path(folder) / f"{name}.npz", ptr=graph.ptr, col=graph.col)


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.graphs", description="Write graphs to a folder.")
    p.add_argument("names", nargs="+")
    p.add_argument("--folder", required=True)
    args = p.parse_args(argv)
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(_write, args.names, [args.folder] * len(args.names)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
