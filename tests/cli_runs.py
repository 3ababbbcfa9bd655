"""Runs of the command line, and their graphs."""

import json

from bitblas import cli

# Two triangles that share the edge 1-2, a directed tail 3 -> 4, and a vertex alone.
GRAPH = """%%MatrixMarket matrix coordinate integer general
6 6 11
1 2 4
2 1 4
1 3 1
3 1 1
2 3 2
3 2 2
2 4 1
4 2 1
3 4 7
4 3 7
4 5 0
"""
EDGES = "ann bob 4\nbob carl 1\ncarl ann 7\ndora emil 2\n"  # vertices with names


def written(path, text):
    path.write_text(text)
    return str(path)


def run(capsys, *argv):
    status = cli.main(list(map(str, argv)))
    out, err = capsys.readouterr()
    return status, out, err


def result(capsys, *argv):
    status, out, err = run(capsys, *argv, "--device", "cpu", "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def said(capsys, *argv):
    """The output of a command on the CPU that succeeds."""
    status, out, _ = run(capsys, *argv, "--device", "cpu")
    assert status == 0
    return out


def refused(capsys, *argv):
    """The one line on stderr of a call that is rejected."""
    status, out, err = run(capsys, *argv)
    assert (status, out) == (2, "") and err.startswith("bitblas: error: ") and err.count("\n") == 1
    return err


EXPECTED = {
    "mis": {"members": 3},
    "coloring": {"colors": 3, "largest": 3},
    "msf": {"trees": 2, "edges": 4, "weight": 4},
    "bfs": {"source": 0, "reached": 5, "depth": 3},
    "sssp": {"source": 0, "reached": 5, "farthest": 4},
    "components": {"components": 2, "largest": 5},
    "triangles": {"triangles": 2},
}
# Commands whose algorithms are tested elsewhere: that each reads, calls and prints the right things.
OTHERS = {
    "bfs --parents --depth-limit 1": {"source": 0, "reached": 3},
    "sssp --parents --source 1": {"source": 1, "reached": 5, "farthest": 3},
    "eccentricity": {"first": [0, 1, 2, 3, 4], "edges": [3, 2, 2, 2, 0]},
    "diameter": {"at least": 3, "at most": 3},
    "diameter --searches 1": {"at least": 2, "at most": 4},
    "ego --center 3 --radius 1": {"edges": 7},
    "strong": {"components": 3, "largest": 4},
    "scc": {"components": 3, "largest": 4},
    "topological": {"levels": 1, "on or behind cycles": 5},
    "clustering": {"mean": 4 / 9},
    "squares": {"mean": 4 / 15},
    "cores": {"first": [0, 1, 2, 3, 4], "cores": [2, 2, 2, 2, 1]},
    "truss --k 3": {"edges": 5},
    "cdlp": {"communities": 3, "largest": 3},
    "louvain --weighted": {"communities": 4, "largest": 2},
    "leiden": {"communities": 3, "largest": 3},
    "markov": {"communities": 2, "largest": 5},
    "dominating": {"members": 3},
    "matching": {"edges": 2, "vertices": 4},
    "flow --sink 3": {"value": 4, "edges": 5},
    "cut --sink 4": {"value": 0, "on the source's side": 5},
    "condensation": {"components": 3, "edges": 1},
    "bridges": {"edges": 1},
    "articulation": {"vertices": 1},
    "biconnected": {"components": 2, "edges of the largest": 5},
    "edge-betweenness --sources 0": {"edges": 11},
    "edge-betweenness --normalized": {"edges": 11},
    "layout --by spring": {"vertices": 6},
    "layout --by forceatlas2": {"vertices": 6},
    "similarity --by overlap --top 1": {"pairs": 4},
    "sssp --source 0,4 --limit 2": {"source": [0, 4], "reached": 3, "farthest": 1},
    "sssp --targets 3,4": {"source": 0, "reached": 2, "farthest": 4},
    "distances": {"pairs": 22, "farthest": 4},
    "distances --limit 1": {"pairs": 12, "farthest": 1},
    "distances --targets 4 --sources 0,3": {"pairs": 2, "farthest": 4},
    "distances --sources 0,4,0": {"pairs": 11, "farthest": 4},
    "levels --sources 0,3 --depth-limit 1": {"pairs": 7, "farthest": 1},
    "paths --source 0 --target 3": {"paths": 1, "first": [0, 2, 1, 3]},
    "paths --target 3 --k 2": {"paths": 2, "first": [0, 2, 1, 3], "lengths": [4, 5]},
    "reach --source 4 --against": {"vertices": 4},
    "reach --depth-limit 1": {"vertices": 2},
    "negative-cycle": {"cycle": None},
    "vertex-triangles --top 2": {"first": [1, 2], "triangles": [2, 2]},
    "edge-triangles": {"edges": 6},
    "transitivity": {"transitivity": 0.6},
    "truss-numbers": {"edges": 6},
    "k-core --k 2": {"edges": 5},
    "bipartite": {"bipartite": "no", "sides": None},
    "walks --length 3 --starts 0,4": {"walks": 2, "steps": 3},
    "walks --length 3 --starts 0,4 --q 2": {"walks": 2, "steps": 3},
    "sample --counts 1,1 --starts 3": {"edges of each hop": [1, 0]},
    "edge-betweenness --k 2": {"edges": 11},
}
BEST = "pagerank --alpha 0.5 --max-iter 50; pagerank --weighted; closeness; harmonic; katz; eigenvector".split("; ")
BEST += ["hits", "hits --authorities"]
