"""Small rounds of bodies with element-wise statements: a cluster processes a worklist, and leaves the state of the
grid."""

from __future__ import annotations

import numpy as np
import pytest
from test_loop import BOOL, FP64, INT64, entries, options
from test_small_rounds import HANDED, clusters, in_cluster, mesh

import bitblas as gb
from bitblas.loop import Program
from bitblas.loop.analysis import sparse_vectors
from bitblas.loop.codegen.cuda_kernels import fused_variant
from bitblas.loop.codegen.numba_kernels import elementwise_kernel
from bitblas.loop.fuse import FusedElementwise
from bitblas.loop.ir import Const, Elementwise, Gather, Masked, Reduce, Scal, Statement, Vec
from bitblas.operations.variants import BOTH, LEFT, UNION
from semirings.catalog import BINARY, MONOIDS

__all__ = ["clusters"]  # a fixture


def distances(A, source):
    """Of shortest paths, by SciPy; inf where there is none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    rows, cols, values = entries(A)
    return dijkstra(csr_array((values.astype(float), (rows, cols)), shape=(A.nrows, A.nrows)), indices=source)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", HANDED)
@pytest.mark.parametrize(("dtype", "most"), [(FP64, 1 << 15), (FP64, 60), (INT64, 30)])
def test_shortest_paths_by_lists(device, clusters, form, dtype, most, tune):
    """Element-wise kernels read the positions on a list; if it grows long, the grid continues, with sums and cells
    unchanged."""
    tune({"cluster.positions": most})
    A = mesh(weights=dtype.np_type, **options(form))
    n = A.nrows
    d, q, near, t = (gb.Vector(dtype, n) for _ in range(4))
    worse, nearest, far = gb.Vector(BOOL, n), gb.Scalar(dtype), gb.Scalar(dtype)

    def body(_):
        far << nearest.apply(gb.binary.plus, right=4)
        near << q.select(gb.select.valuele, far)
        q(~near.S, gb.replace) << q
        t << near.vxm(A, gb.semiring.min_plus[dtype])
        worse << gb.binary.ge(t & d)
        t(~worse.V, gb.replace) << t
        d(t.S) << t
        q(t.S) << t
        nearest << q.reduce(gb.monoid.min, allow_empty=False)

    program = Program(body, while_=q)
    for source in (0, 210):
        for x in (d, q):
            x.clear()
            x[source] = 0
        nearest.value = 0
        rounds = program.run()
        found = np.full(n, np.inf)
        where, what = entries(d)
        found[where] = what
        np.testing.assert_array_equal(found, distances(A, source))
        assert q.nvals == t.nvals == 0
        assert nearest.is_empty or nearest.value == np.inf or dtype == INT64
        assert 0 < in_cluster(program) <= rounds
        assert most < 1 << 15 or device == "emulator" or in_cluster(program) == rounds


@pytest.mark.parametrize("limit", range(1, 8))
def test_lists_end_at_any_round(device, clusters, limit):
    """The step's buffers turn; vectors, scalars and the condition are left as plain statements leave them."""
    A = mesh(weights=np.int64)
    n = A.nrows
    left, right = ([gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(BOOL, n), gb.Scalar(INT64)] for _ in range(2))

    def relax(d, q, worse, least):
        q << q.vxm(A, gb.semiring.min_plus[INT64])
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q
        least << q.reduce(gb.monoid.plus)

    for d, q, _, _ in (left, right):
        d[0] = 0
        q[0] = 0
    program = Program(lambda _: relax(*left), while_=left[1], limit=limit)
    for _ in range(3):
        assert program.run() == limit
        assert in_cluster(program) == limit or (device == "emulator" and in_cluster(program) >= min(limit, 5))
        for _ in range(limit):
            relax(*right)
        for x, y in zip(left, right):
            assert x.isequal(y)


def test_a_long_row_is_walked_by_a_block(device, clusters):
    n, k = 3000, 30
    rows = np.concatenate([np.arange(k), np.full(n - 100, k)])
    cols = np.concatenate([np.arange(1, k + 1), np.arange(100, n)])
    A = gb.Matrix.from_coo(rows, cols, np.arange(len(rows)) % 7 + 1, nrows=n, ncols=n)
    d, q, worse = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(BOOL, n)

    def body(_):
        q << q.vxm(A, gb.semiring.min_plus[INT64])
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q

    d[0] = 0
    q[0] = 0
    program = Program(body, while_=q)
    program.run()
    found = np.full(n, np.inf)
    where, what = entries(d)
    found[where] = what
    np.testing.assert_array_equal(found, distances(A, 0))
    assert in_cluster(program) >= 10


def test_levels_by_a_scalar_and_counts(device, clusters):
    """Topological levels: in-degrees of waiting vertices fall, and vertices of in-degree 0 are next."""
    rng = np.random.default_rng(2)
    n = 120
    rows, cols = np.triu_indices(n, 1)
    kept = (rng.random(len(rows)) < 0.04) & (cols - rows < 20)
    rows, cols = rows[kept], cols[kept]
    A = gb.Matrix.from_coo(rows, cols, 1, INT64, nrows=n, ncols=n)
    waits = gb.Vector.from_coo(range(n), np.bincount(cols, minlength=n), size=n, dtype=INT64)
    level, q, fewer = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(INT64, n)
    q << waits.select(gb.select.valueeq, 0)
    q(q.S) << 1

    def body(k):
        level(q.S) << k
        fewer << q.vxm(A, gb.semiring.plus_times[INT64])
        waits(fewer.S, gb.binary.minus) << fewer
        q << waits.select(gb.select.valueeq, 0)
        q(fewer.S, gb.replace) << q
        q(q.S) << 1

    expected = np.zeros(n, int)
    for r, c in sorted(zip(rows, cols)):
        expected[c] = max(expected[c], expected[r] + 1)
    program = Program(body, while_=q)
    assert program.run() == expected.max() + 1
    assert entries(level)[1].tolist() == expected.tolist()


def test_which_vectors_are_sparse():
    """Where none of these has an entry, the passes do nothing; the distances are not among them."""
    x, y, z = (Vec(k, 9, INT64) for k in range(3))
    one, s = Const(INT64, np.int64(1)), Scal(0, INT64)
    copy, const, under_x = Elementwise(LEFT, None, y), Elementwise(LEFT, None, one), Masked(x, True, False)
    add, times = BINARY["plus"][INT64], BINARY["times"][INT64]
    read = Gather(y, Vec(0, 9, INT64), 0)  # whose index is x: a missing one raises an error
    empty = {
        Statement(z, read): None, Statement(z, read, None, add): None, Statement(z, read, under_x): {x},
        Statement(z, read, Masked(y, True, False), add): {y}, Statement(z, read, Masked(y, True, True)): None,
        Statement(z, copy, under_x): {x}, Statement(z, const): None, Statement(z, const, under_x): {x},
        Statement(z, const, Masked(x, True, True)): None, Statement(z, copy): {y, z},
        Statement(z, copy, None, add): {y},
        Statement(z, copy, under_x, None, True): {x, z}, Statement(z, copy, under_x, add, True): {x, z},
        Statement(z, Elementwise(BOTH, times, x, y)): {x, z}, Statement(z, Elementwise(UNION, add, x, y)): {x, y, z},
        Statement(s, Reduce(MONOIDS["min"][INT64], x)): {x}, Statement(s, Elementwise(LEFT, None, one)): set(),
        Statement(x, Elementwise(LEFT, None, x), Masked(y, False, True), None, True): {x},
    }  # fmt: skip
    for statement, expected in empty.items():
        found = sparse_vectors([FusedElementwise([statement])], ())
        assert found == (None if expected is None else frozenset(expected)), statement
    assert sparse_vectors([FusedElementwise([Statement(z, copy, None, add)])], {x}) == {x, y}
    many = [Statement(Vec(k, 9, INT64), const, Masked(Vec(k + 1, 9, INT64), True, False)) for k in range(9)]
    assert sparse_vectors([FusedElementwise(many)], ()) == {Vec(k, 9, INT64) for k in range(1, 10)}


def test_a_program_is_made_over_what_another_left(device):
    """Programs share memory: their launches meet bits of another one when they are made, and list them at most once. In
    the emulator each one is made so (emulator/left.py)."""
    n = 1024  # with a hub, because the body then also occurs before its loop
    A = gb.Matrix.from_coo([0] * (n - 1), range(1, n), range(1, n), nrows=n, ncols=n)
    assert gb.algorithms.sssp(A, 0).to_dense().tolist() == list(range(n))


def test_a_statement_that_only_removes_entries_writes_no_values():
    q, kept = Vec(0, 64, INT64), Vec(1, 64, BOOL)
    removes = [Statement(q, Elementwise(LEFT, None, q), Masked(kept, False, False), None, True)]
    cuda, _ = fused_variant(removes, {}, None)
    assert "b0 = has;" in cuda.text and "d0 = true" not in cuda.text
    numba = elementwise_kernel(removes, {}).variant
    assert "w0 = " in numba.script and "put(x0_val" not in numba.script
