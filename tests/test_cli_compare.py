"""`bitblas compare`, and the devices that commands run on."""

import functools
import tempfile
import types

import numpy as np
import pytest
from cli_runs import EXPECTED, GRAPH, refused, result, run, said, written

import bitblas as gb
from bitblas import algorithms, cli, compare

# --- compare ---


def test_compare(capsys, graph):
    pytest.importorskip("graphblas")
    made = result(capsys, "compare", graph)
    assert made["equal"]
    names = [program.name for program in compare.programs()]
    assert names[:3] == ["bfs", "sssp", "pagerank"]
    assert [row["algorithm"] for row in made["rows"]] == names
    for row in made["rows"]:
        assert row["equal"] and min(row["nbytes"].values()) > 0
        assert set(row["seconds"]) == set(row["nbytes"]) == {compare.SUITESPARSE, "cpu"}
    assert said(capsys, "compare", graph).splitlines()[-1] == "All results are equal."


def test_compare_some(capsys, graph):
    pytest.importorskip("graphblas")
    made = result(capsys, "compare", graph, "--algorithms", "maximum_flow,bfs")
    assert made["equal"] and [row["algorithm"] for row in made["rows"]] == ["maximum_flow", "bfs"]
    assert [program.name for program in compare.chosen("all")] == [program.name for program in compare.every()]
    err = refused(capsys, "compare", graph, "--algorithms", "bfs,flo")
    assert "algorithms: expected all or some of bfs, sssp" in err and "got 'flo'" in err


def test_compare_sees_a_difference(capsys, graph, monkeypatch):
    pytest.importorskip("graphblas")

    right = algorithms.triangle_count
    wrong = functools.wraps(right)(lambda A, *, gb=None: right(A, gb=gb) + (gb.__name__ == "bitblas"))
    monkeypatch.setattr(algorithms, "triangle_count", wrong)
    status, out, _ = run(capsys, "compare", graph, "--device", "cpu")
    assert (status, out.splitlines()[-1]) == (1, "Results DIFFER.")
    assert "triangles   2" in out


def test_difference():
    def vector(values, dtype=None, at=None):
        return gb.Vector.from_coo(range(len(values)) if at is None else at, values, dtype, size=5)

    for x, y, found in ((3, 3, 0), (3, 4, np.inf)):
        assert compare.difference(x, y) == found
    for x, y, found in (([1.0, 2.0], [1.0, 2.0], 0), ([1.0, np.inf], [1.0, np.inf], 0), ([1.0, 2.0], [1.0, 1.0], 0.5)):
        assert compare.difference(vector(x), vector(y)) == found
    for other in (vector([np.nan]), vector([1.0], at=[2]), vector([1])):
        assert compare.difference(vector([1.0]), other) is None


def test_weights():
    rows, cols = np.array([0, 1, 2, 70000]), np.array([1, 0, 70000, 2])
    w = compare.hash_weights(rows, cols)
    assert w.dtype == np.int64 and w.min() >= 1 and w.max() <= 63 and (w[0], w[2]) == (w[1], w[3])
    values = np.array([-2.5, 0.0, np.nan, 1.0])
    assert compare.positive_weights(rows, cols, values).tolist() == [2.5, 1.0, 1.0, 1.0]
    assert compare.positive_weights(rows, cols, values != 0).tolist() == w.tolist()


def test_symmetrised():
    rows, cols = compare.symmetrised(np.array([0, 1, 2, 2]), np.array([1, 0, 2, 0], np.uint64), 3)
    assert (rows.tolist(), cols.tolist()) == ([0, 0, 1, 2], [1, 2, 0, 0])


def test_demo_is_compare(monkeypatch, capsys, tmp_path):
    pytest.importorskip("graphblas")
    monkeypatch.setattr(compare, "demo_path", lambda: written(tmp_path / "tiny.mtx", GRAPH))
    made = result(capsys, "demo")
    assert made["equal"] and made["file"] == compare.DEMO_GRAPH


def test_ratios_in_words():
    assert compare.times(2.5, "faster", "slower") == "2.5 times faster"
    assert compare.times(0.5, "smaller", "larger") == "2.0 times larger"
    assert compare.times(1.04, "faster", "slower") == compare.times(0.97, "faster", "slower") == "the same"
    assert compare.times(300.0, "faster", "slower") == "300 times faster"
    assert [compare.format_time(s) for s in (2.5, 0.0123, 4.2e-5)] == ["2.50 s", "12.3 ms", "42 us"]
    assert [compare.size(b) for b in (5_400_000, 1_200, 3.1e9)] == ["5.4 MB", "1.2 kB", "3.10 GB"]
    rows = [
        compare.Row(name, "", True, 0.0, {"SuiteSparse": theirs, "cpu": ours}, {"SuiteSparse": 10, "cpu": 20})
        for name, theirs, ours in (("bfs", 4.0, 1.0), ("sssp", 1.0, 2.0))
    ]
    sizes = {"SuiteSparse": 10, "cpu": 5}
    sides = [types.SimpleNamespace(name=name, built={"pattern": size}) for name, size in sizes.items()]
    said, held, equal = compare.closing(rows, sides)
    assert equal == "All results are equal." and "1.4 times faster than SuiteSparse" in said
    assert said.endswith("from 2.0 times slower (sssp) to 4.0 times faster (bfs).")
    assert held.startswith("Its matrices are 2.0 times smaller when built; 2.0 times larger with what")
    rows[1].equal = False
    assert compare.closing(rows, sides) == ["Not equal: sssp.", "Results DIFFER."]


def test_demo_has_pictures(monkeypatch, capsys, tmp_path):
    pytest.importorskip("graphblas")
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(compare, "demo_path", lambda: written(tmp_path / "tiny.mtx", GRAPH))
    picture = tmp_path / "roads.png"
    words = ("demo", "--algorithms", "bfs,triangles", "--picture", picture)
    out = said(capsys, *words)
    assert picture.read_bytes().startswith(b"\x89PNG") and "geometric mean" in out
    assert "     0 to 0" in out and out.count("█") > 44 and out.splitlines()[-1] == "All results are equal."
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))  # the default path
    assert said(capsys, *words[:-2]) and (tmp_path / "bitblas-demo.png").exists()
    assert "a.doc" in refused(capsys, "demo", "--picture", tmp_path / "a.doc")


# --- devices ---


@pytest.mark.parametrize("command", [*EXPECTED, "pagerank", "compare"])
def test_device_is_not_the_default_one(capsys, graph, command, emulator):
    with gb.config.set(device="emulator"):
        made = result(capsys, command, graph)  # --device cpu
    assert made["device"] == "cpu"
    assert made.get("result") == EXPECTED.get(command, made.get("result"))


class Remote:
    """An array that the host cannot read, as CuPy's."""

    def __init__(self, array):
        self._array = array

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __len__(self):
        return len(self._array)


class Elsewhere:
    """An object whose entries come as arrays of another device."""

    class device:
        name = "elsewhere"
        to_host = staticmethod(lambda array: array._array)

    def __init__(self, here):
        self._here = here

    def __getattr__(self, name):
        return getattr(self._here, name)

    def to_coo(self):
        return tuple(map(Remote, self._here.to_coo()))


def test_what_is_written_or_compared_is_brought_to_the_host(tmp_path):
    A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [1.5, -2.0, 0.0], nrows=3, ncols=3, device="cpu")
    v = gb.Vector.from_coo([0, 2], [7, 8], size=3, device="cpu")
    for here in (A, v):
        there = Elsewhere(here)
        gb.io.mmwrite(tmp_path / "a.mtx", there)
        gb.io.mmwrite(tmp_path / "b.mtx", here)
        assert (tmp_path / "a.mtx").read_bytes() == (tmp_path / "b.mtx").read_bytes()
        assert (gb.io.to_scipy_sparse(there) != gb.io.to_scipy_sparse(here)).nnz == 0
    there = Elsewhere(v)
    cli.output.write(str(tmp_path / "v.tsv"), there, gb.io.Graph(A), False)
    assert (tmp_path / "v.tsv").read_text() == "0\t7\n2\t8\n"
    assert compare.difference(there, v) == 0
    assert compare.Operands(Elsewhere(A)).undirected[0].tolist() == [0, 1, 1, 2]
