"""Whether a matrix equals its transpose: found by one pass, without building the transpose; and its uses. Algorithms
for undirected graphs refuse a matrix that has an edge in one direction only, on both libraries."""

import inspect
import re

import numpy as np
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS
from battery import FORMS, MATRICES, generator

import bitblas as gb
from bitblas import Graph, algorithms
from bitblas.exceptions import InvalidValue
from bitblas.formats import Structure, class_of
from bitblas.formats.csr.layout import Csr
from bitblas.graph import methods


def both_ways(i, j):
    return np.concatenate([i, j]), np.concatenate([j, i])


def structure(rows, cols, n, **options):
    return gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, **options)._store.structure


@pytest.mark.parametrize("key", FORMS)
def test_every_form_knows(device, key):
    rng = generator(f"symmetry {key}")
    for n, k in ((1, 1), (5, 7), (70, 300), (200, 3000)):
        i, j = rng.integers(0, n, k), rng.integers(0, n, k)
        assert structure(*both_ways(i, j), n, **FORMS[key]).symmetric
        one_way = i < j if n > 5 else np.array([False])
        if one_way.any():
            assert not structure(i[one_way], j[one_way], n, **FORMS[key]).symmetric
            i, j = both_ways(i, j)
            there = np.unique(i[i != j] * n + j[i != j])
            missing = np.delete(there, len(there) // 2)  # a single mirror image
            assert not structure(missing // n, missing % n, n, **FORMS[key]).symmetric
    assert structure(np.zeros(0, int), np.zeros(0, int), 6, **FORMS[key]).symmetric
    wide = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=3, **FORMS[key])
    assert not wide._store.structure.symmetric


@pytest.mark.parametrize("key", ["nib", "cgr", "cr2", "virtual", "b2sr8", "split8"])
def test_the_matrix_is_not_decoded(device, key, monkeypatch, tune):
    """Bands of 64 entries, so that there are many; hubs, intervals, shared lists, loops."""
    rng = generator(f"not decoded {key}")
    i, j = np.divmod(rng.choice(300 * 300, 1500, replace=False), 300)
    block = np.divmod(np.arange(900), 30)  # equal rows: virtual nodes, intervals and full tiles
    hub = np.full(200, 7), np.arange(50, 250)
    i, j = both_ways(*np.concatenate([(i, j), block, hub], axis=1))
    made = structure(i, j, 300, **FORMS[key])
    there = np.unique(i[i != j] * 300 + j[i != j])
    lacking = [structure(*np.divmod(np.delete(there, k), 300), 300, **FORMS[key]) for k in (0, 411, len(there) - 1)]
    if key == "virtual":
        assert made.primary.rows.nodes > 0 and all(of.primary.rows.nodes > 0 for of in lacking)
    for kind in (type(made.primary), *map(class_of, ("nib", "cgr"))):
        monkeypatch.setattr(kind, "to_csr", lambda *args: pytest.fail("the matrix is decoded"))
        monkeypatch.setattr(kind, "coo", lambda *args: pytest.fail("the entries are listed"))
    tune({"symmetry.band": 64})
    assert made.symmetric and not any(of.symmetric for of in lacking)


@pytest.mark.in_turn
@pytest.mark.parametrize("name", MATRICES)
def test_it_is_what_the_transpose_says(device, name):
    p = MATRICES[name]()
    A = gb.Matrix.from_coo(p.rows, p.cols, True, nrows=p.nrows, ncols=p.ncols)
    assert A._store.structure.symmetric == (p.nrows == p.ncols and A.isequal(A.T.new()))


@pytest.mark.in_turn
def test_no_transpose_is_made(device, monkeypatch):
    i, j = both_ways(*generator("no transpose").integers(0, 300, (2, 2000)))
    for key in ("csr", "mplg", "b2sr8", "split8"):  # one of each format
        A = gb.Matrix.from_coo(i, j, True, nrows=300, ncols=300, **FORMS[key])
        kind = type(A._store.structure.primary)
        with monkeypatch.context() as m:
            m.setattr(kind, "transpose", lambda *args: pytest.fail("a transpose is made"))
            u = gb.Vector.from_scalar(True, 300)
            assert u.vxm(A, gb.semiring.any_pair).new().isequal(A.mxv(u, gb.semiring.any_pair).new())
            A.reorder("rcm")
        held = A._store.structure
        assert held.layout(A.format, transposed=True) is held.primary


def not_of_the_graph(transpose):
    """Of narrow matrices, a row for each source, transposes may be made."""

    def made(form, *args):
        assert form.nrows != form.ncols, "a transpose is made"
        return transpose(form, *args)

    return made


@pytest.mark.slow
@pytest.mark.parametrize("key", ["csr", "nib"])
def test_algorithms_make_no_transpose(device, key, monkeypatch):
    i, j = both_ways(*generator("no transpose").integers(0, 300, (2, 2000)))
    chunks = [(i[k : k + 500], j[k : k + 500]) for k in range(0, len(i), 500)]
    names = "bfs_levels", "bfs_parents", "connected_components", "pagerank", "betweenness_centrality", "hits"
    for name in (*names, "core_numbers", "maximal_independent_set", "eigenvector_centrality", "label_propagation"):
        A = gb.Matrix.from_chunks(chunks, nrows=300, ncols=300, symmetric=True, **FORMS[key])
        run, more = getattr(algorithms, name), [0] if name.startswith("bfs") else []
        with monkeypatch.context() as m:
            for kind in {type(A._store.structure.primary), *map(class_of, ("csr", "mplg"))}:
                m.setattr(kind, "transpose", not_of_the_graph(kind.transpose))
            run(A, *more)
        assert A._store.structure.layout(key, transposed=True) is A._store.structure.primary, name


def test_values_are_turned(device):
    i, j = both_ways(*generator("values").integers(0, 50, (2, 100)))
    A = gb.Matrix.from_coo(i, j, np.arange(200.0), nrows=50, ncols=50, dup_op="first")
    v = gb.Vector.from_dense(np.arange(50.0))
    expected = gb.Matrix.from_coo(*A.T.to_coo(), nrows=50, ncols=50).mxv(v).new()
    assert A._store.structure.symmetric and A.T.mxv(v).new().isequal(expected) and v.vxm(A).new().isequal(expected)


def test_it_is_known_of_the_form_that_is_chosen(device, monkeypatch):
    i, j = both_ways(*generator("led").integers(0, 60, (2, 200)))
    held = structure(i, j, 60, format="csr")
    assert held.symmetric
    led = held.with_primary("b2sr8")
    monkeypatch.setattr(type(led.primary), "is_symmetric", lambda self: pytest.fail("it is looked at again"))
    assert isinstance(led, Structure) and led.symmetric


def test_what_is_said_is_checked(device):
    i, j = both_ways(np.array([0, 1, 2]), np.array([1, 2, 4]))
    ptr, cols = np.array([0, 1, 3]), np.array([1, 0, 1])
    for make in (
        lambda i, j: gb.Matrix.from_coo(i, j, True, nrows=5, ncols=5, symmetric=True),
        lambda i, j: gb.Matrix.from_edgelist(np.stack([i, j], 1), nrows=5, ncols=5, symmetric=True),
        lambda i, j: gb.Matrix.from_chunks([(i, j)], nrows=5, ncols=5, symmetric=True),
        lambda i, j: gb.Matrix.from_coo(i, j, np.arange(len(i)), nrows=5, ncols=5, symmetric=True, format="b2sr"),
    ):
        A = make(i, j)
        assert A._store.structure._symmetric and A.nvals == 6
        with pytest.raises(InvalidValue, match=r"symmetric: expected an entry \(j, i\) for each"):
            make(i[:5], j[:5])
    assert gb.Matrix.from_csr(ptr, cols, ncols=2, symmetric=True).nvals == 3
    assert gb.Matrix.from_dense([[1, 0], [2, 3]], 7, symmetric=True).nvals == 4
    with pytest.raises(InvalidValue, match="symmetric: expected"):
        gb.Matrix.from_csr(ptr, cols, ncols=3, symmetric=True)
    with pytest.raises(InvalidValue, match="symmetric: expected"):
        gb.Matrix.from_dense([[1, 0], [2, 3]], 0, symmetric=True)


# ---- algorithms for undirected graphs -------------------------------------------------------------------------------

NEEDS = sorted(name for name, program in methods.programs().items() if program.facts.undirected)
NEEDS += ["average_clustering", "local_clustering"]
MORE = {"k_core": {"k": 2}, "k_truss": {"k": 3}, "bipartite_projection": {"vertices": [0]}}
MORE |= {name: {"source": 0} for name in ("approximate_pagerank", "local_community")}


def upper(gb):
    """The triangle 0-1-2 with a tail to 3, each edge once."""
    return gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [1.0, 2.0, 3.0, 4.0], nrows=4, ncols=4)


class Programs:
    @pytest.mark.parametrize("name", NEEDS)
    def test_an_upper_triangle_is_refused(self, gb, name):
        program, A = getattr(algorithms, name), upper(gb)
        before = A.dup()
        for part in (A, A.T):
            with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected a symmetric .*to_undirected"):
                program(part, **MORE.get(name, {}), gb=gb)
        assert A.isequal(before)
        both = A.ewise_add(A.T, "max").new()
        if "bipart" not in name and name != "maximum_matching":  # a triangle has no two sides
            assert program(both, **MORE.get(name, {}), gb=gb) is not None


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


class TestOnBitblas(OnBitblas, Programs):
    """The backends."""


def test_the_docstrings_say_what_is_checked():
    for name in NEEDS:
        doc = " ".join(inspect.getdoc(inspect.unwrap(getattr(algorithms, name))).split())
        assert "structure (checked)" in doc or "structure is checked" in doc, name
        assert "A not symmetric" in doc and "not checked" not in doc, name


def test_directed_variants_take_any_square_matrix():
    A = upper(gb)
    assert algorithms.local_clustering(A, directed=True).to_dense(0).tolist()[0] == 0.5
    assert algorithms.average_clustering(A, directed=True) > 0
    assert algorithms.weakly_connected_components(A).to_dense().tolist() == [0, 0, 0, 0]


def test_a_matrix_that_changes_is_looked_at_again():
    A = upper(gb)
    both = A.ewise_add(A.T, "max").new()
    assert algorithms.triangle_count(both) == 1 == algorithms.triangle_count(both)
    both[3, 0] << 1.0
    with pytest.raises(InvalidValue, match="expected a symmetric matrix"):
        algorithms.triangle_count(both)
    both[0, 3] << 1.0
    assert algorithms.triangle_count(both) == 2


def test_symmetry_is_found_once(monkeypatch):
    A, calls = upper(gb), []
    both = A.ewise_add(A.T, "max").new(gb.dtypes.FP64)
    seen = Csr.is_symmetric
    monkeypatch.setattr(Csr, "is_symmetric", lambda self: calls.append(self) or seen(self))
    for _ in range(3):
        assert algorithms.triangle_count(both) == 1
    assert len(calls) == 1


def test_a_graph_said_to_be_undirected_with_edges_one_way():
    g = Graph(upper(gb), "abcd", directed=False)
    with pytest.raises(InvalidValue, match=re.escape("the graph: expected a symmetric matrix")):
        g.triangle_count()
    whole = g.to_undirected()
    assert whole.triangle_count() == 1 and whole.number_of_edges() == 4 and whole.to_undirected() is whole
    with pytest.warns(UserWarning, match="edge directions are ignored"):
        assert Graph(upper(gb), "abcd").triangle_count() == 1


def test_a_graph_with_cycles_has_no_topological_levels():
    cycle = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    with pytest.raises(
        InvalidValue, match=r"expected an acyclic graph, got one with 3 of 3 vertices on or behind cycles: 'a', 'b'"
    ):
        cycle.topological_levels()
    behind = Graph.from_edges([("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("t", "u")])
    with pytest.raises(InvalidValue, match=r"4 of 5 vertices on or behind cycles: 'a', 'b', 't', \.\."):
        behind.topological_levels()
    with pytest.raises(InvalidValue, match="1 of 1 vertices"):
        Graph.from_edges([("a", "a")], directed=True).topological_levels()
    assert dict(Graph.from_edges([("s", "a"), ("a", "b")]).topological_levels()) == {"s": 0, "a": 1, "b": 2}
    assert dict(algorithms.topological_levels(behind.matrix).to_dict()) == {0: 0}
