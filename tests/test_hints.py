"""Names and arguments of other libraries raise an error with bitblas' equivalent; answers are mappings."""

import inspect
import pickle
import re
import traceback
from collections.abc import Mapping

import numpy as np
import pytest

import bitblas as gb
from bitblas import Graph, algorithms, foreign_names
from bitblas.exceptions import IndexOutOfBound, InvalidValue


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def graph():
    return Graph.from_edges([("a", "b"), ("b", "c")])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("successors", "neighbors(name)"), ("predecessors", "reverse().neighbors(name)"),
        ("reversed", "reverse()"), ("T", "reverse()"),
        ("remove", "subgraph(names) is the graph of those that stay"),
        ("num_nodes", "len(g)"), ("shape", "len(g)"), ("save", "g.write(path)"),
        ("plot", "bitblas.plots.graph(g)"), ("dijkstra", "sssp(source)"), ("line_graph", "has no such algorithm"),
        ("nodes", "vertices"), ("edges", "to_dataframe()"), ("add_edge", "Graph.from_edges"),
        ("nbunch_iter", "g.to_networkx()"), ("from_pyg", "bitblas.torch.from_pyg(edge_index)"),
        ("degrees", "degree()"), ("degree_centrality", "degree()"), ("shortest_path", "path(source, target)"),
        ("to_scipy", "bitblas.io.to_scipy_sparse(g.matrix)"), ("clustering", "local_clustering()"),
        ("pagernk", "did you mean pagerank?"), ("Successors", "neighbors(name)"), ("qqq", "dir(g) lists all names"),
    ],
)  # fmt: skip
def test_names_of_other_libraries_on_a_graph(name, hint):
    for thing in (graph(), Graph):
        with pytest.raises(AttributeError, match=re.escape(hint)):
            getattr(thing, name)


def test_a_traceback_adds_no_other_suggestion():
    """Python's own compares letters: "ancestors" for successors."""
    try:
        graph().successors
    except AttributeError as error:
        said = "".join(traceback.format_exception(error))
    assert "neighbors(name)" in said and "ancestors" not in said and "Did you mean" not in said


@pytest.mark.parametrize(
    ("name", "on_matrix", "on_vector"),
    [
        ("nnz", "nvals", "nvals"), ("toarray", "to_dense(0)", "to_dense(0)"),
        ("pagerank", "bitblas.algorithms.pagerank(A)", "bitblas.algorithms.pagerank(A)"),
        ("dijkstra", "bitblas.algorithms.sssp(A, source)", "bitblas.algorithms.sssp(A, source)"),
        ("line_graph", "no such algorithm", "no such algorithm"), ("sum", "reduce_rowwise()", "reduce()"),
        ("transpose", "T.new()", "no orientation"), ("dot", "mxm(B, semiring)", "inner(other)"),
        ("plot", "spy()", "matplotlib"),
    ],
)  # fmt: skip
def test_names_of_other_libraries_on_a_matrix_and_a_vector(name, on_matrix, on_vector):
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
    for thing, hint in ((A, on_matrix), (A.T, on_matrix), (A[0, :].new(), on_vector)):
        with pytest.raises(AttributeError, match=re.escape(hint)):
            getattr(thing, name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("dijkstra", "bitblas.algorithms.sssp(A, source)"), ("line_graph", "no such algorithm"),
        ("clustering", "bitblas.algorithms.local_clustering(A)"), ("louvian", "did you mean louvain?"),
        ("DiGraph", "bitblas.Graph"), ("from_networkx", "Graph.from_networkx"),
    ],
)  # fmt: skip
def test_names_of_other_libraries_in_modules(name, hint):
    for module in (gb, algorithms):
        with pytest.raises(AttributeError, match=re.escape(hint)):
            getattr(module, name)
    with pytest.raises(AttributeError, match=r"algorithms\.pagerank is the algorithm"):
        gb.pagerank


def test_hints_name_what_is_there():
    """No hint for a name that exists, and every algorithm in a hint exists and takes these arguments."""
    assert not {*foreign_names.GRAPH} & {*dir(Graph)}
    assert not {*foreign_names.MATRIX} & {*dir(gb.Matrix)} and not {*foreign_names.VECTOR} & {*dir(gb.Vector)}
    assert not {*foreign_names.ALGORITHMS, *foreign_names.ABSENT} & {*algorithms.__all__}
    assert not {*foreign_names.ALGORITHMS} & {*foreign_names.ABSENT}
    for call, _ in foreign_names.ALGORITHMS.values():
        name, _, rest = call.partition("(")
        needed = [one for one in rest.rstrip(")").split(", ") if one]
        code = inspect.unwrap(getattr(algorithms, name)).__code__
        assert [*code.co_varnames[1 : 1 + len(needed)]] == needed, call
    for text in foreign_names.GRAPH.values():
        for name in re.findall(r"\bg\.(\w+)", text):
            assert hasattr(graph(), name), text


def test_missing_attributes_behave_as_pythons():
    A, v = gb.Matrix(int, 2, 2), gb.Vector(int, 2)
    assert not hasattr(v, "nrows") and not hasattr(A, "size") and getattr(A, "nnz", 7) == 7
    assert "nnz" not in dir(A) and "nnz" not in dir(gb.Matrix) and "mxm" in dir(A) and "size" in dir(v)
    with pytest.raises(AttributeError, match="has no attribute 'qqq'"):
        A.qqq
    with pytest.raises(AttributeError) as seen:
        A.nnz
    assert seen.value.name == "nnz" and str(pickle.loads(pickle.dumps(seen.value))) == str(seen.value)
    assert pickle.loads(pickle.dumps(A)).isequal(A)


def test_an_algorithm_called_with_a_graph_names_the_method():
    for call, said in (
        (lambda g: algorithms.pagerank(g), r"argument A: .* a Matrix, got a Graph\. Hint: call the method, g\.pag"),
        (lambda g: algorithms.sssp(g, 0), r"g\.sssp\(\.\.\).*pass g\.matrix"),
        (lambda g: algorithms.jaccard(g.matrix, pairs=g), r"argument pairs: .*got a Graph\. Hint: pass g\.matrix"),
        (lambda g: algorithms.pagerank(np.eye(3)), r"Matrix\.from_dense"),
        (lambda g: algorithms.pagerank([(0, 1)]), r"Matrix\.from_coo"),
        (lambda g: algorithms.pagerank(g.to_networkx()), r"bitblas\.io\.from_networkx"),
    ):
        with pytest.raises(TypeError, match=said) as seen:
            call(graph())
        assert "keyword gb=" not in str(seen.value)


def test_degrees_and_indices_as_in_networkx_name_the_call_that_works():
    g = graph()
    for name in ("degree", "in_degree", "out_degree"):
        degrees = getattr(g, name)
        for wrong, said in (("b", "['b']"), (["a", "b"], "[name] for name in .."), (None, "")):
            with pytest.raises(TypeError, match=re.escape(f"{name}: expected no vertex")) as seen:
                degrees(wrong)
            assert str(seen.value).endswith(f"Hint: g.{name}(){said}")
        for option, said in (("weight", f"{name}(weighted=True)"), ("nbunch", f"{name}()[name]")):
            with pytest.raises(TypeError, match=re.escape(f"got {option!r}. Hint: {said}")):
                degrees(**{option: "b"})
        assert [*inspect.signature(degrees).parameters] == ["weighted"] and degrees(weighted=True)["b"] > 0
    for key, said in (("b", "g.neighbors('b')"), (("a", "b"), "g.has_edge('a', 'b')"), (slice(1), "g.neighbors(")):
        with pytest.raises(TypeError, match="expected a method in place of an index") as seen:
            g[key]
        assert said in str(seen.value)
    pair = Graph.from_edges([((0, 0), (0, 1))])
    with pytest.raises(TypeError, match=re.escape("g.neighbors((0, 0))")):
        pair[0, 0]
    with pytest.raises(TypeError, match=re.escape("g.degree()[(0, 0)]")):
        pair.degree((0, 0))
    assert list(g) == ["a", "b", "c"] and "a" in g and g.matrix.get(g.vertex("a"), g.vertex("b")) is True


def test_arguments_of_algorithms_as_in_networkx():
    for call, said in (
        (lambda g: g.pagerank(0.85), "pass these by name: alpha"),
        (lambda g: g.pagerank(weight="km"), "weighted=True takes the weights, and g.by(name)"),
    ):
        with pytest.raises(TypeError, match=re.escape(said)):
            call(graph())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("most_common", "largest(3)"), ("argmax", "largest(1)"), ("to_dict", "dict(values)"),
        ("to_numpy", "vector.to_dense(0)"), ("to_torch", "torch.as_tensor"), ("largst", "did you mean largest?"),
    ],
)  # fmt: skip
def test_names_of_other_libraries_on_an_answer(name, hint):
    ranks = graph().pagerank()
    assert not hasattr(ranks, name) and pickle.loads(pickle.dumps(ranks)) == ranks
    with pytest.raises(AttributeError, match=re.escape(hint)):
        getattr(ranks, name)


def test_arrays_in_place_of_objects():
    A, v = gb.Matrix(int, 2, 2), gb.Vector(int, 2)
    for call in (
        lambda: A @ np.eye(2),
        lambda: A.mxm(np.eye(2)),
        lambda: A.mxv(np.ones(2)),
        lambda: v.inner(np.ones(2)),
    ):
        with pytest.raises(TypeError, match=r"Hint: Matrix\.from_dense and Vector\.from_dense take arrays"):
            call()
    with pytest.raises(TypeError) as seen:
        A.mxv(A)
    assert "Hint" not in str(seen.value)


class Tensor:
    """An array of another library: its elements are arrays, which are equal only to themselves."""

    def __init__(self, values):
        self.values = np.asarray(values)

    shape = property(lambda self: self.values.shape)

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __dlpack__(self):
        raise NotImplementedError

    def __len__(self):
        return len(self.values)

    def __getitem__(self, k):
        return Tensor(self.values[k])


def test_edges_in_an_array_of_another_library():
    pairs = [(0, 1), (1, 2), (2, 0), (0, 2)]
    g = Graph.from_edges(Tensor(pairs))
    assert len(g) == 3 and g.isequal(Graph.from_edges(pairs)) and g.isequal(Graph.from_edges(np.array(pairs)))
    with pytest.raises(InvalidValue, match=r"got 2 x 4\. Hint: pass edges\.T"):
        Graph.from_edges(Tensor(np.transpose(pairs)))
    with pytest.raises(InvalidValue, match=r"expected names or numbers of vertices, got .* in row 0"):
        Graph.from_edges([(Tensor(i), Tensor(j)) for i, j in pairs])


def test_label_takes_numbers_of_vertices_alone():
    g, plain = graph(), Graph(graph().matrix)
    assert g.label(2) == "c" and g.label(np.int64(0)) == "a" and plain.label(1) == 1
    for one in (g, plain):
        for number in (99, 3, -1):
            with pytest.raises(IndexOutOfBound, match=f"vertex: expected the number of a vertex, 0 to 2, got {number}"):
                one.label(number)
        for wrong in (1.5, None, True, [0]):
            with pytest.raises(TypeError, match="vertex: expected the number of a vertex"):
                one.label(wrong)
    with pytest.raises(TypeError, match=r"vertex\('b'\) is the number of that name"):
        g.label("b")
    for wrong in (1.5, float("nan"), float("inf")):
        with pytest.raises(InvalidValue, match="expected the number of a vertex"):
            plain.vertex(wrong)
    assert plain.vertex("1") == plain.vertex(1.0) == 1


def test_answers_are_mappings():
    """`get` and `in` of a vertex without a value, of a value that is no vertex, and of an unhashable one."""
    levels = graph().bfs("b")
    assert isinstance(levels, Mapping) and dict(levels) == {"b": 0, "c": 1} and len(levels) == 2
    assert [*levels.keys()] == ["b", "c"] and [*levels.values()] == [0, 1] and [*levels.items()] == [("b", 0), ("c", 1)]
    assert levels == {"b": 0, "c": 1} and levels != {"b": 0}
    for other in ("a", "nobody", 5, None, 1.5, ["b"], ("b", "c")):
        assert levels.get(other, -1) == -1 and levels.get(other) is None and other not in levels
        with pytest.raises(KeyError):
            levels[other]
    with pytest.raises(KeyError, match="expected one of the 3 labels of the graph, got 'nobody'"):
        levels["nobody"]
    numbered = Graph(graph().matrix).bfs(1)
    assert numbered.get(7, -1) == numbered.get("x", -1) == numbered.get(0, -1) == -1 and numbered[2] == 1
    for each in (graph().levels_from_each(["a"]), graph().distances_from_each(["a"])):
        assert isinstance(each, Mapping) and each.get("nobody", -1) == -1 and each["a"].get("nobody", -1) == -1
    assert graph().to_undirected().spring_layout().get("nobody") is None
