"""One-line summaries of results: a few numbers for each command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from ..core import Matrix, Vector
from ..core.convert import exact_sum
from ..graph import Values
from ..io import Graph, host_coo
from .algorithms import Result, Summary, upper
from .input import vertex
from .output import largest

Say = Callable[[Graph, Result, argparse.Namespace], Summary]


def found(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    summary = {"source": graph.label(vertex(graph, args.source, "--source")), "reached": v.nvals}
    return summary if args.parents else {**summary, "depth": int(host_coo(v)[1].max())}


def far(graph: Graph, answer: Vector | tuple[Vector, Vector], args: argparse.Namespace) -> Summary:
    d, parents = answer if isinstance(answer, tuple) else (answer, None)
    source = graph.label(vertex(graph, args.source, "--source"))
    summary = {"source": source, "reached": d.nvals, "farthest": host_coo(d)[1].max().item()}
    if args.to is None:
        return summary
    target = graph.label(vertex(graph, args.to, "--to"))
    distances = Values(graph, d)
    if parents is None or target not in distances:
        return {**summary, "to": target, "distance": None, "way": None}
    way = Values(graph, parents, vertices=True).way(target)
    return {**summary, "to": target, "distance": distances[target], "way": way}


def best(word: str, *, sources: bool = False) -> Say:
    """The vertices with the largest values: five, or --top."""

    def say(graph: Graph, v: Vector | tuple[Vector, Vector], args: argparse.Namespace) -> Summary:
        v = side(v, args) if isinstance(v, tuple) else v
        index, values = host_coo(v)
        first = largest(v, 5 if args.best is None else args.best)
        top = {"first": [graph.label(int(i)) for i in index[first]], word: [x.item() for x in values[first]]}
        if not sources:
            return top
        drawn = graph.matrix.nrows if args.k is None else args.k
        return {"sources": drawn if args.sources is None else args.sources.count(",") + 1, **top}

    return say


def side(answer: tuple[Vector, Vector], args: argparse.Namespace) -> Vector:
    return answer[1 if args.authorities else 0]


def classes(word: str) -> Say:
    """The number of classes and the size of the largest."""

    def say(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
        sizes = np.unique(host_coo(v)[1], return_counts=True)[1]
        return {word: len(sizes), "largest": int(sizes.max(initial=0))}

    return say


def entries(word: str) -> Say:
    return lambda graph, answer, args: {word: answer.nvals}


def edges(graph: Graph, answer: Matrix, args: argparse.Namespace) -> Summary:
    return {"edges": answer.nvals // 2}


def pairs(graph: Graph, answer: Matrix, args: argparse.Namespace) -> Summary:
    return {"pairs": answer.nvals, "farthest": host_coo(answer)[2].max(initial=0).item()}


def walks(graph: Graph, answer: Matrix, args: argparse.Namespace) -> Summary:
    return {"walks": answer.nrows, "steps": answer.nvals - answer.nrows}


def sides(graph: Graph, answer: Vector | None, args: argparse.Namespace) -> Summary:
    sizes = None if answer is None else np.bincount(host_coo(answer)[1], minlength=2).tolist()
    return {"bipartite": "no" if sizes is None else "yes", "sides": sizes}


def hops(graph: Graph, answer: Sequence[Matrix], args: argparse.Namespace) -> Summary:
    return {"edges of each hop": [hop.nvals for hop in answer]}


def number(word: str) -> Say:
    return lambda graph, answer, args: {word: answer}


def mean(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    values = host_coo(v)[1]
    if values.dtype.kind in "iu" and len(values):
        return {"mean": exact_sum(values) / len(values)}
    return {"mean": float(values.mean()) if len(values) else 0.0}


def levels(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    found = host_coo(v)[1]
    return {"levels": int(found.max(initial=-1)) + 1, "on or behind cycles": v.size - v.nvals}


def forest(graph: Graph, F: Matrix, args: argparse.Namespace) -> Summary:
    tree = upper(F)
    return {"trees": F.nrows - tree.nvals, "edges": tree.nvals, "weight": exact_sum(host_coo(tree)[2])}


def matched(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    return {"edges": v.nvals // 2, "vertices": v.nvals}


def diameter(graph: Graph, answer: int | tuple[int, int], args: argparse.Namespace) -> Summary:
    low, high = answer if isinstance(answer, tuple) else (answer, answer)
    return {"at least": low, "at most": high}
