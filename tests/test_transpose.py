"""The transpose of a directed graph: built once running without it has cost as much, and not for one search."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from battery import generator

import bitblas as gb
from bitblas.algorithms import bfs_levels
from bitblas.config import config
from bitblas.device import Device
from bitblas.loop import Program
from bitblas.operations import plain_spmv

N = 200
PAIR = gb.semiring.any_pair


def directed(**options):
    i, j = generator("directed").integers(0, N, (2, 6 * N))
    keep = i < j
    ring = np.arange(N)  # from each vertex all others can be reached
    i, j = np.concatenate([i[keep], ring]), np.concatenate([j[keep], (ring + 1) % N])
    return gb.Matrix.from_coo(i, j, True, nrows=N, ncols=N, **options)


def has_transpose(A):
    return any(name.endswith(".T") for name in A.memory().forms)


@pytest.mark.parametrize("form", [{"format": "csr"}, {"format": "mplg"}, {"format": "b2sr", "tile": 8}], ids=str)
def test_a_search_makes_no_transpose(device, form, tune):
    A = directed(**form)
    expected = oracles.levels(oracles.Graph.of(N, zip(*map(A.device.to_host, A.to_coo(values=False)[:2]))), 0)
    for _ in range(2):
        assert bfs_levels(A, 0).to_dict() == expected and not has_transpose(A)
    tune({"transpose.reads.cpu": 0.5, "transpose.reads.gpu": 0.5})
    tune({"push_cost.cpu": 16.0, "push_cost.gpu": 16.0})  # it would pull
    bfs_levels(A, 0)
    assert bfs_levels(A, 0).to_dict() == expected and has_transpose(A)


def test_what_goes_without_is_counted(device, tune):
    A, dense = directed(format="csr"), gb.Vector.from_scalar(True, N)
    few = gb.Vector.from_coo([3], True, size=N)
    held = A._store.structure
    cost = plain_spmv.facts_of(A._store, np.True_, PAIR[gb.dtypes.BOOL], transpose=False, flip=False).push_cost()[0]
    plan = gb.explain(dense.vxm(A, PAIR))
    assert plan.direction == "push" and "is not yet amortized" in str(plan)
    assert gb.explain(A.mxv(few, PAIR)).direction == "pull" and held.transpose_credit == 0
    dense.vxm(A, PAIR).new()
    assert held.transpose_credit == cost - 1
    A.mxv(few, PAIR).new()
    assert held.transpose_credit == cost and not has_transpose(A)
    A.mxv(dense, PAIR).new(), few.vxm(A, PAIR).new()
    assert held.transpose_credit == cost, "as it lies"
    tune({"transpose.reads.cpu": cost, "transpose.reads.gpu": cost})
    assert gb.explain(dense.vxm(A, PAIR)).direction == "pull" and not has_transpose(A)
    expected = gb.Vector.from_coo(sorted(set(A.to_coo()[1].tolist())), True, size=N)
    assert dense.vxm(A, PAIR).new().isequal(expected) and has_transpose(A)
    few.vxm(A, PAIR).new(), A.mxv(few, PAIR).new()
    assert held.transpose_credit == cost


def test_sums_that_have_an_order_need_it(device):
    """Where threads share rows; one thread pushes them in the order that they have."""
    A = directed(format="csr")
    gb.Vector.from_scalar(1.0, N).vxm(A, gb.semiring.plus_second).new()
    assert has_transpose(A) == (device != "cpu")


def test_values_of_a_symmetric_matrix_need_their_places(device):
    i, j = generator("weights").integers(0, N, (2, 500))
    i, j = np.concatenate([i, j]), np.concatenate([j, i])
    W = gb.Matrix.from_coo(i, j, np.arange(1000) % 17, nrows=N, ncols=N, dup_op="min", format="csr")
    u = gb.Vector.from_dense(np.arange(N))
    assert W._store.structure.symmetric and gb.explain(u.vxm(W, gb.semiring.min_plus)).direction == "push"
    for op in (PAIR, gb.semiring.min_first):
        assert gb.explain(u.vxm(W, op)).direction == "pull", "which reads no values of the matrix"


def test_without_room_it_is_not_made(device, tune, monkeypatch):
    A, dense = directed(format="csr"), gb.Vector.from_scalar(True, N)
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})
    monkeypatch.setattr(Device, "missing", lambda self, nbytes: "nothing is free")
    assert dense.vxm(A, PAIR).new().nvals and not has_transpose(A)


def test_a_loop_takes_the_transpose_once_it_is_repaid(device, monkeypatch):
    A, q, v = directed(format="csr"), gb.Vector(bool, N), gb.Vector(bool, N)

    def body(_):
        v(q.S) << True
        q(~v.S, gb.replace) << q.vxm(A, PAIR[gb.dtypes.BOOL])

    program, rounds = Program(body, while_=q), []
    for _ in range(9):
        v.clear()
        q[0] = True
        rounds.append(program.run())
        assert v.nvals == N
    assert len(set(rounds)) == 1
    if gb.device.get(config.device).is_gpu:  # on a CPU rounds are counted until the kernels of the table are there
        assert has_transpose(A)
