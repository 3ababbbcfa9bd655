"""Loops that stay on the device: the same bodies on every device, against a plain loop and against the algorithms."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import interrupted

import bitblas as gb
from bitblas.exceptions import CaptureError, InvalidValue
from bitblas.loop import Program, repeat

BOOL, INT64, FP64, FP32 = gb.dtypes.BOOL, gb.dtypes.INT64, gb.dtypes.FP64, gb.dtypes.FP32
TILES = tuple(("b2sr", tile) for tile in (4, 8, 16, 32, 64))
FORMS = (("csr", None), *TILES, ("mplg", None), ("split", 8))


def in_emulator(test):
    """Plain loops on the CPU are slow tests."""
    return pytest.mark.in_turn(pytest.mark.parametrize("turn", [{"device": "emulator"}], ids=["emulator"])(test))


def graph(n=150, m=400, spread=12, seed=0, weights=None, symmetric=False, **form):
    """A directed graph, or all edges both ways, with a hub, self loops and vertices without edges."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n, m)
    cols = np.clip(rows + rng.integers(-spread, spread + 1, m), 0, n - 1)
    rows, cols = np.concatenate([rows, np.full(n // 2, 7)]), np.concatenate([cols, np.arange(0, n, 2)[: n // 2]])
    keys = np.unique(np.concatenate([rows * n + cols, (cols * n + rows)[: symmetric * len(rows)]]))
    values = True if weights is None else rng.integers(1, 64, len(keys)).astype(weights)
    return gb.Matrix.from_coo(keys // n, keys % n, values, nrows=n, ncols=n, **form)


def entries(x):
    """to_coo as arrays of the host."""
    return tuple(np.asarray(a.get() if hasattr(a, "get") else a) for a in x.to_coo())


def full(lib, values, dtype=None):
    return lib.Vector.from_coo(np.arange(len(values)), values, dtype, size=len(values))


def by_index(x):
    return dict(zip(*(a.tolist() for a in entries(x))))


def dense(x, missing=-99):
    """The entries as a list; `missing` where there is none."""
    found = by_index(x)
    return [found.get(k, missing) for k in range(x.size)]


def count_down(*vectors):
    """Subtract 1; entries end at 0."""
    for x in vectors:
        x << x.apply(gb.binary.minus, right=1)
        x << x.select(gb.select.valuegt, 0)


def options(form):
    return {"format": form[0], "tile": form[1]}


def levels_program(A, v, q):
    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[BOOL])

    return Program(body, while_=q)


def searches(A):
    """A program of levels, and what runs it from a source: how many rounds, and the levels."""
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    program = levels_program(A, v, q)

    def search(source):
        v.clear()
        q.clear()
        q[source] = True
        rounds = program.run()
        assert q.nvals == 0
        return rounds, by_index(v)

    return program, search


def check_levels(A, device):
    program, search = searches(A)
    for source in (0, 7, 149):
        expected = oracle_levels(A, source)
        assert search(source) == (max(expected.values()) + 1, expected)
    told = program.explain()
    assert told.launches or device == "cpu"
    if told.launches:
        (only,) = told.launches
        assert only.kind == "advance" and len(only.statements) == 2 and "advance" in str(told)
    return program


@pytest.mark.parametrize("form", FORMS)
def test_breadth_first_levels(device, form):
    check_levels(graph(**options(form)), device)


def oracle(A):
    rows, cols, _ = entries(A)
    return oracles.Graph(A.nrows, rows, cols, symmetric=False)


def oracle_levels(A, source):
    return oracles.levels(oracle(A), source)


@pytest.mark.parametrize("form", (*FORMS[:3], *FORMS[-2:]))
def test_breadth_first_parents(device, form):
    A = graph(**options(form))
    n = A.nrows
    p, q = gb.Vector(INT64, n), gb.Vector(INT64, n)
    q[3] = 3

    def body(_):
        p(q.S) << q
        q(~p.S, gb.replace) << q.vxm(A, gb.semiring.ss.any_secondi)

    repeat(body, while_=q)
    assert oracles.parents_fault(oracle(A), 3, by_index(p)) is None


@in_emulator
@pytest.mark.parametrize("form", (FORMS[2], FORMS[-1]))
def test_any_edge_of_those_that_lead_to_a_vertex(device, turn, form):
    """On tiles, one product for each new position, with the value of its own entry."""
    A = graph(**options(form))
    n, (rows, cols, _) = A.nrows, entries(A)
    A = gb.Matrix.from_coo(rows, cols, rows * n + cols, nrows=n, ncols=n, **options(form))
    p, q = gb.Vector(INT64, n), gb.Vector(INT64, n)
    q[3] = 3 * n + 3

    def body(_):
        p(q.S) << q
        q(~p.S, gb.replace) << q.vxm(A, gb.semiring.any_second)

    repeat(body, while_=q)
    edges, found = set((rows * n + cols).tolist()), by_index(p)
    assert all(edge in edges or edge == 3 * n + 3 for edge in found.values())
    assert all(edge % n == vertex for vertex, edge in found.items())
    assert oracles.parents_fault(oracle(A), 3, {vertex: edge // n for vertex, edge in found.items()}) is None


@pytest.mark.in_turn
@pytest.mark.parametrize("form", (*FORMS[:4], FORMS[-1]))
@pytest.mark.parametrize("dtype", [FP32, INT64])
def test_shortest_paths(device, form, dtype):
    A = graph(weights=dtype.np_type, **options(form))
    n = A.nrows
    d, q, worse = gb.Vector(dtype, n), gb.Vector(dtype, n), gb.Vector(BOOL, n)
    d[0] = 0
    q[0] = 0

    def body(_):
        q << q.vxm(A, gb.semiring.min_plus[dtype])
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q

    repeat(body, while_=q)
    assert by_index(d) == oracles.distances(oracle(A), entries(A)[2], 0)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", (*FORMS[:3], FORMS[-1]))
def test_a_scalar_may_be_the_condition(device, form):
    A = graph(**options(form))
    n = A.nrows
    r, t, w = gb.Vector.from_scalar(1 / n, n), gb.Vector(FP64, n), gb.Vector(FP64, n)
    total, rest, change, going = gb.Scalar(FP64), gb.Scalar(FP64), gb.Scalar(FP64), gb.Scalar.from_value(True)
    w << A.mxv(r, gb.semiring.plus_pair[FP64])
    w << w.apply(gb.binary.truediv, left=0.85)

    def body(_):
        t << gb.binary.times(w & r)
        t << A.T.mxv(t, gb.semiring.plus_second[FP64])
        total << t.reduce(gb.monoid.plus, allow_empty=False)
        rest << total.apply(gb.binary.minus, left=1.0)
        rest << rest.apply(gb.binary.truediv, right=float(n))
        t(gb.binary.plus) << rest
        r(gb.binary.minus) << t
        r << r.apply(gb.unary.abs)
        change << r.reduce(gb.monoid.plus)
        going << change.apply(gb.binary.ge, right=1e-9)
        r << t

    rounds = repeat(body, while_=going, limit=300)
    expected = gb.algorithms.pagerank(A, tol=1e-9, max_iter=300)
    assert 5 < rounds < 300 and not going.value and change.value < 1e-9
    np.testing.assert_allclose(entries(r)[1], entries(expected)[1], rtol=1e-9)


def test_limits_and_empty_loops(device):
    A = graph()
    n = A.nrows
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    body = levels_program(A, v, q).body
    assert repeat(body, while_=q) == 0 == v.nvals
    q[0] = True
    assert repeat(body, while_=q, limit=2) == 2
    expected = oracle_levels(A, 0)
    assert by_index(v) == {i: k for i, k in expected.items() if k < 2}
    assert q.to_coo()[0].tolist() == sorted(i for i, k in expected.items() if k == 2)
    assert repeat(body, while_=q, limit=0) == 0
    # It continues where it stopped, but rounds are numbered from 0 again.
    repeat(body, while_=q)
    assert v.nvals == len(expected)


def test_a_matrix_that_changed_is_captured_again(device):
    A = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=4, ncols=4)
    _, search = searches(A)
    assert search(0)[1] == {0: 0, 1: 1, 2: 2}
    A[2, 3] = True
    assert search(0)[1] == {0: 0, 1: 1, 2: 2, 3: 3}


def test_searches_from_one_vertex_after_each_other(device):
    """Repeated searches write their arguments, and no Vectors: also after searches from several vertices, with a limit,
    and on a matrix that has changed; an answer is unchanged by the next search."""
    A = graph()
    expected = lambda source, limit: {i: k for i, k in oracle_levels(A, source).items() if k <= limit}
    for _ in range(2):
        found = []
        for source in (0, 3, 7, 3):
            found.append((source, gb.algorithms.bfs_levels(A, source)))
            assert by_index(gb.algorithms.bfs_levels(A, source, depth_limit=1)) == expected(source, 1)
            parents = by_index(gb.algorithms.bfs_parents(A, source))
            assert oracles.parents_fault(oracle(A), source, parents) is None
            both = by_index(gb.algorithms.bfs_levels(A, [source, 11]))
            least = expected(11, 150)
            for i, k in expected(source, 150).items():
                least[i] = min(k, least.get(i, k))
            assert both == least
        assert all(by_index(levels) == expected(source, 150) for source, levels in found)
        A[3, 149] = True


def test_results_are_their_own(device):
    """A copy of a program's result is unchanged after the program runs again on other inputs."""
    A = graph()
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    program = levels_program(A, v, q)
    q[0] = True
    program.run()
    first, before = v.dup(), dense(v)
    v.clear()
    q[7] = True
    program.run()
    assert dense(first) == before != dense(v)


def test_an_interrupt_ends_a_loop(device):
    """Ctrl-C stops an endless loop; the vectors are unchanged, and the next loop runs."""
    v, q = gb.Vector(INT64, 40), gb.Vector(INT64, 40)
    q[3] = 1

    def body(k):
        v(q.S) << k
        q << q.apply(gb.binary.plus, right=1)

    program = Program(body, while_=q)
    with interrupted(1.0):
        program.run()
    if device != "cpu":  # a plain loop changes its vectors as it goes
        assert v.nvals == 0 and q[3].value == 1
    assert Program(body, while_=q, limit=3).run() == 3
    assert v[3].value == 2


BAD = {
    "nvals": (lambda v, q, A: bool(v.nvals), "reading a Scalar"),
    "compared": (lambda v, q, A: v.nvals == 0, "reading a Scalar"),
    "to_coo": (lambda v, q, A: np.asarray(v.to_coo()[1]), "used as an array"),
    "value": (lambda v, q, A: bool(v.reduce(gb.monoid.plus).new()), "reading a Scalar"),
    "index": (lambda v, q, A: v.__setitem__([1, 2], 5), "assignment by index"),
    "extract": (lambda v, q, A: v.__lshift__(v[[0] * v.size]), "extraction by index"),
    "nested": (lambda v, q, A: repeat(lambda k: None, while_=q), "loop"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.off_cpu
def test_what_cannot_be_captured_is_named(device, name):
    A = graph()
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    q[0] = True
    statement, said = BAD[name]

    def body(_):
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[BOOL])
        statement(v, q, A)

    with pytest.raises(CaptureError, match=said):
        repeat(body, while_=q)
    assert v.nvals == 0 and q.nvals == 1


def test_bad_arguments():
    v = gb.Vector(BOOL, 3)
    with pytest.raises(TypeError, match="body: expected a function"):
        Program(3, while_=v)
    with pytest.raises(TypeError, match="while_: expected a Vector, a Matrix, a Scalar, or a tuple"):
        Program(lambda k: None, while_=True)
    for limit in (-1, 1.5, True):
        with pytest.raises(InvalidValue, match="limit"):
            Program(lambda k: None, while_=v, limit=limit)


@pytest.mark.off_cpu
def test_a_condition_that_never_changes_is_refused(device):
    v, q = gb.Vector(INT64, 5), gb.Vector(BOOL, 5)
    q[0] = True
    with pytest.raises(CaptureError, match="never writes"):
        repeat(lambda k: v.__lshift__(k), while_=q, limit=3)


# ---- random bodies: a program against the same statements one by one ----------------------------------------------

UNARIES = ("ainv", "abs", "lnot", "one")
KINDS = ("copy", "apply", "bound", "add", "mult", "select", "scalar", "index")
BINARIES = ("plus", "min", "second", "first", "times", "ge", "pair")


STATEMENT = st.tuples(
    st.integers(0, 3), st.sampled_from(KINDS), st.integers(0, 3), st.integers(0, 3),
    st.sampled_from(BINARIES), st.sampled_from(UNARIES),
    st.sampled_from(["none", "S", "V", "~S", "~V"]), st.integers(0, 3),
    st.sampled_from([None, None, "plus", "min"]), st.booleans(),
)  # fmt: skip


def value_of(kind, x, y, op, unary):
    return {
        "copy": lambda: x, "apply": lambda: x.apply(getattr(gb.unary, unary)), "bound": lambda: x.apply(op, right=2),
        "add": lambda: x.ewise_add(y, op), "mult": lambda: x.ewise_mult(y, op), "scalar": lambda: 3,
        "select": lambda: x.select(gb.select.valuege, 1), "index": lambda: x.apply(gb.indexunary.index, 5),
    }[kind]()  # fmt: skip


def play(statements, vectors, s):
    for w, kind, a, b, binary, unary, mask, m, accum, replace in statements:
        if binary == "ge" and vectors[w].dtype != BOOL and accum is not None:
            continue
        value = value_of(kind, vectors[a], vectors[b], getattr(gb.binary, binary), unary)
        parts = []
        if mask != "none":
            found = getattr(vectors[m], mask[-1])
            parts.append(~found if mask[0] == "~" else found)
            if replace:
                parts.append(gb.replace)
        if accum is not None:
            parts.append(getattr(gb.binary, accum))
        (vectors[w](*parts) if parts else vectors[w]) << value
    s << vectors[0].reduce(gb.monoid.plus[INT64])


def four_vectors(seed, n=70):
    rng = np.random.default_rng(seed)
    made = []
    for dtype in (INT64, FP64, gb.dtypes.INT8, BOOL):
        at = np.flatnonzero(rng.random(n) < 0.5)
        made.append(gb.Vector.from_coo(at, rng.integers(0, 5, len(at)), size=n, dtype=dtype))
    return made


@settings(max_examples=6)
@given(body=st.lists(STATEMENT, min_size=1, max_size=6), seed=st.integers(0, 3))
def check_random_body(body, seed):
    left = gb.Vector.from_scalar(1, 2)
    plain, s1 = four_vectors(seed), gb.Scalar(INT64)
    for _ in range(2):
        play(body, plain, s1)
    looped, s2 = four_vectors(seed), gb.Scalar(INT64)

    def round_(k):
        play(body, looped, s2)
        left << left.select(gb.select.valuelt, 1)

    for _ in range(2):
        left << 1
        assert repeat(round_, while_=left) == 1
    for x, y in zip(plain, looped):
        assert x.isequal(y, check_dtype=True)
    assert s1.isequal(s2)


def test_random_bodies(device):
    check_random_body()
