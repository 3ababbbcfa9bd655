"""Whether a matrix equals its transpose: found by one pass, without building the transpose; and its uses."""

from __future__ import annotations

import numpy as np
import pytest
from battery import FORMS, MATRICES, generator
from hypothesis import given, settings
from hypothesis import strategies as st

import bitblas as gb
from bitblas.formats import Structure, class_of


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


@pytest.mark.parametrize("name", MATRICES)
def test_it_is_what_the_transpose_says(device, name):
    p = MATRICES[name]()
    A = gb.Matrix.from_coo(p.rows, p.cols, True, nrows=p.nrows, ncols=p.ncols)
    assert A._store.structure.symmetric == (p.nrows == p.ncols and A.isequal(A.T.new()))


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n * n - 1)))))
@settings(deadline=None)
def test_small_ones(drawn):
    n, places = drawn
    i, j = np.divmod(np.array(sorted(places), int), n)
    assert structure(i, j, n, device="cpu").symmetric == ({(b, a) for a, b in zip(i, j)} == set(zip(i, j)))


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
        run, more = getattr(gb.algorithms, name), [0] if name.startswith("bfs") else []
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
        with pytest.raises(gb.exceptions.InvalidValue, match=r"symmetric: expected an entry \(j, i\) for each"):
            make(i[:5], j[:5])
    assert gb.Matrix.from_csr(ptr, cols, ncols=2, symmetric=True).nvals == 3
    assert gb.Matrix.from_dense([[1, 0], [2, 3]], 7, symmetric=True).nvals == 4
    with pytest.raises(gb.exceptions.InvalidValue, match="symmetric: expected"):
        gb.Matrix.from_csr(ptr, cols, ncols=3, symmetric=True)
    with pytest.raises(gb.exceptions.InvalidValue, match="symmetric: expected"):
        gb.Matrix.from_dense([[1, 0], [2, 3]], 0, symmetric=True)
