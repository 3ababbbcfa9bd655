"""Index vectors in the bodies of loops, and how full vectors are compiled; random bodies of statements by index, on
every device equal to python-graphblas, statement by statement."""

import random

import graphblas
import numpy as np
import pytest
from test_loop import dense, full

import bitblas as gb
from bitblas.exceptions import CaptureError, IndexOutOfBound
from bitblas.loop import Program, analysis, repeat
from bitblas.loop.ir import Body, InitializeCells, Scatter, Statement, Vec

N = 70


def numbers(seed, high=N, low=0, size=N):
    return np.random.default_rng(seed).integers(low, high, size)


def joined(index, values, dup_op=gb.binary.min, **how):
    """The values at the places of an index vector."""
    return gb.Vector.from_coo(index.to_dense(), values.to_dense(), size=N, dup_op=dup_op, **how)


def index_statements(lib):
    """Three rounds of reading and joining by index, of every kind; the vectors after that."""
    BOOL, INT32, INT64, UINT64, FP64 = (getattr(lib.dtypes, t) for t in ("BOOL", "INT32", "INT64", "UINT64", "FP64"))
    x, y = full(lib, numbers(1)), full(lib, numbers(2))
    p, w = full(lib, numbers(3), INT32), lib.Vector(FP64, N)
    some = lib.Vector.from_coo(np.flatnonzero(numbers(4) % 3), numbers(5)[numbers(4) % 3 > 0], UINT64, size=N)
    flags, found, sums = lib.Vector(BOOL, N), lib.Vector(INT64, N), lib.Vector(INT64, 2 * N)
    largest, times = full(lib, numbers(6, 9) / 4.0), full(lib, numbers(7, 9) / 4.0)
    going, parted = lib.Vector.from_scalar(True, N), full(lib, numbers(8))

    def body(k):
        # p[x] min= y: joined to p itself; then p[p], whose target is its source
        p(lib.binary.min) << lib.Vector.from_coo(x.to_dense(), y.to_dense(), INT32, size=N, dup_op=lib.binary.min)
        p << p[p.to_dense()]
        # a vector with holes, read through a full one, under a mask, with an accumulator
        found(some.S, lib.binary.plus) << some[p.to_dense()]
        # built of the entries of a vector alone: their places, and what another one holds there
        places, values = some.to_coo()
        sums << lib.Vector.from_coo(x.to_dense()[places], values, INT64, size=2 * N, dup_op=lib.binary.plus)
        w(lib.binary.max) << lib.Vector.from_coo(values, largest.to_dense()[places], size=N, dup_op=lib.binary.max)
        times << lib.Vector.from_coo(y.to_dense(), times.to_dense(), size=N, dup_op=lib.binary.max)[x.to_dense()].new()
        times(~times.S) << 0.5
        # assignment: of equal indices the last one counts, where there is nothing an entry goes
        parted[x.to_dense()] << some
        parted(lib.binary.minus)[y.to_dense()] << x
        parted[p.to_dense()] << 5
        sums[x.to_dense()] << found
        found[x.to_dense()] << found
        # marks: every index once more often, in any order
        flags << lib.Vector.from_coo(places, True, size=N)
        flags(flags.S, lib.replace) << flags[y.to_dense()]
        going(lib.Vector.from_coo(p.to_dense(), True, size=N).S, lib.replace) << True

    repeat(body, while_=going, limit=3)
    return {name: dense(v) for name, v in locals().items() if name in "p found sums w times flags going parted".split()}


@pytest.mark.off_cpu
def test_index_vectors(device):
    """The same answers as python-graphblas, where arrays are arrays."""
    expected, found = index_statements(graphblas), index_statements(gb)
    for name in expected:
        assert found[name] == expected[name], name


def test_what_is_read_and_joined_is_one_kernel_each(device):
    """Chains of p[p[..]] read one vector and share a pass; what lives in a pass alone is not stored."""
    p, x, y = full(gb, numbers(0)), full(gb, numbers(1)), full(gb, numbers(2))
    going = gb.Scalar.from_value(True)

    def body(_):
        p(gb.binary.min) << joined(x, y)
        t = p[p[p.to_dense()].new().to_dense()].new()
        x << t[p.to_dense()]
        going << False

    program = Program(body, while_=going)
    assert program.run() == 1
    held = numbers(0)
    np.minimum.at(held, numbers(1), numbers(2))
    assert dense(p) == held.tolist()
    assert dense(x) == held[held[held]][held].tolist()
    if device != "cpu":
        assert [len(line.statements) for line in program.explain().launches] == [1, 2, 2]
        assert len(program._captured.build.buffers) == 4  # p, x, y, t: what was built for p, and p[p], have no memory


OUTSIDE = {
    "read": (lambda p, x: p << p[x.to_dense()], N, r"p\[x.to_dense\(\)\]: Index out of range: index=70, size=70"),
    "negative": (lambda p, x: p << p[x.to_dense()], -N - 1, "index=-71, size=70"),
    "joined": (lambda p, x: p(gb.binary.min) << joined(x, p), N, "index=70, size=70"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_index_out_of_range_is_told_after_the_run(device, name):
    statement, index, said = OUTSIDE[name]
    p, x, q = full(gb, numbers(0)), full(gb, numbers(1)), gb.Vector.from_scalar(True, N)
    p.name, x.name = "p", "x"

    def body(k):
        q(gb.replace, mask=x.V) << True
        x(gb.binary.plus) << k
        statement(p, x)

    x[5] = -1 if name != "joined" else 3
    program, before = Program(body, while_=q, limit=2), (dense(p), dense(x), dense(q))
    program.run()
    assert dense(p) != before[0]
    for v, held in zip((p, q), (before[0], before[2])):
        v << full(gb, held)
    x << full(gb, [index if k == 9 else held for k, held in enumerate(before[1])])
    with pytest.raises(IndexOutOfBound, match=said if device != "cpu" else "70"):
        program.run()
    if device != "cpu":  # a plain loop leaves what its statements have done
        assert (dense(p), dense(q), x[9].value) == (before[0], before[2], index)
    x[9] = 0
    assert program.run() == 2


def test_missing_indices_are_told(device):
    p, x, q = full(gb, numbers(0)), full(gb, numbers(1)), gb.Vector.from_scalar(True, N)
    del x[7]
    for statement in (
        lambda k: p << p[x.to_dense()],
        lambda k: p << joined(x, p),
        lambda k: p << joined(p, x),
    ):

        def body(k, statement=statement):
            q(p.V, gb.replace) << True
            statement(k)

        before = dense(p)
        with pytest.raises(TypeError, match="missing"):
            repeat(body, while_=q, limit=1)
        assert device == "cpu" or dense(p) == before


REFUSED = {
    "order": (lambda p, x: joined(x, p, gb.binary.second), "order"),
    "minus": (lambda p, x: joined(x, p, gb.binary.minus), "order"),
    "floats": (lambda p, x: joined(x, p, gb.binary.plus, dtype=gb.dtypes.FP64), "depends on the order"),
    "bytes": (lambda p, x: joined(x, p, gb.binary.plus, dtype=gb.dtypes.INT8), "there is no atomic"),
    "alone": (lambda p, x: gb.Vector.from_coo(x.to_dense(), p.to_dense(), size=N), "without dup_op"),
    "size": (lambda p, x: gb.Vector.from_coo(x.to_dense(), 1), "without a size"),
    "masked": (lambda p, x: p(p.S)[x.to_dense()] << 1, "under a mask"),
    "places": (lambda p, x: p[x.to_coo()[0]] << 1, "by index given by the entries of a vector"),
    "array": (lambda p, x: x.to_dense() + 1, "x.to_dense.*used as an array"),
    "numpy": (lambda p, x: np.asarray(x.to_coo()[1]), "used as an array"),
    "fill": (lambda p, x: x.to_dense(0), "fill value"),
    "entries": (lambda p, x: p[x.to_coo()[1]].new(), "extraction by the entries of a vector"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.off_cpu
def test_what_index_vectors_cannot_do_is_named(device, name):
    statement, said = REFUSED[name]
    p, x, q = full(gb, numbers(0)), full(gb, numbers(1)), gb.Vector.from_scalar(True, N)
    x.name = "x"

    def body(_):
        q(p.V, gb.replace) << True
        statement(p, x)

    with pytest.raises(CaptureError, match=said):
        repeat(body, while_=q, limit=2)
    assert dense(p) == numbers(0).tolist()


@pytest.mark.off_cpu
def test_positions_of_a_reordered_matrix_are_refused(device):
    A = gb.Matrix.from_coo(np.arange(N), numbers(0), 1, nrows=N, ncols=N).reorder(numbers(1).argsort())
    p, q = full(gb, numbers(0)), gb.Vector.from_scalar(True, N)

    def body(_):
        q(p.V, gb.replace) << True
        p << A.mxv(p[p.to_dense()].new(), gb.semiring.min_second[gb.dtypes.INT64])

    with pytest.raises(CaptureError, match="positions"):
        repeat(body, while_=q, limit=2)


def test_a_condition_that_the_body_overwrites_is_looked_at_first(device):
    """So are vectors that no round has written yet: they keep what they held."""
    q, x, y = gb.Vector.from_coo([1, 4], True, size=6), full(gb, [3, 1, 0, 2, 1, 0]), full(gb, [5] * 6)

    def body(k):
        y << x
        x << x.apply(gb.binary.minus, right=1)
        q(x.V, gb.replace) << True

    program = Program(body, while_=q, limit=2)
    assert program.run() == 2
    q.clear()
    y << 9
    assert program.run() == 0
    assert dense(y) == [9] * 6


def test_products_of_full_vectors_go_by_rows(device):
    """As long as they are full: after a vector loses an entry, the loop is captured again, and pushes."""
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], 1, nrows=4, ncols=4)
    d, q = full(gb, [9, 9, 0, 9]), gb.Vector.from_scalar(True, 4)

    def body(_):
        q << True
        d(gb.binary.min) << d.vxm(A, gb.semiring.min_plus[gb.dtypes.INT64])

    program = Program(body, while_=q, limit=2)
    program.run()
    assert dense(d) == [2, 9, 0, 1]
    assert device == "cpu" or "pull" in {line.kind for line in program.explain().launches}
    del d[1]
    program.run()
    assert dense(d) == [2, 3, 0, 1]
    assert device == "cpu" or "advance" in {line.kind for line in program.explain().launches}


# ---- random bodies --------------------------------------------------------------------------------------------------

FEW = 40
KINDS = (
    "read", "read", "build", "join", "join sparse", "union", "assign", "assign sparse", "read sparse", "copy", "masked",
    "mark",
)  # fmt: skip


def run_random_body(lib, seed, rounds=2):
    """Four full vectors and two sparse ones after the rounds of the body of that seed."""
    numbers, chosen = np.random.default_rng(seed), random.Random(seed)
    v = [lib.Vector.from_coo(np.arange(FEW), numbers.integers(0, FEW, FEW), size=FEW) for _ in range(4)]
    places = [np.flatnonzero(numbers.random(FEW) < 0.5) for _ in range(2)]
    w = [lib.Vector.from_coo(at, numbers.integers(0, FEW, len(at)), lib.dtypes.INT64, size=FEW) for at in places]
    going, still = (lib.Vector.from_scalar(True, 3) for _ in range(2))
    several = lambda k, below: [chosen.randrange(below) for _ in range(k)]
    plan = [
        (chosen.choice(KINDS), several(3, 4), several(2, 2), chosen.choice(("min", "max")))
        for _ in range(chosen.randrange(2, 8))
    ]

    def body(_):
        for kind, whole, sparse, name in plan:
            (a, b, c), (s, t), op = (v[k] for k in whole), (w[k] for k in sparse), getattr(lib.binary, name)
            if kind == "read":
                a << b[c.to_dense()]
            elif kind == "build":
                s << lib.Vector.from_coo(a.to_dense(), b.to_dense(), size=FEW, dup_op=op)
            elif kind == "join":
                a(op) << lib.Vector.from_coo(b.to_dense(), c.to_dense(), size=FEW, dup_op=op)
            elif kind == "join sparse":
                at, x = s.to_coo()
                t(op) << lib.Vector.from_coo(a.to_dense()[at], x, size=FEW, dup_op=op)
            elif kind == "union":
                a(op) << lib.binary.min(b & c)
            elif kind == "assign":
                s[a.to_dense()] << t
            elif kind == "assign sparse":
                s(lib.binary.second)[a.to_dense()] << b
            elif kind == "read sparse":
                s(t.S, op) << t[a.to_dense()]
            elif kind == "copy":
                s(a.V, lib.replace) << b
            elif kind == "masked":
                a(s.S) << b[c.to_dense()].new()
            else:
                s(t.V) << lib.Vector.from_coo(t.to_coo()[0], True, size=FEW)
        going(still.S, lib.replace) << True

    repeat(body, while_=going, limit=rounds)
    return [dense(x) for x in (*v, *w)]


@pytest.mark.slow
@pytest.mark.off_cpu
@pytest.mark.parametrize("seed", range(60))
def test_random_bodies_by_index(device, seed):
    assert run_random_body(gb, seed) == run_random_body(graphblas, seed)


def test_cells_are_initialized_once_for_each_monoid():
    """An initialization would end the kernel of the statements before it. Any other statement on the vector, another
    monoid and a full vector decide again."""
    x, index = (Vec(k, 9, gb.dtypes.INT64) for k in range(2))
    kinds = {name: gb.monoid[name][gb.dtypes.INT64] for name in ("min", "plus")}
    init = {name: Statement(x, InitializeCells(monoid)) for name, monoid in kinds.items()}
    add = {name: Statement(x, Scatter(index, index, None, monoid, (), 9, 0)) for name, monoid in kinds.items()}
    kept = lambda *statements, full=(): (
        analysis.without_needless_inits(Body(statements, (x, index), ()), frozenset(full)).statements
    )
    assert kept(init["min"], add["min"], init["min"], add["min"]) == (init["min"], add["min"], add["min"])
    for other in ("plus", "min"):
        mixed = init["min"], add["min"], init["plus"], add["plus"], init[other], add[other]
        assert kept(*mixed) == (mixed if other == "min" else (*mixed[:4], mixed[5]))
    assert kept(init["min"], add["min"], full=[x]) == (add["min"],)
