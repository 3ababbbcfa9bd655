"""Vertex orders, and matrices stored in one: every operation as in the battery, in the user's numbering."""

import copy
import pickle
import re

import numpy as np
import pytest
from battery import MATRICES, VECTORS, covering, label, sample
from battery_runs import ALGEBRAS, ENTRYWISE, MASKS, MXM, PRODUCTS, SUMS, run_entrywise, run_mxm, run_product

import bitblas as gb
from bitblas import exceptions
from bitblas.compare import arrays, programs

SQUARE = ("no entries", "1x1", "gaps", "self loops", "symmetric", "hub", "65x65", "dense row")
ORDERED = ("csr reordered", "b2sr8 reordered")
# Few types, and those of the battery: each is kernels to compile.
FEW = ALGEBRAS[2], ALGEBRAS[4], ALGEBRAS[5], ALGEBRAS[8]
CALLS = {"form": ORDERED, "algebra": FEW, "call": ("mxv pull", "mxv push", "vxm pull", "vxm push"), "u": VECTORS}
STORED = {"form": ORDERED, "matrix": SQUARE}
OTHERS = {"right": ("csr reordered", "csr other", "csr"), "at": ("csr reordered", "csr")}  # in the same order, or none


def pytest_generate_tests(metafunc):
    if "product_case" in metafunc.fixturenames:
        cases = list(sample(PRODUCTS | {"matrix": SQUARE}, 16, covering(CALLS)))
        metafunc.parametrize("product_case", cases, ids=label)
    if "mxm_case" in metafunc.fixturenames:
        metafunc.parametrize("mxm_case", list(sample(MXM | OTHERS | STORED | {"algebra": SUMS[-3:]}, 10)), ids=label)
    if "entry_case" in metafunc.fixturenames:
        cases = covering({"text": ENTRYWISE["text"], "mask": MASKS[::2]})
        rest = sample(ENTRYWISE | OTHERS | STORED | {"dtypes": ENTRYWISE["dtypes"][3:4]}, len(cases))
        metafunc.parametrize("entry_case", [r | c for r, c in zip(rest, cases)], ids=label)


@pytest.mark.in_turn
def test_product(device, product_case, tune, monkeypatch):
    run_product(product_case, tune, monkeypatch)


@pytest.mark.in_turn
def test_mxm(device, mxm_case):
    run_mxm(mxm_case)


@pytest.mark.in_turn
def test_entrywise(device, entry_case):
    run_entrywise(entry_case)


def matrix(name, order=None, **more):
    p = MATRICES[name]()
    A = gb.Matrix.from_coo(p.rows, p.cols, p.rows + 2 * p.cols + 1, nrows=p.nrows, ncols=p.ncols, **more)
    return A if order is None else A.reorder(order)


def host(x):
    return np.asarray(x.get() if hasattr(x, "get") else x)


# ---- matrices stored in an order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SQUARE)
def test_there_and_back(device, name):
    A = matrix(name)
    n = A.nrows
    for order in ("degree", "rcm", "community", np.arange(n)[::-1]):
        B = A.reorder(order)
        assert B.isequal(A, check_dtype=True) and A.isequal(B) and B.T.isequal(A.T)
        for x, y in zip(B.to_coo(), A.to_coo()):
            assert (host(x) == host(y)).all()
        unsorted = [host(x) for x in B.to_coo(sort=False)]
        assert sorted(zip(*unsorted)) == sorted(zip(*(host(x) for x in A.to_coo())))
        assert B.order is None or sorted(host(B.order).tolist()) == list(range(n))
        C = B.reorder(None)
        assert C.order is None and C.isequal(A)
    assert A.reorder(range(n)).order is None


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 1], "expected a permutation of the 5 numbers 0 .. 4, got 2"),
        ([0, 1, 2, 3, 3], "expected a permutation of 0 .. 4, got one without 4"),
        ([0, 1, 2, 3, 5], "expected numbers from 0 to 4, got 5"),
        ([0, 1, 2, 3, -1], "expected numbers from 0 to 4, got -1"),
        ("best", "expected 'degree', 'bfs', 'rcm', 'community', 'llp', 'gorder' or a permutation, got 'best'"),
    ],
)
def test_what_is_no_permutation_is_refused(device, order, message):
    A = gb.Matrix.from_coo([0, 4], [1, 2], True, nrows=5, ncols=5)
    with pytest.raises(exceptions.InvalidValue, match=message):
        A.reorder(order)
    with pytest.raises(ValueError, match="expected integers"):
        A.reorder([0.0, 1.0, 2.0, 3.0, 4.0])
    with pytest.raises(exceptions.DimensionMismatch, match="expected a square matrix"):
        gb.Matrix(bool, 2, 3).reorder("degree")


def pair(name="gaps"):
    """A matrix, the same in another order, and a vector that has met the second one."""
    A = matrix(name)
    B = A.reorder(np.random.default_rng(1).permutation(A.nrows))
    v = gb.Vector.from_dict({k: k % 7 + 1 for k in range(0, A.nrows, 3)}, size=A.nrows)
    w = B.mxv(v).new()
    return A, B, v, w


def test_reading_by_index_is_in_the_users_numbers(device):
    A, B, v, w = pair()
    expected = A.mxv(gb.Vector.from_dict(v.to_dict(), size=v.size)).new()
    assert v._data.order is w._data.order is B._order is not None  # they have met, and stay in its order
    assert w.to_dict() == expected.to_dict() and w.isequal(expected) and expected.isclose(w)
    i, j = (int(host(x)[5]) for x in A.to_coo()[:2])
    assert B[i, j].value == A[i, j].value == B.T[j, i].value and B.get(0, 0) == A.get(0, 0)
    assert (i, j) in B and B[i, :].new().isequal(A[i, :].new()) and B[:, j].new().isequal(A[:, j].new())
    assert B[[i, 0], ::-1].new().isequal(A[[i, 0], ::-1].new())
    assert w[i].value == expected[i].value and w[[i, 0, i]].new().isequal(expected[[i, 0, i]].new())
    assert list(w) == list(expected) and list(B) == list(A)
    assert repr(w).splitlines()[4:] == repr(expected).splitlines()[4:]
    assert w._data.order is B._order  # reading does not change the order
    assert B.dup().order is not None and w.dup()._data.order is B._order


def test_writing_by_index_is_in_the_users_numbers(device):
    A, B, v, w = pair()
    for M in (A, B):
        M[3, 4] = 77
        M[0, 0] = 5
        del M[3, 4]
    assert B._order is not None and B.isequal(A)
    assert B._stored.order is not None
    x, y = w.dup(), gb.Vector.from_dict(w.to_dict(), size=w.size)
    for u in (x, y):
        u[7] = 1
        del u[9]
        u[[3, 2]] = [10, 20]
        u(gb.binary.plus)[5:9] = 4
        u[::-1] = u.dup()
        u(v.S)[:] = 3
    assert x.isequal(y)
    for M in (A, B):
        M[1, :] = gb.Vector.from_scalar(9, M.ncols)
    assert B.isequal(A) and B.order is None  # regions are written in the user's order


def texts(block):
    return [text.strip() for text in block.strip().replace("\n", ";").split(";")]


POSITIONAL = """
A.mxv(v, semiring.ss.min_secondi); v.vxm(A, semiring.ss.min_secondi); A.mxv(v, semiring.ss.min_firsti)
A.T.mxv(v, semiring.ss.min_secondi); A.apply(indexunary.rowindex); A.T.apply(indexunary.colindex); A.select("tril", -3)
A.T.select("triu"); A.select("diag"); A.select(">", 90); v.apply(indexunary.index); v.select("rowle", 20)
A.reduce_rowwise(agg.argmax); A.reduce_columnwise(monoid.plus); A.reduce_scalar(); v.reduce(); v.inner(u); v.outer(u)
v.diag(); A.diag(); A.power(2); A.reposition(1, 2); A.kronecker(small); A.ewise_mult(v); v.ewise_add(A, binary.plus)
A.select(v.diag().S); v.select(u.S); v.apply(binary.plus, right=2)
"""


def test_whatever_reads_positions_reads_the_users(device):
    A, B, v, _ = pair("33x33")
    scope = {name: getattr(gb, name) for name in ("semiring", "indexunary", "binary", "monoid", "agg")}
    scope |= {"small": gb.Matrix.from_coo([0, 1], [1, 0], [1, 2])}
    for text in texts(POSITIONAL):
        u = gb.Vector.from_dict({k: k + 1 for k in range(0, v.size, 2)}, size=v.size)
        plain = gb.Vector.from_dict(v.to_dict(), size=v.size)
        expected = eval(text, scope | {"A": A, "v": plain, "u": u.dup()}).dup()
        v._in(B._order)
        found = eval(text, scope | {"A": B, "v": v, "u": u}).dup()
        assert found.isequal(expected, check_dtype=True), text


def test_an_algorithm_stays_in_the_order_of_its_matrix(device):
    """Once every vector has met the matrix, no round permutes anything."""
    _, B, v, w = pair()
    seen = gb.Vector(bool, v.size)
    seen[1] = True
    q = seen.dup()
    q(~seen.S, gb.replace) << q.vxm(B, gb.semiring.any_pair[gb.dtypes.BOOL])
    seen(q.S) << True
    with gb.trace() as t:
        for _ in range(3):
            q(~seen.S, gb.replace) << q.vxm(B, gb.semiring.any_pair[gb.dtypes.BOOL])
            seen(q.S) << True
            w(gb.binary.plus) << B.mxv(v)
    assert t and not [run for run in t if run.kernel == "kernels/gather"]


def test_what_is_moved_is_seen(device):
    A, B, _, w = pair()
    v = gb.Vector.from_dict({1: 2}, size=w.size, name="v")
    assert str(gb.explain(B.mxv(v))).endswith("; in the order of the matrix, to which v will be permuted)")
    with gb.trace() as t:
        w << B.mxv(v)
    assert (t[0].kernel, t[0].plan) == ("kernels/gather", "v into the order of the matrix")
    assert "in the order of the matrix)" in str(gb.explain(B.mxv(v))) and "user" not in str(gb.explain(B.mxm(B)))
    B.name = "B"
    assert "in the order of the user, to which B will be permuted" in str(gb.explain(B.mxm(A)))
    assert "order" not in str(gb.explain(A.mxv(gb.Vector(int, A.nrows))))
    before = B.memory()
    assert before.permutation >= 4 * B.nrows and "permutation" in str(before)
    assert B.mxm(A).new().isequal(A.mxm(A).new())
    assert B.memory().caches["user's order"] and B.memory().total > before.total
    assert A.memory().permutation == 0 and "permutation" not in str(A.memory())


def test_equal_permutations_are_one_order(device):
    A, B, _, _ = pair()
    C = A.apply(gb.unary.ainv).new().reorder(B.order)
    assert C._order is B._order and C.mxm(B).new()._order is B._order
    assert gb.binary.plus(C | B).new().isequal(gb.binary.plus(A.apply(gb.unary.ainv) | A).new())


def test_copies_keep_the_order(device):
    _, B, _, w = pair()
    for C in (copy.deepcopy(B), pickle.loads(pickle.dumps(B))):
        assert C.isequal(B) and host(C.order).tolist() == host(B.order).tolist() and C.name == B.name
    assert pickle.loads(pickle.dumps(w)).isequal(w)
    assert B.to("cpu").order is not None and B.to("cpu").nvals == B.nvals


# ---- algorithms -----------------------------------------------------------------------------------------------------


def undirected(A):
    return gb.binary.max(A | A.T).new()


@pytest.mark.in_turn
@pytest.mark.parametrize("program", programs(), ids=lambda p: p.name)
def test_algorithms_answer_in_the_users_numbers(device, program):
    A = matrix("gaps") if "weighted" in program.form else matrix("gaps").apply(gb.unary.one).new(bool)
    A = undirected(A) if "undirected" in program.form else A
    B = A.reorder("rcm")
    assert B.order is not None
    source = 12
    for _ in range(2):  # the second time by the loop that was kept
        (i, x), (j, y) = (arrays(program.call(M, source, gb)) for M in (A, B))
        assert i.tolist() == j.tolist()
        assert (x == y).all() if x.dtype.kind != "f" else np.allclose(x, y, 1e-9)


def test_parents_are_the_users_numbers(device):
    A, B, _, _ = pair()
    levels, parents = gb.algorithms.bfs_levels(A, 12).to_dict(), gb.algorithms.bfs_parents(B, 12).to_dict()
    assert parents.keys() == levels.keys() and len(parents) > 20
    for v, u in parents.items():
        assert (u == v == 12) or (levels[u] == levels[v] - 1 and (u, v) in A)


def test_a_loop_that_reads_positions_is_refused_on_the_device(emulator):
    with gb.config.set(device="emulator"):
        _, B, v, _ = pair()
        v = v.dup()

        def body(_):
            v << B.mxv(v)
            v << v.select("rowle", 5)

        with pytest.raises(exceptions.CaptureError, match="positions, in a loop over a reordered matrix"):
            gb.loop.repeat(body, while_=v, limit=3)


STATEMENTS = """
x << A.mxv(y, semiring.min_plus); x(~y.S, replace) << z.vxm(A, semiring.min_plus); x(z.S) << 3; x(z.S, replace) << y
x(binary.plus) << y; x << y; x(~x.S) << A.T.mxv(z, semiring.min_plus); x(y.V) << binary.plus(y & z)
x << binary.plus(y | z); x(z.S, replace) << y.select(">", 2); x << y.select(z.S); x[7] = 4; del x[3]; x << 5
x.clear(); x << y.apply(binary.plus, right=1); x << y.dup(); x[[1, 4, 9]] << 6; x << y[::-1]; x(y.S)[:] = z
x << A.reduce_rowwise(monoid.plus); x << y.select("rowle", 12); x(binary.plus) << y.apply(indexunary.index)
x(~z.S, replace) << x; x(y.V, binary.plus) << z; x << A[5, :]
"""


@pytest.mark.parametrize("seed", [0, 116])  # 116: a full vector that the plan counts, then others
def test_programs_in_an_order_are_those_without(seed):
    """Random statements, on vectors that have met the matrix and on others."""
    rng = np.random.default_rng(seed)
    A, B, _, _ = pair("33x33")
    names = "semiring binary monoid indexunary replace".split()
    made = [{k: gb.Vector.from_dict({i: i % 5 for i in range(s, 33, s)}, size=33) for k, s in zip("uvw", (1, 2, 3))}
            for _ in range(2)]  # fmt: skip
    scopes = [{name: getattr(gb, name) for name in names} | {"A": M} | vectors for M, vectors in zip((A, B), made)]
    done = []
    for _ in range(120):
        x, y, z = rng.choice(list("uvw"), 3)
        text = str(rng.choice(texts(STATEMENTS)))
        for a, b in zip("xyz", (x, y, z)):
            text = re.sub(rf"\b{a}\b", b, text)
        done.append(text)
        for scope in scopes:
            exec(text, scope)
        for k in "uvw":
            assert scopes[0][k].isequal(scopes[1][k], check_dtype=True), f"{k} after {done[-4:]}"
