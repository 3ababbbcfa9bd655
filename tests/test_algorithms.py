"""Properties of all algorithms: any graph, their arguments, their texts."""

import inspect

import hypothesis
import numpy as np
import oracles
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS, as_dict, edges, entries, full, graphs, matrix
from oracles import GRAPHS

import bitblas
from bitblas import algorithms as al
from bitblas.algorithms.centrality import betweenness
from bitblas.graph import validation

# Generators have no graph to begin with; what the others need beside a graph, for one of n vertices.
FACTS = {name: getattr(al, name).facts for name in al.__all__}
GENERATORS = {name for name, facts in FACTS.items() if facts.answer == ("generated graph",)}
PROGRAMS = sorted(set(al.__all__) - GENERATORS)
TWO_SIDES = {name for name, facts in FACTS.items() if facts.graph == "bipartite"}
NEEDED = {"source": 0, "center": 0, "k": 3, "length": 2, "counts": [2, 2]}
NEEDED |= {name: [0] for name in ("starts", "sources", "vertices")}
SEARCHES = {  # begin at a vertex
    name
    for name in PROGRAMS
    for p in inspect.signature(getattr(al, name)).parameters.values()
    if p.name in (*validation.VERTEX, *validation.VERTICES) and p.default is p.empty
}


VECTORS = "pagerank connected_components betweenness_centrality coloring maximal_independent_set".split()
NOT_VERTICES = (True, np.True_, 1.0, np.float64(1), "1", None, [1.0], [[0, 1]], np.array(1.0))
SOURCES = [(x, None, f"argument source: .*0 to 33.*got {x}.*Hint") for x in (-1, 34, 10**30)]
SOURCES += [(x, TypeError, r"argument source: expected a vertex number, got .*Hint") for x in NOT_VERTICES]
SOURCES += [(0, None, "with vertices")]  # of a graph without any
OUT_OF_RANGE = {"alpha": (-0.1, 1, 1.5, np.nan, np.inf), "tol": (0, -1e-6, np.nan), "max_iter": (0, -1)}
WRONG_KINDS = {"alpha": ("0.85", True), "tol": (None,), "max_iter": (10.0, True)}
OPTIONS = [(option, x, None) for option, values in OUT_OF_RANGE.items() for x in values]
OPTIONS += [(option, x, TypeError) for option, values in WRONG_KINDS.items() for x in values]


def called(name, gb, A, n=34, **options):
    """The program of that name on A, with its arguments."""
    program = getattr(al, name)
    parameters = inspect.signature(program).parameters.values()
    values = NEEDED | {"sink": n - 1, "target": n - 1, "pairs": A, "costs": A, "labels": gb.Vector.from_scalar(0, n)}
    needed = (values[p.name] for p in parameters if p.name in values and p.default is p.empty)
    return program(A, *needed, gb=gb, **options)


class Programs:
    # --- any graph; the searches are functions of their own, as a method would be shared by both libraries ---

    def test_any_undirected_graph(self, gb):
        @hypothesis.given(graph=graphs())
        @hypothesis.settings(max_examples=5)
        def check(graph):
            A, weights = matrix(gb, graph), graph.symmetric_integers(-2, 3)
            members = set(entries(al.maximal_independent_set(A, gb=gb))[0].tolist())
            assert oracles.independent_fault(graph, members) is None
            assert dict(enumerate(full(al.coloring(A, gb=gb)).tolist())) == oracles.greedy_colors(graph)
            F = al.minimum_spanning_forest(matrix(gb, graph, weights, "INT64"), gb=gb)
            assert oracles.forest_fault(graph, weights, edges(F)) is None
            assert np.array_equal(full(al.connected_components(A, gb=gb)), oracles.components(graph))
            assert al.triangle_count(A, gb=gb) == oracles.triangles(graph)
            assert full(al.betweenness_centrality(A, gb=gb)) == pytest.approx(oracles.betweenness(graph))

        check()

    def test_any_directed_graph(self, gb):
        @hypothesis.given(graph=graphs(symmetric=False))
        @hypothesis.settings(max_examples=8)
        def check(graph):
            A, weights = matrix(gb, graph), graph.integers(0, 9)
            assert as_dict(al.bfs_levels(A, 0, gb=gb)) == oracles.levels(graph, 0)
            assert oracles.parents_fault(graph, 0, as_dict(al.bfs_parents(A, 0, gb=gb))) is None
            found = as_dict(al.sssp(matrix(gb, graph, weights, "FP64"), 0, delta=3, gb=gb))
            assert found == oracles.distances(graph, weights, 0)
            assert full(al.betweenness_centrality(A, gb=gb)) == pytest.approx(oracles.betweenness(graph))

        check()

    def test_betweenness_keeps_every_bit(self, gb):
        graph = oracles.Graph.of(6, [(i, j) for i in range(3) for j in range(3, 6)], symmetric=True)
        for batch in (1, 6):  # thirds that add up: a dependency of two thirds from each of three sources
            assert full(al.betweenness_centrality(matrix(gb, graph), batch=batch, gb=gb)).tolist() == [2.0] * 6

    @pytest.mark.in_turn
    def test_betweenness_by_logarithms_of_numbers_of_paths(self, gb):
        A, sources = matrix(gb, GRAPHS["grid"]), [0, 3, 7]
        right = full(al.betweenness_centrality(A, sources, gb=gb))
        for batch in (1, 3):
            total = 0
            for first in range(0, 3, batch):
                D = betweenness._searched(A, gb, sources[first : first + batch], batch, True)[0][0]
                total += full(D if batch == 1 else D.reduce_columnwise(gb.monoid.plus).new())
            assert total == pytest.approx(right, rel=1e-13)

    def test_no_vertices(self, gb):
        A = gb.Matrix(gb.dtypes.BOOL, 0, 0)
        assert al.triangle_count(A, gb=gb) == 0
        assert al.minimum_spanning_forest(A, gb=gb).shape == (0, 0)
        for name in (*VECTORS, "strongly_connected_components", "weakly_connected_components", "topological_levels"):
            assert called(name, gb, A).size == 0

    # --- arguments ---

    def test_a_negative_cycle_is_found_without_autocompute(self, gb):
        A = matrix(gb, GRAPHS["karate"], -1, "INT64")
        with gb.config.set(autocompute=False):
            assert al.triangle_count(A, gb=gb) == 45
            with pytest.raises(gb.exceptions.InvalidValue, match="negative cycle"):
                al.sssp(A, 0, gb=gb)

    @pytest.mark.in_turn
    @pytest.mark.parametrize(
        "dtype", ["BOOL", "INT64", *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in ("UINT8", "FP32"))]
    )
    def test_the_input_stays_as_it_was_without_autocompute(self, gb, dtype):
        graph = GRAPHS["self_loops"]
        A = matrix(gb, graph, graph.integers(0, 1), dtype)
        before = A.dup()
        with gb.config.set(autocompute=False):
            for name in ("bfs_levels", "bfs_parents", "sssp", "triangle_count", "minimum_spanning_forest", *VECTORS):
                called(name, gb, A)
        assert A.isequal(before, check_dtype=True)

    @pytest.mark.in_turn
    @pytest.mark.parametrize("program", [al.bfs_levels, al.bfs_parents, al.sssp])
    @pytest.mark.parametrize(("source", "error", "match"), SOURCES, ids=str)
    def test_sources_that_are_refused(self, gb, program, source, error, match):
        A = gb.Matrix(gb.dtypes.BOOL, 0, 0) if match == "with vertices" else matrix(gb, GRAPHS["karate"])
        with pytest.raises(error or gb.exceptions.IndexOutOfBound, match=match):
            program(A, source, gb=gb)

    @pytest.mark.in_turn
    @pytest.mark.parametrize("shape", [(3, 4), (4, 3), (0, 1)])
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_rectangular(self, gb, name, shape):
        rows, cols = shape
        with pytest.raises(gb.exceptions.DimensionMismatch, match=f"argument A: .*{rows} rows and {cols} col.*Hint"):
            called(name, gb, gb.Matrix(gb.dtypes.BOOL, rows, cols))

    @pytest.mark.in_turn
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_not_a_matrix(self, gb, name):
        for thing in (np.eye(3), GRAPHS["tree"].scipy(), gb.Vector(gb.dtypes.BOOL, 3), None):
            with pytest.raises(TypeError, match=r"argument A: expected a .* Matrix, got .*Hint"):
                called(name, gb, thing)

    @pytest.mark.in_turn
    @pytest.mark.parametrize(("option", "value", "error"), OPTIONS)
    def test_options_of_pagerank_that_are_refused(self, gb, option, value, error):
        match = f"argument {option}: expected .*, got {'' if error else value}.*Hint"
        with pytest.raises(error or gb.exceptions.InvalidValue, match=match):
            al.pagerank(matrix(gb, GRAPHS["tree"]), gb=gb, **{option: value})


class Every:
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_every_program_computes_by_itself_and_changes_nothing(self, gb, name):
        graph = "tree" if name in TWO_SIDES else "directed_dag" if name == "dag_longest_path" else "karate"
        A = matrix(gb, GRAPHS[graph], *((1, "INT32") if name == "minimum_cost_flow" else (1.0,)))
        before = A.dup()
        known = inspect.signature(getattr(al, name)).parameters
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


MADE = {"b2sr8": {"format": "b2sr", "tile": 8}, "split": {"format": "split"}, "mplg": {"format": "mplg"}}


def answers(gb, name, how):
    """A program's result for a stored graph, as arrays; None for a parent, of which several are valid."""
    graph = al.grid_graph(8, 8) if name in TWO_SIDES else al.rmat_graph(6)
    graph = graph.select(gb.select.triu, 1).new() if name == "dag_longest_path" else graph
    one = 1 if name == "minimum_cost_flow" else 1.0
    A = gb.Matrix.from_coo(*graph.to_coo()[:2], one, nrows=64, ncols=64, **MADE.get(how, {}))
    A = A.reorder(how) if how == "degree" else A
    answer = called(name, gb, A, 64, **({"alpha": 0.01} if name == "katz_centrality" else {}))
    if name in ("dag_longest_path", "minimum_cost_flow"):
        answer = answer[1]
    if name in ("bfs_parents", "sssp_tree", "k_shortest_paths", "all_shortest_paths"):
        answer = answer[name == "k_shortest_paths"] if isinstance(answer, tuple) else answer.nvals
    parts = answer if isinstance(answer, tuple) else (answer,)
    return [np.array(x) for part in parts for x in (part.to_coo() if hasattr(part, "to_coo") else [part or 0])]


@pytest.mark.slow
@pytest.mark.parametrize("how", [*MADE, "degree"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_the_same_in_every_form_and_order(name, how, on_the_cpu):
    for found, right in zip(answers(bitblas, name, how), answers(bitblas, name, "plain"), strict=True):
        assert found == pytest.approx(right)


class TestOnGraphBLAS(OnGraphBLAS, Programs, Every):
    """The programs themselves."""


@pytest.mark.slow
class TestOnEveryDevice(OnBitblas, Every):
    """Whatever there is."""


class TestOnBitblas(OnBitblas, Programs):
    def test_bitblas_is_the_default(self, gb):
        A = matrix(gb, GRAPHS["karate"])
        assert al.bfs_levels(A, 0).isequal(al.bfs_levels(A, 0, gb=gb))
        assert al.triangle_count(A) == 45


# --- the programs as texts ---


@pytest.mark.parametrize("name", al.__all__)
def test_programs_are_short_and_documented(name):
    program = getattr(al, name)
    assert len(inspect.getsourcelines(program)[0]) <= 60
    assert inspect.signature(program).parameters["gb"].kind is inspect.Parameter.KEYWORD_ONLY
    for word in ("A: Matrix, n x n", "Returns", "Raises"):
        assert word in inspect.getdoc(inspect.unwrap(program)) or (name in GENERATORS and word.startswith("A:"))
