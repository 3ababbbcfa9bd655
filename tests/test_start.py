"""`python -m benchmarks.start`: its programs and checks; and what makes a start, and a statement, fast."""

import json
import subprocess
import sys
from collections import Counter

import numpy as np
import oracles
import pytest
from scipy.sparse.csgraph import connected_components

from benchmarks import start
from bitblas import Matrix, Vector
from bitblas.core.statement.expressions import MatrixExpression, ScalarExpression, VectorExpression
from bitblas.core.statement.masks import Mask
from bitblas.formats import Structure
from bitblas.operations.spgemm import LazyMaskedProduct
from bitblas.store import FlatStore, MatrixStore, VectorStore
from semirings import Typed


def test_the_start_of_processes(tmp_path, capsys, monkeypatch):
    graph = oracles.Graph.of(34, start.EDGES, symmetric=True)
    assert len(start.EDGES) == 78 and start.DEPTHS == np.bincount([*oracles.levels(graph, 0).values()]).tolist()
    labels = list(range(34))
    for _ in range(2):
        found = [Counter(labels[u] for u in near) for near in oracles.neighbours(graph)]
        labels = [min(label for label, times in of.items() if times == max(of.values())) for of in found]
    assert start.LABELLED == f"{np.unique(labels, return_counts=True)[1].tolist()}\n"
    some_both_ways = oracles.Graph.of(34, start.EDGES + [(j, i) for i, j in start.EDGES[::3]])
    _, numbers = connected_components(some_both_ways.scipy(), connection="strong")
    assert start.CONNECTED == f"{[*Counter(numbers.tolist()).values()]}\n", "by the lowest vertex of each"
    path = tmp_path / "start.json"
    assert start.main(["--samples", "1", "--only", "karate", "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [row["program"] for row in rows] == ["import, BFS on karate", "bitblas bfs karate.mtx"]
    assert all(row["wrong"] == "" and 0 < row["processor"] for row in rows)
    monkeypatch.setattr(start, "programs", lambda folder: [start.Program("bad", ("-c", "print(1)"), "2\n", None)])
    assert start.main(["--samples", "1"]) == 1 and "WRONG: expected '2" in capsys.readouterr().out


COLLECTED = """
class Node: pass
node = Node()
node.itself, dead = node, weakref.ref(node)
runs = []
gc.collect()
gc.callbacks.append(lambda phase, info: runs.append(phase))
import bitblas
print(gc.isenabled(), gc.get_freeze_count(), runs)
del node
gc.collect()
print(dead())
"""


def printed(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("enabled", [True, False])
def test_import_leaves_the_collector_as_it_was(enabled):
    begin = f"import gc, numpy, weakref; {'gc.enable' if enabled else 'gc.disable'}()"
    assert printed(begin + COLLECTED).splitlines() == [f"{enabled} 0 []", "None"]


def test_what_a_program_has_frozen_stays_so():
    code = "import gc; gc.freeze(); count = gc.get_freeze_count(); import bitblas; print(gc.get_freeze_count() / count)"
    assert 0.9 < float(printed(code)) <= 1, "but for those that were let go"


def test_statements_find_attributes_at_once():
    """With __getattr__ in a class Python reads every attribute of its objects five times slower."""
    found = [Structure, MatrixStore, FlatStore, LazyMaskedProduct, VectorStore, Matrix, Vector, Mask, Typed]
    found += [MatrixExpression, VectorExpression, ScalarExpression]
    assert [kind.__name__ for kind in found if hasattr(kind, "__getattr__")] == []


def test_what_is_not_computed_has_the_attributes_of_what_it_will_be():
    A = Matrix.from_coo([0, 1], [1, 0], [2, 3], device="cpu")
    delayed = A.ewise_add(A)
    assert delayed.nvals == 2 and delayed.to_coo()[2].tolist() == [4, 6] and delayed.reduce_scalar().value == 10
    assert not hasattr(delayed, "size") and not hasattr(delayed, "_pending") and hasattr(A.reduce_rowwise(), "size")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = delayed.nothing
    with pytest.raises(AttributeError):
        delayed.name = "a name"
