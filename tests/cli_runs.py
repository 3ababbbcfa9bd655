"""Runs of the command line, and the graphs that they are given."""

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


EXPECTED = {
    "mis": {"members": 3},
    "coloring": {"colors": 3, "largest": 3},
    "msf": {"trees": 2, "edges": 4, "weight": 4},
    "bfs": {"source": 0, "reached": 5, "depth": 3},
    "sssp": {"source": 0, "reached": 5, "farthest": 4},
    "components": {"components": 2, "largest": 5},
    "triangles": {"triangles": 2},
}
