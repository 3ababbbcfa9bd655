"""What a program reads and writes: inputs that its rounds read in place, statements before its rounds and after them,
and an algorithm with both: components."""

import itertools

import numpy as np
import pytest
from test_loop import BOOL, INT64, by_index, count_down, dense, entries, full, options

import bitblas as gb
from bitblas.algorithms import connected_components, pagerank
from bitblas.exceptions import CaptureError
from bitblas.loop import Program, analysis, at_once
from bitblas.loop.gpu import captured_program as captured
from bitblas.loop.ir import Product


def test_before_and_after_the_rounds(device):
    """What begin makes is new in each run, and nothing of it is handed out; end sees what the rounds left."""
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], 1, nrows=5, ncols=5)
    start, result, q, total = full(gb, [1, 0, 0, 0, 0]), full(gb, [7] * 5), gb.Vector(BOOL, 5), gb.Scalar(int)
    start << start.select(gb.select.valuene, 0)
    calls = []

    def begin():
        calls.append("begin")
        x, log = gb.Vector(INT64, 5), gb.Vector(INT64, 5)
        x << start
        q(x.S, gb.replace) << True
        return x, log

    def body(k, x, log):
        log(x.S, gb.binary.plus) << k
        x << A.T.mxv(x, gb.semiring.plus_second[INT64])
        q(x.S, gb.replace) << True

    def end(x, log):
        calls.append("end")
        result << log.apply(gb.binary.plus, right=1)
        total << log.reduce(gb.monoid.plus)

    program = Program(body, while_=q, begin=begin, end=end)
    for _ in range(2):
        assert program.run() == 4
        assert dense(result) == [1, 2, 3, 4, -99]
        assert total.value == 6
    assert calls == (["begin", "end"] * 2 if device == "cpu" else ["begin", "end"])
    if device != "cpu":
        kinds = [line.kind for line in program.explain().launches]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
    start.clear()
    assert program.run() == 0
    assert dense(result) == [-99] * 5


@pytest.mark.off_cpu  # a plain loop captures nothing
def test_end_does_not_see_what_steps_write(device):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=5, ncols=5)
    q, out = gb.Vector.from_coo([0], True, size=5), gb.Vector(bool, 5)

    def body(_):
        q << q.vxm(A, gb.semiring.any_pair[BOOL])

    with pytest.raises(CaptureError, match=r"end: .*a vector that products of the loop write"):
        Program(body, while_=q, end=lambda: out.__lshift__(q)).run()


def test_bad_parts():
    v = gb.Vector(bool, 3)
    for name in ("begin", "end"):
        with pytest.raises(TypeError, match=f"{name}: expected a function"):
            Program(lambda k: None, while_=v, **{name: 3})
    with pytest.raises(TypeError, match="returns a tuple"):
        Program(lambda k: None, while_=v, begin=lambda: 3).run()


@pytest.mark.off_cpu  # test_vertex_sets.py has it
def test_components_on_the_device(device):
    """A long path in random order, a star, loops of one vertex, and vertices without edges: in one launch, which
    Python sees nothing of; again, and in another order."""
    n = 300
    path = np.random.default_rng(0).permutation(np.arange(20, 220))
    edges = [*itertools.pairwise(path), *((3, k) for k in range(220, 260)), (270, 270), (271, 271), (271, 272)]
    expected = np.arange(n)
    expected[20:220], expected[220:260], expected[272] = 20, 3, 271
    rows, cols = np.array(edges).T
    both = gb.Matrix.from_coo(np.append(rows, cols), np.append(cols, rows), 1.5, nrows=n, ncols=n)
    for A in (both, both, both.reorder(np.random.default_rng(1).permutation(n))):
        labels = connected_components(A)
        assert labels.dtype == INT64 and dense(labels) == expected.tolist()
    assert connected_components(gb.Matrix(float, 3, 3)).to_coo()[1].tolist() == [0, 1, 2]
    assert connected_components(gb.Matrix(bool, 0, 0)).size == 0


@pytest.mark.parametrize("dtype", ["INT8", *(pytest.param(t, marks=pytest.mark.slow) for t in ("BOOL", "FP64"))])
def test_what_a_run_brings_in_and_takes_out(device, dtype):
    """Vectors without entries, with one that is not yet written, with one value, with many, full; results are in
    new memory, and vectors that the loop does not write are unchanged."""
    n, kind = 77, gb.dtypes.lookup_dtype(dtype)
    rng = np.random.default_rng(5)
    values = rng.integers(0, 2, n).astype(kind.np_type)
    some = np.flatnonzero(rng.integers(0, 3, n) == 0)
    given, w, going = (gb.Vector(kind, n) for _ in range(3))

    def body(_):
        w(gb.binary.lor if dtype == "BOOL" else gb.binary.plus) << given
        going(given.S) << given

    def begin(places, numbers):
        given.clear()
        if len(places) == 1:
            given[places[0]] = numbers[0]
        elif len(places):
            given << gb.Vector.from_coo(places, numbers, kind, size=n)
        for v, place in ((w, 3), (going, 5)):
            v.clear()
            v[place] = 1

    program, earlier = Program(body, while_=going, limit=2), None
    for places, numbers in ([], []), ([70], [1]), (some, 1), (some, values[some]), (range(n), values):
        begin(places, numbers)
        assert program.run() == 2
        numbers = np.broadcast_to(np.asarray(numbers, kind.np_type), len(places))
        expected = dict(zip(np.asarray(places).tolist(), numbers.tolist()))
        twice = {i: x if dtype == "BOOL" else 2 * x for i, x in expected.items()}
        once = 1 if dtype != "BOOL" else True
        twice[3] = (twice.get(3, 0) or once) if dtype == "BOOL" else twice.get(3, 0) + once
        assert by_index(given) == expected and by_index(w) == twice and by_index(going) == {5: once, **expected}
        assert earlier is None or by_index(earlier[0]) == earlier[1]
        earlier = w._release(), twice


@pytest.fixture
def filled(monkeypatch):
    """Of each body, whether the vectors that its products read are found to be full."""
    found, of = [], analysis.full_vectors

    def spy(body, held, never=frozenset()):
        full = of(body, held, never)
        found.append(all(s.value.u in full for s in body.all if isinstance(s.value, Product)))
        return full

    monkeypatch.setattr(analysis, "full_vectors", spy)
    return found


@pytest.mark.parametrize("certain", [True, False])
def test_what_a_scalar_fills(device, filled, certain):
    """A vector that was filled by a Scalar fills another one, where that Scalar is never empty: a sum of nothing has no
    value, but for a default, where it is written before it is read."""
    A = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=3, ncols=3)
    x, t, nothing = full(gb, [1, 2, 3]), gb.Vector(INT64, 3), gb.Vector(INT64, 3)
    s, going = gb.Scalar(INT64), full(gb, [1])

    def body(k):
        if certain:
            s << nothing.reduce(gb.monoid.plus, allow_empty=False)
        t << A.mxv(x, gb.semiring.plus_second)
        t(gb.binary.plus) << s
        x << t
        if not certain:
            s << nothing.reduce(gb.monoid.plus)
        going << going.select(gb.select.valuelt, 1)

    Program(body, while_=going).run()
    assert dense(x) == [2, 3, 0 if certain else -99]
    assert filled or device == "cpu"  # where one round is run by its statements
    assert set(filled) <= {certain}


def test_scalars_of_sums_end_a_pass(device):
    """Statements that use sums are in the same pass, in their order, also if other statements read the old values."""
    x = gb.Vector.from_coo(np.arange(70), np.arange(70), dtype=INT64, size=70)
    a, b, c = (gb.Scalar.from_value(k, dtype=INT64) for k in (0, 3, 0))
    going, plus = gb.Scalar.from_value(True), gb.binary.plus

    def body(k):
        x(plus) << b
        a << x.reduce(gb.monoid.plus)
        b << a.apply(gb.binary.minus, right=5)
        c(plus) << b
        a << k
        b << c.apply(gb.binary.cdiv, right=1000)
        going << c.apply(gb.binary.lt, right=10**6)

    program = Program(body, while_=going)
    with at_once():
        rounds = program.run()
    values, old, sums = np.arange(70), 3, 0
    for _ in range(rounds):
        values = values + old
        sums += int(values.sum()) - 5
        old = sums // 1000
    assert rounds > 3 and sums >= 10**6
    assert (a.value, b.value, c.value, x.to_dense().tolist()) == (rounds - 1, old, sums, values.tolist())
    assert len(program.explain().launches) == 1


# ---- inputs: vectors that a body only reads are read in place, with their contents at each run -----------------------

N = 5


@pytest.fixture
def captures(monkeypatch):
    """The captured programs, in order."""
    made, init = [], captured.CapturedProgram.__init__
    monkeypatch.setattr(captured.CapturedProgram, "__init__", lambda self, *a: (init(self, *a), made.append(self))[0])
    return made


def twice_the(x):
    """A program that adds x to a sum in each of two rounds, and the sum."""
    total, left = gb.Vector(INT64, N), gb.Vector(INT64, N)

    def body(_):
        total(gb.binary.plus) << x
        count_down(left)

    program = Program(body, while_=left)

    def run():
        total.clear()
        left.clear()
        left[0] = 2
        program.run()
        return dense(total)

    return run


def inputs(captures):
    return [len(each.inputs.values) for each in captures]


def test_a_vector_that_is_changed_where_it_lies(device, captures):
    x = full(gb, [1, 2, 3, 4, 5])
    run = twice_the(x)
    assert run() == [2, 4, 6, 8, 10]
    x[3] = 100
    assert run() == [2, 4, 6, 200, 10]
    x(gb.binary.plus) << 1
    assert run() == [4, 6, 8, 202, 12] and dense(x) == [2, 3, 4, 101, 6]
    assert inputs(captures) in ([1], [1, 0]) or device == "cpu"


def test_a_vector_with_other_memory(device, captures):
    """It is captured once more, and then copied in each run."""
    x = full(gb, [1, 2, 3, 4, 5])
    run = twice_the(x)
    assert run() == [2, 4, 6, 8, 10]
    for k in range(3):
        x << full(gb, [k, 2, 3, 4, 5])
        assert run() == [2 * k, 4, 6, 8, 10]
    assert inputs(captures) == [1, 0] or device == "cpu"


def test_a_vector_without_an_entry_somewhere(device, captures):
    """Is copied: whether it has one is known in the run alone."""
    x = full(gb, [1, 2, 3, 4, 5])
    run = twice_the(x)
    run()
    del x[2]
    assert run() == [2, 4, -99, 8, 10]
    x[2] = 7
    assert run() == [2, 4, 14, 8, 10]
    assert inputs(captures)[:2] == [1, 0] or device == "cpu"


def test_memory_of_somebody_that_begins_anywhere(device, captures):
    xp = gb.device.get(device).xp
    x = gb.Vector.from_dense(xp.asarray(np.arange(N + 1))[1:])
    assert twice_the(x)() == [2, 4, 6, 8, 10]


def test_a_vector_that_the_body_writes_is_copied(device, captures):
    x, left = full(gb, [1, 2, 3, 4, 5]), gb.Vector(INT64, N)

    def body(_):
        x << x.apply(gb.binary.plus, right=1)
        left << left.select(gb.select.valuegt, 9)

    left[0] = 1
    Program(body, while_=left).run()
    assert dense(x) == [2, 3, 4, 5, 6]
    assert inputs(captures) == [0] or device == "cpu"


@pytest.mark.parametrize("limit", [None, 0, 1, 2, 9])
def test_a_condition_that_begin_writes(device, limit):
    """What is left of it: nothing where it made the loop end, which is not copied out then."""
    start = gb.Vector.from_coo([0, 3], [2, 1], INT64, size=N)
    left = full(gb, [9] * N)

    def begin():
        left << start

    program = Program(lambda _: count_down(left), while_=left, begin=begin, limit=limit)
    for _ in range(2):
        rounds = 2 if limit is None else min(limit, 2)
        assert program.run() == rounds
        assert dense(left) == [[2, -99, -99, 1, -99], [1] + [-99] * 4, [-99] * 5][rounds]


@pytest.mark.in_turn
@pytest.mark.parametrize("form", [("csr", None), *(("b2sr", t) for t in (4, 8, 64)), ("split", None), ("nib", None)])
@pytest.mark.parametrize("share", [1.0, 0.7, 0.3, 0.02])
def test_statements_at_the_entries_of_a_step_that_pulls(device, form, share):
    """Many entries: they are not listed, and an advance finds them by their bits."""
    n = 3000
    r = np.random.default_rng(int(100 * share))
    rows = np.repeat(np.arange(n), 3)
    cols = (rows + r.integers(1, 9, len(rows))) % n
    pairs = np.unique(np.array([np.append(rows, cols), np.append(cols, rows)]), axis=1)
    A = gb.Matrix.from_coo(*pairs, True, nrows=n, ncols=n, **options(form))
    alive = np.flatnonzero(r.random(n) < 0.8)
    want = alive[r.random(len(alive)) < share]
    s = gb.Vector.from_coo(alive, 1, INT64, size=n)
    first = gb.Vector.from_coo(want, 1, INT64, size=n)
    chosen, gone = gb.Vector(BOOL, n), gb.Vector(BOOL, n)

    def body(_):
        fresh = first.apply(gb.unary.one[INT64]).new(BOOL, mask=s.S)
        chosen(fresh.S) << True
        near = A.mxv(fresh, gb.semiring.any_pair[BOOL]).new(mask=s.S)
        gone(near.S) << True
        s(~near.S, gb.replace) << s
        s(~fresh.S, gb.replace) << s
        first << first.select(gb.select.valuegt, 1)

    assert Program(body, while_=first).run() == 1
    near = np.intersect1d(pairs[0][np.isin(pairs[1], want)], alive)
    at = lambda v: entries(v)[0].tolist()
    assert at(chosen) == want.tolist() and at(gone) == near.tolist()
    assert at(s) == np.setdiff1d(alive, np.append(near, want)).tolist()


def test_a_condition_that_end_writes(device):
    """Is handed out as `end` leaves it, though the loop has ended because it was empty."""
    left = gb.Vector.from_coo([1], [2], INT64, size=N)

    program = Program(lambda _: count_down(left), while_=left, end=lambda: left << full(gb, [7] * N))
    assert program.run() == 2 and dense(left) == [7] * N
    left.clear()
    assert program.run() == 0 and dense(left) == [7] * N


def test_loops_of_the_last_arguments_are_kept(device, captures, tune):
    """Of others memory would pile up: each holds what its body reads."""
    tune({"algorithms.kept_loops": 2})
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 0, 0], 1, nrows=N, ncols=N)
    ranks = {alpha: dense(pagerank(A, alpha=alpha)) for alpha in (0.5, 0.6, 0.7)}
    made = len(captures)
    assert [dense(pagerank(A, alpha=alpha)) for alpha in (0.7, 0.6, 0.7)] == [ranks[0.7], ranks[0.6], ranks[0.7]]
    assert len(captures) == made  # the last two are there
    assert dense(pagerank(A, alpha=0.5)) == ranks[0.5]
    assert len(captures) == made + 1 or device == "cpu"
