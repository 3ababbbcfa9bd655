"""Loops on the CPU by tables of kernels: equal to single statements, and when tables or statements run."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import test_loop
import test_loop_index
import test_loop_index_random
import test_loop_random
from interrupts import interrupted
from test_loop import BOOL, FP64, INT64, graph, levels_program, oracle_levels

import bitblas as gb
from bitblas import tuning
from bitblas.algorithms import connected_components, core_numbers, pagerank, sssp
from bitblas.exceptions import IndexOutOfBound
from bitblas.loop import Program, at_once, repeat
from bitblas.loop.program import TierUp


@pytest.fixture(autouse=True)
def at_first():
    """Tables from the first round on."""
    with at_once():
        yield


def searches(A):
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    program = levels_program(A, v, q)

    def search(source):
        v.clear()
        q.clear()
        q[source] = True
        rounds = program.run()
        return rounds, dict(zip(*(x.tolist() for x in v.to_coo())))

    return program, search


def test_a_search():
    A = graph()
    program, search = searches(A)
    for source in (0, 7, 149):
        expected = oracle_levels(A, source)
        rounds, found = search(source)
        assert found == expected and rounds == 1 + max(expected.values())
    told = program.explain()
    assert told.copies == 0 and "from a table" in str(told)
    assert [line.kind for line in told.launches] == ["advance"] and len(told.launches[0].statements) == 2


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
    assert program.run() == 2
    assert "from a table" in str(program.explain())
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
    v = gb.Vector.from_coo([0, 1, 2], [1, 2, 3], size=3)
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


def test_an_index_out_of_range():
    p, x = (gb.Vector.from_coo([0, 1, 2], [1, 2, 3], size=3) for _ in range(2))

    def body(_):
        x << p[x.to_dense()].new()

    with pytest.raises(IndexOutOfBound, match="index=3, size=3"):
        repeat(body, while_=x, limit=5)
    assert x.to_coo()[1].tolist() == [1, 2, 3]


def test_an_interrupt():
    """Comes between rounds, and leaves vectors as they are."""
    v = gb.Vector.from_coo([0], [1], size=3)

    def body(_):
        v << v.apply(gb.unary.identity)

    repeat(body, while_=v, limit=1)  # what is imported and compiled for a table may take longer than the interrupt
    program = Program(body, while_=v)
    with interrupted():
        program.run()
    assert program.explain().launches and v.to_coo()[1].tolist() == [1]


def test_threads_have_loops_of_their_own():
    """Searches of one matrix at the same time."""
    A = graph(n=300, m=700, spread=4)
    expected = {source: oracle_levels(A, source) for source in (0, 7, 100, 299)}
    wrong = []

    def run(source):
        for _ in range(5):
            found = gb.algorithms.bfs_levels(A, source)
            if dict(zip(*(x.tolist() for x in found.to_coo()))) != expected[source]:
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
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("algorithm", [connected_components, core_numbers, pagerank, sssp])
def test_algorithms(algorithm, threads, tune):
    """Large enough for threads, with rounds that push and rounds that pull."""
    n = 1 << 18
    numbers = np.random.default_rng(1)
    r = np.concatenate([np.arange(n - 1), numbers.integers(0, n, n // 2)])
    c = np.concatenate([np.arange(1, n), numbers.integers(0, n, n // 2)])
    rows, cols = np.concatenate([r, c]), np.concatenate([c, r])
    weights = (1 + (rows + cols) % 5).astype(np.float64)
    options = {"source": 0} if algorithm is sssp else {}
    with gb.config.set(threads=threads):
        A = gb.Matrix.from_coo(rows, cols, weights, nrows=n, ncols=n, dup_op=gb.binary.first)
        by_table = algorithm(A, **options)
        tune({"loop.tier_up_seconds": 1e9})
        B = gb.Matrix.from_coo(rows, cols, weights, nrows=n, ncols=n, dup_op=gb.binary.first)
        expected = algorithm(B, **options)
    assert by_table.isclose(expected, rel_tol=1e-9) if algorithm is pagerank else by_table.isequal(expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_bodies(seed):
    test_loop_random._check_random_body()
    assert test_loop_index_random.run(gb, seed) == test_loop_index_random.run(test_loop_index_random.graphblas, seed)


@pytest.mark.slow
def test_bodies_by_index():
    test_loop_index.test_products_of_full_vectors_go_by_rows("cpu")


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
        with at_once():
            assert program.run() == n and not program.explain().launches
        assert "pushing needs the transpose, whose construction is not amortized yet" in str(program.explain())
    v.clear()
    q[0] = True
    with at_once():
        assert program.run() == n and v.to_coo()[1].tolist() == list(range(n))
    assert [line.kind for line in program.explain().launches] == ["advance"]


def test_what_is_not_pushed_along_stays_a_loop():
    program, search = searches(graph(format="nib"))
    assert search(7)[1] == oracle_levels(graph(), 7)
    assert "nib does not support pushing" in str(program.explain())
