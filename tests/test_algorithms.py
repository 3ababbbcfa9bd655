"""Properties of all algorithms: any graph, their arguments, their texts."""

import ast
import inspect
from pathlib import Path

import hypothesis
import numpy as np
import oracles
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS, as_dict, edges, entries, full, graphs, matrix
from oracles import GRAPHS

from bitblas import algorithms
from bitblas.algorithms import (
    betweenness_centrality,
    bfs_levels,
    bfs_parents,
    coloring,
    connected_components,
    grid_graph,
    maximal_independent_set,
    minimum_spanning_forest,
    pagerank,
    rmat_graph,
    sssp,
    triangle_count,
)  # fmt: skip
from bitblas.algorithms.centrality import betweenness
from bitblas.graph import validation

# Generators have no graph to begin with; what the others need beside a graph, for one of n vertices.
FACTS = {name: getattr(algorithms, name).facts for name in algorithms.__all__}
GENERATORS = {name for name, facts in FACTS.items() if facts.answer == ("generated graph",)}
PROGRAMS = sorted(set(algorithms.__all__) - GENERATORS)
TWO_SIDES = {name for name, facts in FACTS.items() if facts.graph == "bipartite"}
NEEDED = {
    "source": lambda gb, n: 0,
    "sink": lambda gb, n: n - 1,
    "center": lambda gb, n: 0,
    "k": lambda gb, n: 3,
    "labels": lambda gb, n: gb.Vector.from_scalar(0, n),
    "starts": lambda gb, n: [0],
    "sources": lambda gb, n: [0],
    "length": lambda gb, n: 2,
    "vertices": lambda gb, n: [0],
    "counts": lambda gb, n: [2, 2],
}
SEARCHES = {  # begin at a vertex
    name
    for name in PROGRAMS
    for p in inspect.signature(getattr(algorithms, name)).parameters.values()
    if p.name in (*validation.VERTEX, *validation.VERTICES) and p.default is p.empty
}


def called(name, gb, A, n=34, **options):
    """The program of that name on A, with its arguments."""
    program = getattr(algorithms, name)
    parameters = inspect.signature(program).parameters.values()
    needed = (NEEDED[p.name](gb, n) for p in parameters if p.name in NEEDED and p.default is p.empty)
    return program(A, *needed, gb=gb, **options)


class Programs:
    # --- any graph; the searches are functions of their own, as a method would be shared by both libraries ---

    def test_any_undirected_graph(self, gb):
        @hypothesis.given(graph=graphs())
        @hypothesis.settings(max_examples=5)
        def check(graph):
            A, weights = matrix(gb, graph), graph.symmetric_integers(-2, 3)
            assert oracles.independent_fault(graph, set(entries(maximal_independent_set(A, gb=gb))[0].tolist())) is None
            assert dict(enumerate(full(coloring(A, gb=gb)).tolist())) == oracles.greedy_colors(graph)
            F = minimum_spanning_forest(matrix(gb, graph, weights, "INT64"), gb=gb)
            assert oracles.forest_fault(graph, weights, edges(F)) is None
            assert np.array_equal(full(connected_components(A, gb=gb)), oracles.components(graph))
            assert triangle_count(A, gb=gb) == oracles.triangles(graph)
            assert full(betweenness_centrality(A, gb=gb)) == pytest.approx(oracles.betweenness(graph))

        check()

    def test_any_directed_graph(self, gb):
        @hypothesis.given(graph=graphs(symmetric=False))
        @hypothesis.settings(max_examples=8)
        def check(graph):
            A, weights = matrix(gb, graph), graph.integers(0, 9)
            assert as_dict(bfs_levels(A, 0, gb=gb)) == oracles.levels(graph, 0)
            assert oracles.parents_fault(graph, 0, as_dict(bfs_parents(A, 0, gb=gb))) is None
            found = as_dict(sssp(matrix(gb, graph, weights, "FP64"), 0, delta=3, gb=gb))
            assert found == oracles.distances(graph, weights, 0)
            assert full(betweenness_centrality(A, gb=gb)) == pytest.approx(oracles.betweenness(graph))

        check()

    def test_betweenness_keeps_every_bit(self, gb):
        graph = oracles.Graph.of(6, [(i, j) for i in range(3) for j in range(3, 6)], symmetric=True)
        for batch in (1, 6):  # thirds that add up: a dependency of two thirds from each of three sources
            assert full(betweenness_centrality(matrix(gb, graph), batch=batch, gb=gb)).tolist() == [2.0] * 6

    @pytest.mark.in_turn
    def test_betweenness_by_logarithms_of_numbers_of_paths(self, gb):
        A, sources = matrix(gb, GRAPHS["grid"]), [0, 3, 7]
        right = full(betweenness_centrality(A, sources, gb=gb))
        for batch in (1, 3):
            total = 0
            for first in range(0, 3, batch):
                D = betweenness._searched(A, gb, sources[first : first + batch], batch, True)[0]["dependencies"]
                total += full(D if batch == 1 else D.reduce_columnwise(gb.monoid.plus).new())
            assert total == pytest.approx(right, rel=1e-13)

    def test_no_vertices(self, gb):
        A = gb.Matrix(gb.dtypes.BOOL, 0, 0)
        assert triangle_count(A, gb=gb) == 0
        assert minimum_spanning_forest(A, gb=gb).shape == (0, 0)
        vectors = pagerank, connected_components, betweenness_centrality, maximal_independent_set, coloring
        assert [program(A, gb=gb).size for program in vectors] == [0] * 5

    # --- arguments ---

    def test_nothing_is_left_to_autocompute(self, gb):
        A = matrix(gb, GRAPHS["karate"], -1, "INT64")
        with gb.config.set(autocompute=False):
            assert triangle_count(A, gb=gb) == 45
            for program in (pagerank, connected_components, betweenness_centrality, coloring):
                program(A, gb=gb)
            for program in (maximal_independent_set, minimum_spanning_forest):
                program(A, gb=gb)
            for program in (bfs_levels, bfs_parents):
                program(A, 0, gb=gb)
            sssp(A.apply(gb.unary.abs).new(), 0, gb=gb)
            with pytest.raises(gb.exceptions.InvalidValue, match="negative cycle"):
                sssp(A, 0, gb=gb)

    @pytest.mark.in_turn
    @pytest.mark.parametrize(
        "dtype", ["BOOL", "INT64", *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in ("UINT8", "FP32"))]
    )
    def test_the_input_stays_as_it_was(self, gb, dtype):
        graph = GRAPHS["self_loops"]
        A = matrix(gb, graph, graph.integers(0, 1), dtype)
        before = A.dup()
        for program in (bfs_levels, bfs_parents, sssp):
            program(A, 0, gb=gb)
        for program in (pagerank, connected_components, triangle_count, betweenness_centrality, coloring):
            program(A, gb=gb)
        for program in (maximal_independent_set, minimum_spanning_forest):
            program(A, gb=gb)
        assert A.isequal(before, check_dtype=True)

    @pytest.mark.parametrize("program", [bfs_levels, bfs_parents, sssp])
    @pytest.mark.parametrize("source", [-1, 34, 10**30])
    def test_source_out_of_range(self, gb, program, source):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=f"argument source: .*0 to 33.*got {source}.*Hint"):
            program(matrix(gb, GRAPHS["karate"]), source, gb=gb)

    @pytest.mark.parametrize("program", [bfs_levels, bfs_parents, sssp])
    def test_source_in_a_graph_without_vertices(self, gb, program):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match="with vertices"):
            program(gb.Matrix(gb.dtypes.BOOL, 0, 0), 0, gb=gb)

    @pytest.mark.parametrize("program", [bfs_levels, bfs_parents, sssp])
    @pytest.mark.parametrize("source", [True, np.True_, 1.0, np.float64(1), "1", None, [1.0], [[0, 1]], np.array(1.0)])
    def test_source_of_a_wrong_kind(self, gb, program, source):
        with pytest.raises(TypeError, match=r"argument source: expected a vertex number, got .*Hint"):
            program(matrix(gb, GRAPHS["karate"]), source, gb=gb)

    @pytest.mark.parametrize("shape", [(3, 4), (4, 3), (0, 1)])
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_rectangular(self, gb, name, shape):
        rows, cols = shape
        with pytest.raises(gb.exceptions.DimensionMismatch, match=f"argument A: .*{rows} rows and {cols} col.*Hint"):
            called(name, gb, gb.Matrix(gb.dtypes.BOOL, rows, cols))

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_not_a_matrix(self, gb, name):
        for thing in (np.eye(3), GRAPHS["tree"].scipy(), gb.Vector(gb.dtypes.BOOL, 3), None):
            with pytest.raises(TypeError, match=r"argument A: expected a .* Matrix, got .*Hint"):
                called(name, gb, thing)

    @pytest.mark.parametrize(
        ("option", "value"),
        [("alpha", x) for x in (-0.1, 1, 1.5, float("nan"), float("inf"))]
        + [("tol", x) for x in (0, -1e-6, float("nan"))]
        + [("max_iter", x) for x in (0, -1)],
    )
    def test_pagerank_option_out_of_range(self, gb, option, value):
        with pytest.raises(gb.exceptions.InvalidValue, match=f"argument {option}: expected .*, got {value}.*Hint"):
            pagerank(matrix(gb, GRAPHS["tree"]), gb=gb, **{option: value})

    @pytest.mark.parametrize(
        ("option", "value"), [("alpha", "0.85"), ("alpha", True), ("tol", None), ("max_iter", 10.0), ("max_iter", True)]
    )
    def test_pagerank_option_of_a_wrong_kind(self, gb, option, value):
        with pytest.raises(TypeError, match=f"argument {option}: expected .*, got .*Hint"):
            pagerank(matrix(gb, GRAPHS["tree"]), gb=gb, **{option: value})


class Every:
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_every_program_computes_by_itself_and_changes_nothing(self, gb, name):
        A = matrix(gb, GRAPHS["tree" if name in TWO_SIDES else "karate"], 1.0)
        before = A.dup()
        known = inspect.signature(getattr(algorithms, name)).parameters
        options = [option for option in ("weighted", "directed") if option in known]
        with gb.config.set(autocompute=False):
            called(name, gb, A, A.nrows)
            called(name, gb, A.T, A.nrows, **dict.fromkeys(options, True))
        assert A.isequal(before, check_dtype=True)

    @pytest.mark.parametrize("name", sorted(set(PROGRAMS) - SEARCHES))
    def test_every_program_has_an_answer_without_vertices(self, gb, name):
        answer = called(name, gb, gb.Matrix(gb.dtypes.BOOL, 0, 0), 0)
        for part in answer if isinstance(answer, tuple) else [answer]:
            assert getattr(part, "size", getattr(part, "nrows", part)) in (0, [])


def answers(gb, name, how):
    """A program's result for a stored graph, as arrays; None for a parent, of which several are valid."""
    graph = grid_graph(8, 8) if name in TWO_SIDES else rmat_graph(6)
    A = gb.Matrix.from_coo(*graph.to_coo()[:2], 1.0, nrows=64, ncols=64, **how.get("made", {}))
    A = A.reorder(how["order"]) if "order" in how else A
    answer = called(name, gb, A, 64, **({"alpha": 0.01} if name == "katz_centrality" else {}))
    if name in ("bfs_parents", "sssp_tree"):
        answer = answer[0] if isinstance(answer, tuple) else answer.nvals
    parts = answer if isinstance(answer, tuple) else (answer,)
    return [np.array(x) for part in parts for x in (part.to_coo() if hasattr(part, "to_coo") else [part or 0])]


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"made": {"format": "b2sr", "tile": 8}},
        {"made": {"format": "split"}},
        {"made": {"format": "mplg"}},
        {"order": "degree"},
    ],
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_the_same_in_every_form_and_order(name, how):
    import bitblas

    with bitblas.config.set(device="cpu"):
        for found, right in zip(answers(bitblas, name, how), answers(bitblas, name, {}), strict=True):
            assert found == pytest.approx(right)


class TestOnGraphBLAS(OnGraphBLAS, Programs, Every):
    """The programs themselves."""


@pytest.mark.slow
class TestOnEveryDevice(OnBitblas, Every):
    """Whatever there is."""


class TestOnBitblas(OnBitblas, Programs):
    def test_bitblas_is_the_default(self, gb):
        A = matrix(gb, GRAPHS["karate"])
        assert bfs_levels(A, 0).isequal(bfs_levels(A, 0, gb=gb))
        assert triangle_count(A) == 45


# --- the programs as texts ---


@pytest.mark.parametrize("name", algorithms.__all__)
def test_programs_are_short_and_documented(name):
    program = getattr(algorithms, name)
    assert len(inspect.getsourcelines(program)[0]) <= 60
    assert inspect.signature(program).parameters["gb"].kind is inspect.Parameter.KEYWORD_ONLY
    for word in ("A: Matrix, n x n", "Returns", "Raises"):
        assert word in inspect.getdoc(program) or (name in GENERATORS and word.startswith("A:"))


@pytest.mark.parametrize(
    "file", sorted(Path(algorithms.__file__).parent.glob("*/[a-z]*.py")), ids=lambda file: file.name
)
def test_programs_use_nothing_but_the_library(file):
    tree = ast.parse(file.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert all(isinstance(node, ast.ImportFrom) and node.level in (1, 2) for node in imports), "only of this package"
    assert "algorithm" in [node.names[0].name for node in imports]  # its decorator checks the matrix
    assert len(ast.get_docstring(tree).splitlines()) >= 8
