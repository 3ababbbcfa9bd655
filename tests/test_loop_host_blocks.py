"""Loops and conditions inside the rounds of tables on the CPU, and several vectors to go on by."""

from __future__ import annotations

import numpy as np
import pytest
import test_loop_blocks
from interrupts import interrupted
from test_loop_index import dense, full

import bitblas as gb
from bitblas.device.cpu import RESUMED
from bitblas.exceptions import IndexOutOfBound
from bitblas.loop import Program, at_once, if_, repeat

INT64 = gb.dtypes.INT64


@pytest.fixture(autouse=True)
def at_first():
    """Tables from the first round on."""
    with at_once():
        yield


def kinds(program):
    told = program.explain()
    assert "from a table" in str(told), told.small
    return [line.kind for line in told.launches]


@pytest.mark.slow
def test_searches_inside_rounds(monkeypatch):
    """Of all lengths, so that a frontier ends in each of its buffers."""
    seen, run = [], Program.run
    monkeypatch.setattr(Program, "run", lambda self, **how: (seen.append(self), run(self, **how))[1])
    test_loop_blocks.test_a_search_inside_a_round("cpu", {}, {})
    assert "block" in kinds(seen[0]) and "  advance" in kinds(seen[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    [
        test_loop_blocks.test_loops_in_loops_and_conditions,
        test_loop_blocks.test_several_vectors_to_go_on_by,
        test_loop_blocks.test_a_program_inside_a_body,
        test_loop_blocks.test_nothing_runs_where_the_loop_around_does_not,
        test_loop_blocks.test_vectors_that_a_body_makes_are_new_in_each_round,
    ],
)
def test_bodies_of_blocks(test):
    test("cpu", {})


@pytest.mark.slow
def test_random_bodies_of_blocks():
    test_loop_blocks.test_a_random_body_of_blocks("cpu")


def nearest_from_each(A, x, found):
    """Distances from x[k] = k in round k, by steps of values, under a condition; found[k] is their sum."""
    n = A.nrows
    d, q = gb.Vector(float, n), gb.Vector(float, n)

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

    return Program(body, while_=x)


def test_values_turn_back():
    n = 6
    A = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), np.arange(1.0, n), nrows=n, ncols=n)
    x, found = full(gb, list(range(n))), gb.Vector(float, n)
    program = nearest_from_each(A, x, found)
    assert program.run() == n
    sums = {k: sum(sum(range(k + 1, j + 1)) for j in range(k, n)) for k in range(n)}
    assert dict(zip(*(a.tolist() for a in found.to_coo()))) == {k: s for k, s in sums.items() if s > 8}
    assert "  advance" in kinds(program)


def counting(rounds):
    """A nested loop in each of two rounds that takes so long that it pauses, and the statements around it."""
    left, total, v = gb.Scalar(int), gb.Scalar(int), gb.Vector.from_coo([0], [2], size=3)
    total.value = left.value = 0

    def down(_):
        left << left.apply(gb.binary.minus, right=1)
        total(gb.binary.plus) << 1

    def body(_):
        total(gb.binary.plus) << 1000 * rounds
        left << rounds
        repeat(down, while_=left)
        v << v.apply(gb.binary.minus, right=1)
        v << v.select(gb.select.valuegt, 0)

    return Program(body, while_=v), total, v


def test_a_loop_inside_pauses(monkeypatch):
    """Python looks for signals meanwhile, and nothing of the round runs again."""
    many = 2_000_000  # rounds inside, of some 40 ns
    program, total, v = counting(many)
    assert program.run() == 2 and total.value == 2 * 1001 * many
    assert "block" in kinds(program)
    v[0], total.value = 2, 0
    made, turns = program._tier_up.rounds.build.table, []
    loop = made.loop
    monkeypatch.setattr(made, "loop", lambda *args: (turns.append(made.state[RESUMED]), loop(*args))[1])
    assert program.run() == 2 and total.value == 2 * 1001 * many
    assert any(turns), "no loop inside took long enough to pause"


def test_an_interrupt_inside():
    v = gb.Vector.from_coo([0], [1], size=3)
    w = v.dup()
    program = Program(lambda _: repeat(lambda _: v << v.apply(gb.unary.identity), while_=v), while_=w, limit=3)
    Program(lambda _: repeat(lambda _: v << v.apply(gb.unary.identity), while_=v, limit=1), while_=v, limit=1).run()
    with interrupted():
        program.run()


def test_an_index_out_of_range_inside():
    p, x = full(gb, [1, 2, 3]), full(gb, [1, 2, 3])
    v = gb.Vector.from_coo([0], [1], size=3)

    def body(_):
        repeat(lambda _: x << p[x.to_dense()].new(), while_=x, limit=5)
        v << v.select(gb.select.valuegt, 1)

    with pytest.raises(IndexOutOfBound, match="index=3, size=3"):
        Program(body, while_=v).run()
    assert dense(x) == [1, 2, 3] and v.nvals == 1


def test_several_vectors_to_go_on_by():
    v, w = gb.Vector.from_coo([0], [3], size=3), gb.Vector.from_coo([1], [5], size=3)

    def body(_):
        for x in (v, w):
            x << x.apply(gb.binary.minus, right=1)
            x << x.select(gb.select.valuegt, 0)

    program = Program(body, while_=(v, w))
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
        going << going.apply(gb.binary.minus, right=1)
        going << going.select(gb.select.valuegt, 0)

    program = Program(body, while_=going)
    assert program.run() == 3 and "block" in kinds(program)
    assert total.value == (3 if present else 0)
