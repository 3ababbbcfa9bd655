"""Loops on the CPU by tables of kernels: equal to single statements to the bit, also with loops and conditions inside
their rounds, and when tables or statements run."""

import threading

import numpy as np
import pytest
import test_loop
import test_loop_blocks
import test_loop_index
from interrupts import interrupted
from test_loop import BOOL, FP64, INT64, count_down, dense, full, graph, oracle_levels, searches

import bitblas as gb
from bitblas import tuning
from bitblas.algorithms import connected_components, core_numbers, pagerank, sssp
from bitblas.device.cpu import RESUMED
from bitblas.exceptions import IndexOutOfBound
from bitblas.loop import Program, at_once, if_, repeat
from bitblas.loop.program import TierUp


@pytest.fixture(autouse=True)
def at_first():
    """Tables from the first round on."""
    with at_once():
        yield


def kinds(program):
    told = program.explain()
    assert told.copies == 0 and "from a table" in str(told), told.small
    return [line.kind for line in told.launches]


def test_a_search():
    assert kinds(test_loop.check_levels(graph(), "cpu")) == ["advance"]


def test_a_pass_of_many_vectors():
    """Each vector that lives in a pass alone has room there, however many there are."""
    x, y = gb.Vector.from_dense(np.arange(200)), gb.Vector(INT64, 200)

    def body(_):
        t = [x.apply(gb.binary.times, right=k).new() for k in range(20)]
        y(gb.binary.plus) << t[0]
        for u in t[1:]:
            y(gb.binary.plus) << u
        x << x.apply(gb.binary.minus, right=150)
        x << x.select(gb.select.valuegt, 0)

    program = Program(body, while_=x)
    assert program.run() == 2 and kinds(program)
    assert y.to_dense().tolist() == [190 * (i + max(0, i - 150)) for i in range(200)]


def test_a_table_takes_over_between_rounds(monkeypatch):
    """The first rounds run statement by statement, until they have taken long enough."""
    n = 100
    A = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), True, nrows=n, ncols=n)
    table = TierUp.table
    asked = []

    def later(turn, given):
        asked.append(turn)
        return table(turn, given) if len(asked) > 3 else None

    monkeypatch.setattr(TierUp, "table", later)
    assert searches(A)[1](0) == (n, dict(zip(range(n), range(n)))) and len(asked) == 4


def test_patience(monkeypatch, tune):
    tune({"loop.tier_up_seconds": 1e9})
    program, search = searches(graph())
    assert search(0)[1] == oracle_levels(graph(), 0)
    assert str(program.explain()) == "a plain loop: statement by statement"
    turn = TierUp(lambda k: None, None)
    monkeypatch.setattr(gb.device.object_files, "compiled", gb.device.object_files.compiled + 1)
    turn.spend(0.0)
    assert turn.spent == 0.0, "compiling the kernels of statements says nothing about rounds"
    turn.spend(0.0)
    assert turn.spent > 0.0


def test_what_is_not_repaid_is_made_once(monkeypatch, tune):
    """A table whose kernels would have to be compiled waits for that long, whatever becomes of the vectors until then;
    and the next program of that body waits from its beginning."""
    from bitblas.loop.cpu.build import Build, CpuRounds

    made = []
    init = CpuRounds.__init__
    monkeypatch.setattr(CpuRounds, "__init__", lambda self, *args: (made.append(1), init(self, *args))[1])
    monkeypatch.setattr(Build, "missing", lambda self: 1)
    tune({"loop.tier_up_seconds": 1e-9, "loop.compile_seconds": 1e9})

    def rounds():
        left, x = gb.Vector.from_coo(np.arange(20), True, size=20), gb.Vector.from_coo(np.arange(20), 0.0, size=20)

        def body(k):
            x << x.apply(gb.binary.plus, right=1.0)  # one value for all, another one in each round
            left(left.S, gb.replace) << left.select(gb.select.rowgt, k)

        return repeat(body, while_=left)

    assert rounds() == 20 and len(made) == 1
    assert rounds() == 20 and len(made) == 1


def test_what_is_no_loop_of_statements_stays_one():
    v = full(gb, [1, 2, 3])
    seen, rounds = [], 0

    def looks(_):
        seen.append(v.nvals)
        v << v.select(gb.select.valuegt, 1)
        v << v.apply(gb.binary.minus, right=1)

    program = Program(looks, while_=v)
    assert program.run() == 3 and [x for x in seen if isinstance(x, int)] == [3, 2, 1]
    assert "outlives it" in str(program.explain())

    def counts(_):
        nonlocal rounds
        rounds += 1
        v << v.select(gb.select.valuegt, 1)

    v << 3
    program = Program(counts, while_=v, limit=4)
    assert program.run() == 4 == rounds
    assert "rebinds names" in str(program.explain())

    def numbered(k):
        v << [1, 2, 3][k]

    v << 3
    assert Program(numbered, while_=v, limit=3).run() == 3 and v[0].new().value == 3


@pytest.mark.parametrize("inside", [False, True])
def test_an_index_out_of_range(inside):
    p, x, v = full(gb, [1, 2, 3]), full(gb, [1, 2, 3]), gb.Vector.from_coo([0], [1], size=3)

    def read(_):
        x << p[x.to_dense()].new()

    def around(_):
        repeat(read, while_=x, limit=5)
        v << v.select(gb.select.valuegt, 1)

    program = Program(around, while_=v) if inside else Program(read, while_=x, limit=5)
    with pytest.raises(IndexOutOfBound, match="index=3, size=3"):
        program.run()
    assert dense(x) == [1, 2, 3] and v.nvals == 1


@pytest.mark.parametrize("inside", [False, True])
def test_an_interrupt(inside):
    """Comes between rounds, and leaves vectors as they are."""
    v = gb.Vector.from_coo([0], [1], size=3)
    w = v.dup()

    def made(limit=None):
        endless = lambda _: v << v.apply(gb.unary.identity)
        if inside:
            return Program(lambda _: repeat(endless, while_=v, limit=limit), while_=w, limit=limit or 3)
        return Program(endless, while_=v, limit=limit)

    made(1).run()  # what is imported and compiled for a table may take longer than the interrupt
    program = made()
    with interrupted():
        program.run()
    assert v.to_coo()[1].tolist() == [1] and (inside or program.explain().launches)


def test_threads_have_loops_of_their_own():
    """Searches of one matrix at the same time."""
    A = graph(n=300, m=700, spread=4)
    expected = {source: oracle_levels(A, source) for source in (0, 7, 100, 299)}
    wrong = []

    def run(source):
        for _ in range(5):
            if gb.algorithms.bfs_levels(A, source).to_dict() != expected[source]:
                wrong.append(source)

    runs = [threading.Thread(target=run, args=(source,)) for source in expected]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    assert not wrong


# ---- as the statements one by one -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("form", test_loop.FORMS)
def test_searches_and_paths_on_every_form(form):
    test_loop.test_breadth_first_levels("cpu", form)
    test_loop.test_breadth_first_parents("cpu", form)
    for dtype in (FP64, INT64):
        test_loop.test_shortest_paths("cpu", form, dtype)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "more"),
    [
        (test_loop_index.test_products_of_full_vectors_go_by_rows, ()),
        (test_loop_blocks.test_loops_in_loops_and_conditions, ({},)),
        (test_loop_blocks.test_several_vectors_to_go_on_by, ({},)),
        (test_loop_blocks.test_a_program_inside_a_body, ({},)),
        (test_loop_blocks.test_nothing_runs_where_the_loop_around_does_not, ({},)),
        (test_loop_blocks.test_vectors_that_a_body_makes_are_new_in_each_round, ({},)),
        (test_loop_blocks.test_a_random_body_of_blocks, ()),
    ],
)
def test_bodies(test, more):
    test("cpu", *more)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("algorithm", [connected_components, core_numbers, pagerank, sssp])
def test_algorithms(algorithm, threads, tune):
    """Large enough for threads, with rounds that push and rounds that pull."""
    n = 1 << 18
    ends = np.random.default_rng(1).integers(0, n, (2, n // 2))
    r, c = np.append(np.arange(n - 1), ends[0]), np.append(np.arange(1, n), ends[1])
    rows, cols = np.append(r, c), np.append(c, r)
    weights = (1 + (rows + cols) % 5).astype(np.float64)
    options = {"source": 0} if algorithm is sssp else {}
    make = lambda: gb.Matrix.from_coo(rows, cols, weights, nrows=n, ncols=n, dup_op=gb.binary.first)
    with gb.config.set(threads=threads):
        by_table = algorithm(make(), **options)
        tune({"loop.tier_up_seconds": 1e9})
        expected = algorithm(make(), **options)
    assert by_table.isclose(expected, rel_tol=1e-9) if algorithm is pagerank else by_table.isequal(expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_bodies(seed):
    if seed == 0:
        test_loop.check_random_body()
    assert test_loop_index.run_random_body(gb, seed) == test_loop_index.run_random_body(test_loop_index.graphblas, seed)


def test_products_that_would_need_the_transpose():
    """Are pulled statement by statement, until the transpose is repaid; then the table pushes along it."""
    n = 600
    A = gb.Matrix.from_coo(np.arange(1, n), np.arange(n - 1), True, nrows=n, ncols=n)
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)

    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << A.mxv(q, gb.semiring.any_pair[BOOL])

    program = Program(body, while_=q)
    with tuning.override({"transpose.reads.cpu": 1e9}):
        q[0] = True
        assert program.run() == n and not program.explain().launches
        assert "pushing needs the transpose, whose construction is not amortized yet" in str(program.explain())
    v.clear()
    q[0] = True
    assert program.run() == n and v.to_coo()[1].tolist() == list(range(n))
    assert kinds(program) == ["advance"]


def test_what_is_not_pushed_along_stays_a_loop():
    program, search = searches(graph(format="nib"))
    assert search(7)[1] == oracle_levels(graph(), 7)
    assert "nib does not support pushing" in str(program.explain())


# ---- loops and conditions inside rounds -----------------------------------------------------------------------------


@pytest.mark.slow
def test_searches_inside_rounds(monkeypatch):
    """Of all lengths, so that a frontier ends in each of its buffers."""
    seen, run = [], Program.run
    monkeypatch.setattr(Program, "run", lambda self, **how: (seen.append(self), run(self, **how))[1])
    test_loop_blocks.test_a_search_inside_a_round("cpu", {}, {})
    assert "block" in kinds(seen[0]) and "  advance" in kinds(seen[0])


def test_values_turn_back():
    """Distances from x[k] = k in round k, by steps of values, under a condition; found[k] is their sum."""
    n = 6
    A = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), np.arange(1.0, n), nrows=n, ncols=n)
    x, (d, q, found) = full(gb, list(range(n))), (gb.Vector(float, n) for _ in range(3))

    def relax(_):
        q << q.vxm(A, gb.semiring.min_plus[float])
        worse = gb.binary.ge(q & d).new()
        q(~worse.V, gb.replace) << q
        d(q.S) << q

    def body(k):
        here = x.select(gb.select.valueeq, k).new()
        q(here.S, gb.replace) << 0.0
        d(q.S, gb.replace) << q
        repeat(relax, while_=q)
        some = d.reduce(gb.monoid.plus).new()
        if_(some.apply(gb.binary.gt, right=8.0), lambda: found.__call__(here.S).__lshift__(some))
        x(~here.S, gb.replace) << x

    program = Program(body, while_=x)
    assert program.run() == n
    sums = {k: sum(sum(range(k + 1, j + 1)) for j in range(k, n)) for k in range(n)}
    assert found.to_dict() == {k: s for k, s in sums.items() if s > 8}
    assert "  advance" in kinds(program)


def test_a_loop_inside_pauses(monkeypatch):
    """A loop in each of two rounds takes so long that it pauses. Python looks for signals meanwhile, and nothing of the
    round, of which there are statements around the loop, runs again."""
    many = 2_000_000  # rounds inside, of some 40 ns
    left, total, v = gb.Scalar(int), gb.Scalar(int), gb.Vector.from_coo([0], [2], size=3)
    total.value = left.value = 0

    def down(_):
        left << left.apply(gb.binary.minus, right=1)
        total(gb.binary.plus) << 1

    def body(_):
        total(gb.binary.plus) << 1000 * many
        left << many
        repeat(down, while_=left)
        count_down(v)

    program = Program(body, while_=v)
    assert program.run() == 2 and total.value == 2 * 1001 * many
    assert "block" in kinds(program)
    v[0], total.value = 2, 0
    made, turns = program._tier_up.rounds.build.table, []
    loop = made.loop
    monkeypatch.setattr(made, "loop", lambda *args: (turns.append(made.state[RESUMED]), loop(*args))[1])
    assert program.run() == 2 and total.value == 2 * 1001 * many
    assert any(turns), "no loop inside took long enough to pause"


def test_several_vectors_to_go_on_by():
    v, w = gb.Vector.from_coo([0], [3], size=3), gb.Vector.from_coo([1], [5], size=3)

    program = Program(lambda _: count_down(v, w), while_=(v, w))
    assert program.run() == 5 and not v.nvals and not w.nvals
    assert kinds(program)
    w[0] = 2
    assert program.run() == 2
    assert program.run() == 0


@pytest.mark.parametrize("present", [True, False])
def test_a_condition_that_no_statement_names(present):
    """A table reads the vector of a condition even if nothing else reads or writes it."""
    flag, total, going = gb.Vector(gb.dtypes.BOOL, 4), gb.Scalar.from_value(0, INT64), full(gb, [1, 2, 3, 1])
    if present:
        flag[2] = True

    def body(_):
        if_(flag, lambda: total << total.apply(gb.binary.plus, right=1))
        count_down(going)

    program = Program(body, while_=going)
    assert program.run() == 3 and "block" in kinds(program)
    assert total.value == (3 if present else 0)


# ---- float sums ------------------------------------------------------------------------------------------------------

N = 9000  # more than one chunk of positions
LINE, END = np.arange(1, N), np.zeros(N - 1, int)


def check_both_ways(tune, begin, body):
    """Four rounds of `body` leave the same in the total and in y by a table and by statements; begin: gives x and y.
    The number of rounds that a table runs depends on time, and must not change results."""
    found = []
    for patience in (0.0, 1e9):
        tune({"loop.tier_up_seconds": patience})
        x, y, total = *begin(), gb.Scalar(FP64)
        rounds, going = gb.Scalar.from_value(0, INT64), gb.Scalar.from_value(True, BOOL)

        def round_(_, x=x, y=y, total=total, rounds=rounds, going=going):
            body(x, y, total)
            rounds << rounds.apply(gb.binary.plus, right=1)
            going << rounds.apply(gb.binary.lt, right=4)

        program = Program(round_, while_=going)
        assert program.run() == 4
        assert ("from a table" in str(program.explain())) == (patience == 0), str(program.explain())
        found.append((total.value, y.to_coo()[1].tobytes()))
    assert found[0] == found[1]


def vectors(values, share):
    at = np.flatnonzero(np.random.default_rng(2).random(N) < share)
    x = gb.Vector.from_coo(at, 0.1 if values == "iso" else np.random.default_rng(1).random(len(at)), FP64, size=N)
    return x, gb.Vector(FP64, N)


@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("values", ["iso", "any"])
def test_sums(tune, values, share):
    def body(x, y, total):
        total << x.reduce(gb.monoid.plus)
        x << x.apply(gb.binary.times, right=1.1)
        y << x.apply(gb.binary.plus, right=total)

    check_both_ways(tune, lambda: vectors(values, share), body)


@pytest.mark.parametrize("share", [1.0, 0.6, 0.003])
def test_products_that_are_one_value(tune, share):
    """Are counted and multiplied; along entries they would be added one by one."""
    A = gb.Matrix.from_coo(np.append(LINE, END), np.append(END, LINE), 0.3, nrows=N, ncols=N)  # a star

    def body(x, y, total):
        y << x.vxm(A, gb.semiring.plus_plus)
        total << y.reduce(gb.monoid.plus)

    check_both_ways(tune, lambda: vectors("iso", share), body)


@pytest.mark.parametrize("size", [63, 300, 4096, 4097, 8192, 9000])
def test_one_value_is_summed_as_many(size):
    for x in (0.1, 1.0):
        once, each = gb.Vector.from_scalar(x, size), gb.Vector.from_dense(np.full(size, x))
        assert once.ss.is_iso and not each.ss.is_iso
        assert once.reduce().new().value == each.reduce().new().value


@pytest.mark.parametrize(
    ("dtype", "x", "k", "exactly"),
    [
        ("FP64", 1.0, 1 << 52, True), ("FP64", 0.1, 3, False), ("FP64", 0.75, 1 << 50, True),
        ("FP64", 0.75, 1 << 52, False), ("FP32", 3.0, 1 << 21, True), ("FP32", 3.0, 1 << 23, False),
        ("FP64", float("inf"), 2, False), ("FC64", 1 + 0.5j, 1 << 40, True), ("FC64", 1 + 0.1j, 5, False),
        ("INT8", 77, 1 << 40, True), ("FP64", 0.0, 1 << 60, True),
    ],
)  # fmt: skip
def test_what_is_added_exactly(dtype, x, k, exactly):
    """Sums without rounding are the count times the value, and take no time."""
    plus = gb.monoid.plus[dtype]
    assert plus.op.repeats_exactly(plus.dtype, x, k) == exactly


def test_other_monoids_that_repeat_exactly():
    assert gb.monoid.min.repeats_exactly(FP64, 0.1, 9)
    assert not gb.monoid.times["FP64"].op.repeats_exactly(FP64, 0.5, 9)
