"""Loops over many places: multivectors, element-wise kernels over many positions, and pulls of the rows that a mask
lists; against a plain loop on python-graphblas."""

import graphblas
import numpy as np
import oracles
import pytest
from test_loop import BOOL, FP32, INT64, count_down, dense, full, in_emulator

import bitblas as gb
import bitblas.loop.gpu.build as builds
from bitblas.exceptions import CaptureError, DimensionMismatch, IndexOutOfBound
from bitblas.loop import Program, at_once, holds_matrix, if_, repeat
from bitblas.loop.codegen import cuda_kernels

N = 90


def edges(n=N, m=260, seed=0):
    """Random ones, with a row that is cut where few entries are many."""
    rng = np.random.default_rng(seed)
    rows, cols = np.append(rng.integers(0, n, m), np.full(n, 7)), np.append(rng.integers(0, n, m), np.arange(n))
    key = np.unique(rows * n + cols)
    return key // n, key % n


def same(mine, other):
    host = mine.device.to_host
    for x, y in zip(mine.to_coo(), other.to_coo(), strict=True):
        np.testing.assert_array_equal(host(x), y)


def run(lib, body, condition, limit=None):
    """The rounds: of a program whose rounds are one by one on python-graphblas alone."""
    if lib is gb:
        program = Program(body, while_=condition, limit=limit)
        with at_once():
            return program.run(), program
    rounds = 0
    while condition.nvals and rounds != limit:
        body(rounds)
        rounds += 1
    return rounds, None


def sources(lib, shape, value, dtype, rng, wide):
    k = min(shape)
    ends = np.arange(k), rng.choice(max(shape), k, replace=False)
    return lib.Matrix.from_coo(*(ends if wide else ends[::-1]), value, dtype, nrows=shape[0], ncols=shape[1])


def captured(program):
    kinds = {line.kind.strip() for line in program.explain().launches}
    assert kinds & {"pull", "advance"}, program.explain()
    return kinds


SLOW = pytest.mark.slow  # the same with other sums and lines
SEARCHES = [(5, True, False), *(pytest.param(*how, marks=SLOW) for how in ((5, False, True), (70, False, False)))]


@pytest.mark.parametrize(("k", "wide", "values"), SEARCHES)
def test_searches(device, k, wide, values, tune):
    """Levels, and numbers of shortest paths; long rows are cut, few entries pushed along."""
    tune({"multivector.long_row": 20, "multivector.segment": 8})
    n = 1300 if k == 5 else N
    rows, cols = edges(n, 3 * n)
    shape = (k, n) if wide else (n, k)

    def levels(lib):
        A = lib.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
        kind = lib.dtypes.FP64 if values else lib.dtypes.BOOL
        op = lib.semiring.plus_first[kind] if values else lib.semiring.any_pair[kind]
        mine = lib.semiring.plus_second[kind] if values else op
        Q = sources(lib, shape, 1.0 if values else True, kind, np.random.default_rng(1), wide)
        V, P = lib.Matrix(lib.dtypes.INT64, *shape), lib.Matrix(kind, *shape)

        def body(level):
            V(Q.S) << level
            P(Q.S) << Q
            Q(~V.S, lib.replace) << (Q.mxm(A, op) if wide else A.T.mxm(Q, mine))

        return V, P, *run(lib, body, Q)

    V, P, rounds, program = levels(gb)
    X, Y, expected, _ = levels(graphblas)
    assert rounds == expected > 4
    same(V, X)
    same(P, Y)
    captured(program)


@in_emulator
@pytest.mark.parametrize(("limit", "empty"), [(None, False), (2, False), (None, True)])
def test_a_pull_writes_another_target_itself(device, turn, limit, empty, tune):
    """The target is as after the last round: a round that does not run changes nothing, nor does one too many."""
    tune({"multivector.long_row": 20, "multivector.segment": 8, "multivector.group_entries": 12})
    shape, (rows, cols) = (5, N), edges()

    def found(lib):
        A = lib.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N)
        X = sources(lib, shape, 1.0, lib.dtypes.FP64, np.random.default_rng(1), True)
        Y, V = X.dup(), lib.Matrix(lib.dtypes.INT64, *shape)
        if empty:
            X.clear()

        def body(level):
            V(X.S) << level
            Y(~V.S, lib.replace) << X.mxm(A, lib.semiring.plus_first[lib.dtypes.FP64])
            X << Y.apply(lib.unary.ainv)

        return Y, V, *run(lib, body, X, limit)

    Y, V, rounds, program = found(gb)
    X, W, expected, _ = found(graphblas)
    assert rounds == expected == (0 if empty else limit or rounds)
    same(Y, X)
    same(V, W)
    if not empty:
        texts = [line.statements for line in program.explain().launches if line.kind.strip() == "ewise"]
        assert "pull" in captured(program) and not any("mxm" in text for found in texts for text in found)


def lattice(side):
    """A grid whose numbering has gaps: rows of up to four entries, many levels."""
    at = np.arange(side * side).reshape(side, side)
    rows, cols = (np.concatenate([x.ravel() for x in pair]) for pair in ((at[1:], at[:, 1:]), (at[:-1], at[:, :-1])))
    return side * side + 9, np.append(rows, cols), np.append(cols, rows)


@in_emulator
@pytest.mark.parametrize(
    ("k", "wide", "alone", "blocks"),
    [(5, True, 0, 1), (70, False, 0, 1), (5, True, 2, 2), (70, False, 2, 1), (5, True, 1, 1)],
)
def test_a_search_and_its_way_back(device, turn, k, wide, alone, blocks, tune):
    """Levels, numbers of paths, and what the frontiers passed back. Each column runs alone in both loops, in two runs;
    or in the first one, because the second one computes with positions; or in none, because the first one stops before
    the search ends."""
    tune({"columns.blocks": blocks, "columns.threads": 64})
    n, rows, cols = lattice(10)
    shape = (k, n) if wide else (n, k)

    def swept(lib):
        FP64, BOOL, binary = lib.dtypes.FP64, lib.dtypes.BOOL, lib.binary
        A = lib.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
        first, second = lib.semiring.plus_first[FP64], lib.semiring.plus_second[FP64]
        ahead = lambda X: X.mxm(A, first) if wide else A.T.mxm(X, second)
        back = lambda X: X.mxm(A.T, first) if wide else A.mxm(X, second)
        begun = sources(lib, shape, 1.0, FP64, np.random.default_rng(1), wide)
        Q, P, D, T = (lib.Matrix(FP64, *shape) for _ in range(4))
        R, V = lib.Matrix(BOOL, *shape), lib.Matrix(lib.dtypes.INT16, *shape)
        level, saved, more = lib.Matrix(BOOL, *shape), gb.loop.Stack(), lib.Vector.from_scalar(True, 1)
        depth = lib.Scalar(lib.dtypes.INT64)

        def forth(step):
            P(Q.S) << Q
            V(Q.S) << (step if alone else depth)
            saved.push(Q)
            if not alone:
                depth << depth.apply(binary.plus, right=1)
            Q(~P.S, lib.replace) << ahead(Q)

        def passed(_):
            saved.pop(level)
            Q(level.S, lib.replace) << back(T)
            Q(level.S) << binary.times(Q & P)
            D(level.S, binary.plus) << Q
            if alone == 1:
                T(level.S) << P.apply(lib.indexunary.colindex, 1)
                D(level.S, binary.plus) << T
            T(level.S) << D.apply(binary.plus, right=1.0)
            T(level.S) << binary.truediv(T & P)

        def whole(_):
            for X in (P, V, D, T):
                X.clear()
            saved.clear()
            depth << 0
            Q << begun
            R(Q.S) << True
            if not alone:
                repeat(forth, while_=Q, limit=7)
            repeat(forth, while_=Q)
            D(P.S, lib.replace) << 0.0
            level << R
            repeat(passed, while_=level)
            more << more.select("==", False)

        program = Program(whole, while_=more)
        for _ in range(2):
            more << True
            with at_once():
                program.run()
        return program, P, V, D, T

    program, *mine = swept(gb)
    _, *others = swept(graphblas)
    for x, y in zip(mine, others, strict=True):
        assert x.nvals == y.nvals
        np.testing.assert_allclose(x.device.to_host(x.to_coo()[2]), y.to_coo()[2], rtol=1e-13)
        for i in (0, 1):
            np.testing.assert_array_equal(x.device.to_host(x.to_coo()[i]), y.to_coo()[i])
    if device != "cpu":
        assert "stack" in captured(program)
        assert str(program.explain()).count("each column alone") == alone


@in_emulator
@pytest.mark.parametrize("clears", [True, False])
def test_stacks_are_cleared_in_rounds_and_popped_into_frontiers(device, turn, clears):
    """What is popped is also the vector that a product writes; rounds after the last one leave the stack as it is."""
    n, rows, cols = lattice(6)
    shape = (5, n)

    def swept(lib):
        BOOL, INT64 = lib.dtypes.BOOL, lib.dtypes.INT64
        A = lib.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
        step = lib.semiring.any_pair[BOOL]
        begun = sources(lib, shape, True, BOOL, np.random.default_rng(1), True)
        Q, R = (lib.Matrix(BOOL, *shape) for _ in range(2))
        V, C, D = (lib.Matrix(INT64, *shape) for _ in range(3))
        saved, more, left = gb.loop.Stack(), lib.Vector.from_scalar(True, 1), lib.Vector(BOOL, 1)
        depth = lib.Scalar(INT64)

        def forth(_):
            V(Q.S) << depth
            if clears:
                saved.clear()
            saved.push(Q)
            depth << depth.apply(lib.binary.plus, right=1)
            Q(~V.S, lib.replace) << Q.mxm(A, step)

        def back(_):
            saved.pop(R)
            C(R.S) << depth
            R(~C.S, lib.replace) << R.mxm(A, step)
            D(R.S, lib.binary.plus) << 1
            depth << depth.apply(lib.binary.minus, right=1)
            left << left.select("==", False)

        def whole(_):
            for X in (V, C, D):
                X.clear()
            saved.clear()
            depth << 0
            Q << begun
            repeat(forth, while_=Q)
            left << True
            repeat(back, while_=left)
            left << True
            repeat(back, while_=left)
            more << more.select("==", False)

        program = Program(whole, while_=more)
        with at_once():
            program.run()
        return V, C, D

    mine, others = swept(gb), swept(graphblas)
    assert mine[1].nvals and mine[2].nvals
    for x, y in zip(mine, others, strict=True):
        same(x, y)


@pytest.mark.off_cpu  # which runs such a body as others
@pytest.mark.parametrize(
    ("k", "wide", "blocks", "shared"), [(5, True, 4, 0), (70, False, 1, 1 << 20), (20, True, 2, 1 << 20)]
)
def test_columns_run_alone(device, k, wide, blocks, shared, tune):
    """Searches of few levels and of many, wherever they stop: by one block and by several, which share the bits of a
    column or read them in memory. A search with entries masked before it, its source too, and one without a source.
    Something else in the body that reads V makes products pulls."""
    tune({"columns.blocks": blocks, "columns.shared_bytes": shared, "columns.threads": 64})
    n, rows, cols = lattice(10)
    shape = (k, n) if wide else (n, k)

    def searched(lib, limit, used):
        A, BOOL = lib.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n), lib.dtypes.BOOL
        step = lib.semiring.any_pair[BOOL]
        Q = sources(lib, shape, True, BOOL, np.random.default_rng(1), wide)
        del Q[(0, slice(None)) if wide else (slice(None), 0)]
        V, W = lib.Matrix(lib.dtypes.INT16, *shape), lib.Matrix(BOOL, *shape)
        source = np.random.default_rng(1).choice(n, k, replace=False)[1]
        for at in (40, 41, 50, source):
            V[(1, at) if wide else (at, 1)] = 77

        def body(level):
            V(Q.S) << level
            Q(~V.S, lib.replace) << (Q.mxm(A, step) if wide else A.T.mxm(Q, step))
            if used:
                W(V.S) << True

        return V, W, Q, *run(lib, body, Q, limit)

    for limit, used in ((0, False), (3, False), (None, False), (3, True)):
        *mine, rounds, program = searched(gb, limit, used)
        *others, expected, _ = searched(graphblas, limit, used)
        assert rounds == expected
        for x, y in zip(mine, others, strict=True):
            same(x, y)
        assert ("each column alone" in str(program.explain())) != used


def test_stacks_check_what_they_get(device):
    saved, v = gb.loop.Stack(), gb.Vector.from_coo([1, 3], True, size=5)
    with pytest.raises(TypeError, match="x: expected a Vector or a Matrix, got int"):
        saved.push(5)
    saved.push(v)
    other, ints = gb.Vector.from_coo([0], True, size=4), gb.Vector.from_coo([0], 7, size=5)
    with pytest.raises(DimensionMismatch, match=r"x: expected shape \(5,\), got \(4,\)"):
        saved.pop(other)
    with pytest.raises(TypeError, match="x: expected a Vector or a Matrix of BOOL, got one of INT64"):
        saved.pop(ints)
    assert other.nvals == 1 and ints.nvals == 1
    w = gb.Vector(gb.dtypes.BOOL, 5)
    saved.pop(w)
    assert w.isequal(v)
    saved.pop(w)
    assert w.nvals == 0
    saved.push(v)
    saved.clear()
    saved.pop(w)
    assert w.nvals == 0


def test_stacks_save_vectors(device):
    """Each level of a path of n vertices is saved, and taken back. On the CPU a table runs this if a round begins with
    an empty stack."""
    n = 70
    A = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), True, nrows=n, ncols=n)
    q, level = gb.Vector(BOOL, n), gb.Vector(BOOL, n)
    seen, order = gb.Vector(BOOL, n), gb.Vector(INT64, n)
    more, count, saved = gb.Vector(BOOL, 1), gb.Scalar(INT64), gb.loop.Stack()

    def forth(_):
        seen(q.S) << True
        saved.push(q)
        q(~seen.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[BOOL])

    def back(_):
        saved.pop(level)
        order(level.S) << count
        count << count.apply(gb.binary.plus, right=1)

    def whole(clears):
        if clears:
            saved.clear()
        seen.clear()
        count << 0
        repeat(forth, while_=q)
        level << seen
        repeat(back, while_=level)
        more << more.select("==", False)

    for clears in (True, False):
        q[0] = more[0] = True
        program = Program(lambda _, clears=clears: whole(clears), while_=more)
        with at_once():
            program.run()
        assert dense(order) == list(range(n - 1, -1, -1))
        assert clears or device != "cpu" or "does not clear" in str(program.explain())
        assert not clears or program.explain().launches


@in_emulator
def test_a_stack_by_columns_is_popped_in_any_loop(device, turn, tune):
    """Searches that end in different rounds, and a loop that runs after all rounds. More searches do not fit on the
    stack."""
    tune({"columns.threads": 64})
    n, rows, cols = lattice(6)

    def swept(lib, times):
        BOOL, INT64 = lib.dtypes.BOOL, lib.dtypes.INT64
        A = lib.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
        Q, R, V, D = (lib.Matrix(kind, 3, n) for kind in (INT64, BOOL, INT64, INT64))
        left, saved = lib.Vector.from_coo([0], [times], INT64, size=1), gb.loop.Stack()
        starts = lib.Matrix.from_coo([0, 1, 2], [0, 14, n - 1], [1, 2, 3], INT64, nrows=3, ncols=n)

        def forth(_):
            V(Q.S) << Q
            saved.push(Q)
            Q(~V.S, lib.replace) << Q.mxm(A, lib.semiring.plus_first[INT64])

        def back(k):
            saved.pop(R)
            D(R.S) << k

        def whole(k):
            V.clear()
            Q << starts
            repeat(forth, while_=Q)
            left << left.apply(lib.binary.minus, right=1)
            left << left.select(">", 0)

        def ends():
            R << starts.apply(lib.unary.one[BOOL])
            repeat(back, while_=R)

        program = Program(whole, while_=left, end=ends)
        program.run()
        return program, V, D

    program, *mine = swept(gb, 1)
    _, *others = swept(graphblas, 1)
    for x, y in zip(mine, others, strict=True):
        same(x, y)
    if device != "cpu":
        assert "each column alone" in str(program.explain()) and "pop_saved" in str(program.explain())
        with pytest.raises(IndexOutOfBound):
            swept(gb, 3)


def statements(lib, A, C, D, M, s, k):
    """A round of everything else."""
    f, u = lib.binary, lib.unary
    T = C.ewise_add(D, f.plus).new()
    T(M.V) << f.times(T & D)
    D(~C.S) << 3
    D(f.min) << T.select(">", 4).new(mask=~M.S)
    C << lib.monoid.plus(C | D)
    C(~M.S, lib.replace) << C.apply(f.minus, right=k)
    M << D.apply(f.gt, right=5)
    s << C.reduce_scalar(lib.monoid.plus, allow_empty=False)
    T << T.ewise_union(C, f.plus, 1, 2)
    C(f.max) << A.mxm(T, lib.semiring.min_plus)
    D(M.S) << T.apply(u.ainv)
    T(f.plus) << C.apply(lib.indexunary.rowindex, 1).new()
    D(f.plus) << T.select(lib.select.tril, k).ewise_mult(C, f.ss.secondj)
    D(C.S, f.plus) << s
    C << C.select("<", 60)


@in_emulator
@pytest.mark.parametrize("large", [True, pytest.param(False, marks=SLOW)])
def test_what_a_body_says(device, turn, large, tune):
    """Padded lines, where a complement and a value for all places reach beyond the matrix; passes as those over many
    places are, and as others."""
    if large:
        tune({"loop.words_size": 0, "loop.wide_size": 0})
    rows, cols = edges(seed=2)

    def made(lib):
        rng, shape = np.random.default_rng(3), (N, 5)
        A = lib.Matrix.from_coo(rows, cols, 2, lib.dtypes.INT64, nrows=N, ncols=N)
        C, D = (lib.Matrix.from_dense(rng.integers(0, 9, shape), missing_value=0) for _ in range(2))
        M = lib.Matrix.from_dense(rng.random(shape) < 0.5)
        s, t = lib.Scalar.from_value(0), lib.Vector.from_scalar(True, 3)
        body = lambda k: statements(lib, A, C, D, M, s, k)
        return C, D, M, t, s, body

    C, D, M, t, s, body = made(gb)
    X, Y, Z, _, r, plain = made(graphblas)

    def each(k):
        body(k)
        t << t.select("==", True)

    rounds, program = run(gb, each, t, 4)
    assert rounds == 4
    captured(program)
    for k in range(4):
        plain(k)
    for mine, other in ((C, X), (D, Y), (M, Z)):
        same(mine, other)
        assert mine.dtype.name == other.dtype.name
    assert s.value == r.value


@in_emulator
def test_counts_and_loops_inside(device, turn):
    """A Matrix to go on by, its nvals, and one that a loop inside goes on by; values of the padding stay out of it."""
    C, D, seen = gb.Matrix(INT64, 20, 3), gb.Matrix(INT64, 20, 3), gb.Scalar(INT64)
    seen.value = 0

    def down(_):
        D << D.apply(gb.binary.minus, right=1)
        D << D.select(gb.select.valuegt, 0)
        seen(gb.binary.plus) << D.nvals

    def body(k):
        D << C
        repeat(down, while_=D)
        if_(C, lambda: seen.__call__(gb.binary.plus).__lshift__(1000))
        C << C.apply(gb.binary.minus, right=2)
        C << C.select(gb.select.valuegt, 0)

    for _ in range(2):
        C << 3
        seen.value = 0
        assert Program(body, while_=C).run() == 2
        assert seen.value == 60 * 2 + 2000
        assert C.nvals == D.nvals == 0


BAD = {
    "square": (lambda C, A, v: A.__lshift__(A.apply(gb.unary.one)), "a Matrix of 90 x 90"),
    "index": (lambda C, A, v: C.__setitem__((1, 2), 5), "assignment by index"),
    "sums": (lambda C, A, v: v.__lshift__(C.reduce_rowwise(gb.monoid.plus)), "reduce_rowwise"),
    "beside": (lambda C, A, v: C.__lshift__(C.ewise_mult(C[0, :].new())), "extraction by index"),
    "two": (lambda C, A, v: A.__lshift__(C.mxm(C.T)), "a Matrix of 90 x 90"),
    "vector": (lambda C, A, v: v.__lshift__(C.mxv(gb.Vector(INT64, 5))), "where a sparse matrix is expected"),
    "entries": (lambda C, A, v: C.to_coo(), "reading its entries"),
    "value": (lambda C, A, v: bool(C.nvals), "reading a Scalar"),
}


@pytest.mark.off_cpu  # where a plain loop captures nothing
@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_captured_is_named(device, name):
    rows, cols = edges()
    A = gb.Matrix.from_coo(rows, cols, 1, nrows=N, ncols=N)
    C, v = gb.Matrix.from_coo([0, 5], [1, 2], 1, nrows=N, ncols=5), gb.Vector(INT64, 90)
    statement, said = BAD[name]

    def body(_):
        C << A.mxm(C, gb.semiring.plus_times)
        statement(C, A, v)

    with pytest.raises(CaptureError, match=said):
        repeat(body, while_=C)
    assert C.nvals == 2 and A.nvals == len(rows) and v.nvals == 0
    assert holds_matrix(C) and not holds_matrix(A)


def test_as_many_sources_as_vertices_and_more(device):
    """No narrow matrix holds them: the program runs statement by statement, and so does the loop inside."""
    rows, cols = edges(9, 20)
    A = gb.Matrix.from_coo(rows % 9, cols % 9, True, nrows=9, ncols=9)
    B = graphblas.Matrix.from_coo(rows % 9, cols % 9, True, nrows=9, ncols=9)
    mine, other = (gb.algorithms.betweenness_centrality(X, gb=lib) for X, lib in ((A, gb), (B, graphblas)))
    assert mine.device.name == device and not holds_matrix(gb.Matrix(BOOL, 9, 9))
    np.testing.assert_allclose(mine.device.to_host(mine.to_dense()), other.to_dense())
    many = list(range(9)) * 2
    mine, other = (gb.algorithms.levels_from_each(X, many, gb=lib) for X, lib in ((A, gb), (B, graphblas)))
    same(mine, other)


def test_few_entries_are_pulled_where_the_transpose_is_not_there():
    """Against the edges of a path: the format for pushing is not amortized yet."""
    n, ends = 600, [5, 9]
    A = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), True, nrows=n, ncols=n, device="cpu")
    Q = gb.Matrix.from_coo([0, 1], ends, 1.0, nrows=2, ncols=n, device="cpu")
    P = gb.Matrix("FP64", 2, n, device="cpu")

    def body(_):
        P(Q.S) << Q
        Q(~P.S, gb.replace) << Q.mxm(A.T, gb.semiring.plus_first["FP64"])

    with at_once():
        assert repeat(body, while_=Q) == 10
    assert P.reduce_rowwise("plus").new().to_coo()[1].tolist() == [6.0, 10.0]


def test_a_bitmap_is_built_of_a_few_entries(device):
    """It stays a multivector when it is cleared, as a matrix of rows does; errors about entries are those of any
    matrix, and change nothing."""
    C = gb.Matrix("INT64", 3, 700)
    program = gb.loop.Program(lambda k: C(C.S) << k, while_=C, limit=1)
    C[1, 5] = 4
    program.run()
    form = C.format
    assert form == ("csr" if device == "cpu" else "bitmap")
    with pytest.raises(gb.exceptions.OutputNotEmpty):
        C.build([0], [1], [2])
    C.build([2, 0], [699, 1], [7, 8], clear=True)
    with pytest.raises(gb.exceptions.IndexOutOfBound):
        C.build([0], [700], [1], clear=True)
    with pytest.raises(ValueError, match="Duplicate"):
        C.build([0, 0], [1, 1], [1, 2], clear=True)
    found = [x.tolist() for x in map(C.device.to_host, C.to_coo())]
    assert C.format == form and found == [[0, 2], [1, 699], [8, 7]]
    C.clear()
    assert C.format == form and C.nvals == 0


# ---- many positions: half words are read first, and those with few bits are distributed to the lanes -----------------

# Emulated GPUs have few warps: each looks several times, and the last half word is not whole.
SIZE = 32 * 6000 + 7
DENSITIES = [0.0, 0.001, 0.03, 0.12, 0.5, 1.0]


def frontier(lib, rng, alike):
    """Entries that are few and many in turns: from one half word to the next, or from one thousand of them."""
    halves = np.arange(-(-SIZE // 32))
    density = np.repeat(np.take(DENSITIES, (halves if alike else halves // 1000) % len(DENSITIES)), 32)[:SIZE]
    (at,) = np.nonzero(rng.random(SIZE) < density)
    return lib.Vector.from_coo(at, rng.integers(1, 9, len(at)), lib.dtypes.INT64, size=SIZE)


def made(lib, alike):
    rng = np.random.default_rng(7)
    q, p, d = (frontier(lib, rng, alike) for _ in range(3))
    return q, p, d, lib.Scalar.from_value(0, lib.dtypes.INT64)


def computing(lib, q, p, d, s):
    """One that computes at the entries of q."""

    def body(k):
        t = q.ewise_mult(p, lib.binary.times).new()
        d(lib.binary.plus) << t
        q(t.S, lib.replace) << d.apply(lib.binary.minus, right=k)
        q << q.select(">", 3)

    return body


def moving(lib, q, p, d, s):
    """One that moves entries alone."""

    def body(k):
        d(q.S) << q
        p(q.S) << k
        q(~p.V, lib.replace) << d

    return body


def summing(lib, q, p, d, s):
    """One that takes a sum."""

    def body(k):
        q(q.S, lib.replace) << p
        s(lib.binary.plus) << q.reduce(lib.monoid.plus)
        q(d.S, lib.replace) << q

    return body


@in_emulator
@pytest.mark.parametrize("alike", [True, False], ids=["alike", "in_parts"])
@pytest.mark.parametrize("make", [computing, moving, summing])
def test_few_and_many_positions(device, turn, make, alike, monkeypatch, tune):
    tune({"loop.wide_size": 1000})
    texts = []
    plain = cuda_kernels.Variant
    monkeypatch.setattr(cuda_kernels, "Variant", lambda *how: texts.append(how[-1]) or plain(*how))
    mine, other = made(gb, alike), made(graphblas, alike)
    rounds, program = run(gb, make(gb, *mine), mine[0], 3)
    expected, _ = run(graphblas, make(graphblas, *other), other[0], 3)
    assert rounds == expected
    assert {line.kind for line in program.explain().launches} == {"ewise"}
    if device != "cpu":  # which fuses nothing by these texts
        assert any("#define SAMPLE(i)" in text for text in texts)
        assert any("#define FEW 8" in text for text in texts) == (make is computing)
    for x, y in zip(mine[:3], other[:3], strict=True):
        same(x, y)
    assert mine[3].value == other[3].value


# ---- pulls of the rows that a mask lists: many and few, long ones in segments ----------------------------------------

ROWS = 700


def graph_with_a_hub():
    """One row of all columns, some without an entry."""
    few = oracles.random(ROWS, 2000, 3)
    rows, cols = (few.rows[few.rows % 7 != 1], few.cols[few.rows % 7 != 1])
    return np.append(rows[rows != 5], np.full(ROWS, 5)), np.append(cols[rows != 5], np.arange(ROWS))


def expected(rows, cols, x, turns, join, product):
    """The sums of all rounds, added up: a row is computed in `turns` rounds, and its sum becomes that of x."""
    x, total = dict(x), {}
    for k in range(max(turns)):
        found = {}
        for i, j in zip(rows.tolist(), cols.tolist(), strict=True):
            if turns[i] > k and j in x:
                z = product(x[j], i, j)
                found[i] = z if i not in found else join(found[i], z)
        x |= found
        total = {i: total.get(i, 0) + found.get(i, 0) for i in total | found}
    return [total.get(i, -99) for i in range(ROWS)]


@in_emulator
@pytest.mark.parametrize("form", [{}, {"format": "mplg"}], ids=["csr", "mplg"])
def test_rows_on_a_list(device, turn, form, monkeypatch):
    """x is full: t has its bits from the lengths of rows. Several rounds in a run of the body, of which the last ones
    do nothing."""
    monkeypatch.setattr(builds, "rounds_per_run", lambda *_, **__: 3)
    rows, cols = graph_with_a_hub()
    turns = np.random.default_rng(1).integers(0, 5, ROWS) ** 2 // 4
    x = np.random.default_rng(2).integers(1, 1000, ROWS)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=ROWS, ncols=ROWS, **form)
    v, total = full(gb, x.tolist()), gb.Vector(INT64, ROWS)
    left = full(gb, turns.tolist())
    left << left.select(gb.select.valuegt, 0)

    def body(_):
        t = A.mxv(v, gb.semiring.max_second[INT64]).new(mask=left.S)
        v(t.S) << t
        total(gb.binary.plus) << t
        count_down(left)

    program = Program(body, while_=left)
    assert program.run() == turns.max()
    assert dense(total) == expected(rows, cols, enumerate(x.tolist()), turns, max, lambda z, i, j: z)
    assert device == "cpu" or any("pull_worklist" in line.variant for line in program.explain().launches)


@in_emulator
def test_rows_on_a_list_of_a_vector_with_holes(device, turn):
    """Around a loop inside, products are pulls; weights, packed too, and sums that the places are part of."""
    rows, cols = graph_with_a_hub()
    turns = np.random.default_rng(3).integers(0, 4, ROWS)
    weights = np.random.default_rng(4).integers(1, 9, len(rows)).astype(np.float32)
    weight = {(i, j): float(w) for i, j, w in zip(rows.tolist(), cols.tolist(), weights.tolist(), strict=True)}
    x = {i: float(i % 50) for i in range(0, ROWS, 3)}
    A = gb.Matrix.from_coo(rows, cols, weights, nrows=ROWS, ncols=ROWS)
    v, total = gb.Vector.from_coo(list(x), list(x.values()), FP32, size=ROWS), gb.Vector(FP32, ROWS)
    left, often = full(gb, turns.tolist()), gb.Scalar(INT64)
    left << left.select(gb.select.valuegt, 0)

    def count():
        often(gb.binary.plus) << left.nvals

    def body(_):
        often.value = 0
        t = A.mxv(v, gb.semiring.min_plus[FP32]).new(mask=left.S)
        v(t.S) << t
        total(gb.binary.plus) << t
        if_(left, count)
        count_down(left)

    program = Program(body, while_=left)
    assert program.run() == turns.max()
    assert dense(total) == expected(rows, cols, x, turns, min, lambda z, i, j: z + weight[i, j])
    assert device == "cpu" or any("pull_worklist" in line.variant for line in program.explain().launches)


@pytest.mark.off_cpu  # there, objects are written
@pytest.mark.parametrize("k, kind", [(5, "INT8"), (70, "INT16")])
def test_runs_from_listed_entries_write_no_object(device, k, kind):
    """Searches from one vertex a row: several rows a word, several words a row. Levels are widened on the way out."""
    rows, cols = edges()
    A = gb.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N)
    V, Q = gb.Matrix(kind, k, N), gb.Matrix(BOOL, k, N)

    def body(level):
        V(Q.S) << level
        Q(~V.S, gb.replace) << Q.mxm(A, gb.semiring.any_pair[BOOL])

    program, at = Program(body, while_=Q), list(range(k))
    start = lambda ends: Q.build(at[: len(ends)], ends, [True] * len(ends), clear=True)
    ends = np.random.default_rng(k).integers(0, N, (3, k)).tolist()
    assert program._run_from(Q, ends[0], True, [V]) is None, "it was not captured"
    for some in (ends[0], ends[1][: k - 2]):  # first written, then listed; fewer than before
        V.clear()
        start(some)
        rounds = program.run()
        found = program._run_from(Q, some, True, [V], INT64)
        assert found is not None and found[0] == rounds and Q.nvals == 0
        assert found[1][0].dtype == INT64 and found[1][0].isequal(V.dup(INT64))
    before, (_, (levels,)) = V.dup(), program._run_from(Q, ends[2], True, [V])
    assert levels.dtype == V.dtype and V.isequal(before) and not levels.isequal(before)
    B = graphblas.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N)
    same(levels, gb.algorithms.levels_from_each(B, ends[2], gb=graphblas))
    assert program._run_from(Q, ends[2], False, [V]) is None, "it was captured for entries that are true"
    assert program._run_from(None, [], True, [V]) is None, "the first frontier is an input"
