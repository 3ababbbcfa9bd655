"""Programs whose results must be equal on one device and on ranks: each takes the library and operands, and returns
objects, arrays or numbers. Every rank of `test_distributed.py` runs them."""

from __future__ import annotations

import numpy as np

import bitblas as one
import bitblas.distributed as gd

N, M = 300, 210  # more than one word of bits a rank; M: of rectangular ones


def operands(gb, seed=1):
    """The same on every rank and in every library."""
    rng = np.random.default_rng(seed)

    def matrix(rows, cols, entries, kind):
        flat = np.unique(rng.integers(0, rows * cols, entries))
        values = rng.integers(-5, 9, len(flat)).astype(kind)
        return gb.Matrix.from_coo(flat // cols, flat % cols, values, nrows=rows, ncols=cols)

    def vector(size, entries, kind):
        at = np.unique(rng.integers(0, size, entries))
        return gb.Vector.from_coo(at, rng.integers(-5, 9, len(at)).astype(kind), size=size)

    class Made:
        A, B = matrix(N, N, 2500, np.int64), matrix(N, N, 1800, np.int64)
        F, R = matrix(N, N, 2000, np.float64), matrix(N, M, 1500, np.int64)
        u, v, f = vector(N, 120, np.int64), vector(N, 200, np.int64), vector(N, 150, np.float64)
        w, few, none = vector(M, 90, np.int64), vector(N, 2, np.int64), gb.Vector(gb.dtypes.INT64, N)
        full = gb.Vector.from_dense(np.arange(N) % 7)
        t = vector(N, 140, bool)
        i, j = np.nonzero(rng.random((N, N)) < 0.02)
        S = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], True, nrows=N, ncols=N)  # symmetric
        W = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.r_[i + j, i + j] % 9 + 1, nrows=N, ncols=N, dup_op="any")

    return Made


def into(gb, x, how):
    """w(mask, accum, replace) << ... on a vector that has entries."""
    for masked in (None, x.t.S, x.t.V, ~x.t.S, ~x.t.V):
        for accum in (None, gb.binary.plus):
            for replace in (False, True) if masked is not None else (False,):
                w = x.v.dup()
                w(mask=masked, accum=accum, replace=replace) << how(w)
                yield w


PROGRAMS = {
    "mxv": lambda gb, x: [*into(gb, x, lambda w: x.A.mxv(x.u, gb.semiring.min_plus))],
    "vxm": lambda gb, x: [*into(gb, x, lambda w: x.u.vxm(x.A, gb.semiring.max_times))],
    "products": lambda gb, x: [
        x.A.mxv(v, semiring).new()
        for v in (x.u, x.few, x.none, x.full, x.t)
        for semiring in (gb.semiring.plus_times, gb.semiring.any_pair, gb.semiring.plus_second, gb.semiring.min_first)
        if not (v is x.t and "times" in str(semiring))
    ],
    "transposed": lambda gb, x: [
        product.new()
        for A in (x.A, x.S, x.W)
        for product in (
            A.T.mxv(x.u, gb.semiring.plus_second), x.u.vxm(A.T, gb.semiring.plus_first),
            x.u.vxm(A, gb.semiring.plus_first), A.T.mxv(x.few, gb.semiring.min_plus), x.few.vxm(A, "lor_land"),
            x.t.vxm(A, gb.semiring.lxor_first), x.none.vxm(A, gb.semiring.any_pair),
        )
    ],
    "rectangular": lambda gb, x: [
        x.R.mxv(x.w).new(), x.u.vxm(x.R).new(), x.R.T.mxv(x.u).new(), x.w.vxm(x.R.T).new(),
        x.R.T.mxm(x.A).new(), x.R.mxm(x.R.T).new(),
    ],
    "positional": lambda gb, x: [
        x.A.mxv(x.u, gb.semiring.min_secondi).new(), x.u.vxm(x.A, gb.semiring.max_secondi).new(),
        x.u.vxm(x.S, gb.semiring.min_firstj).new(), x.A.T.mxv(x.u, gb.semiring.plus_firstj).new(),
        x.u.apply(gb.indexunary.index, 3).new(), x.u.select(gb.select.indexle, 100).new(),
        x.u.select("indexgt", 170).new(), x.A.apply(gb.indexunary.rowindex, 1).new(),
        x.A.apply(gb.indexunary.colindex).new(), x.A.apply(gb.indexunary.diagindex, 2).new(),
        *(x.A.select(name, 7).new() for name in ("tril", "triu", "diag", "offdiag")),
        *(x.A.select(name, 7).new() for name in ("rowle", "rowgt", "colle", "colgt")),
    ],
    "mxm": lambda gb, x: [
        x.A.mxm(x.B).new(), x.A.mxm(x.B.T, gb.semiring.min_plus).new(), x.A.T.mxm(x.B).new(),
        x.A.mxm(x.B, "plus_pair").new(mask=x.F.S), x.A.mxm(x.B, "plus_pair").new(mask=~x.F.S),
        x.S.T.mxm(x.W).new(mask=x.S.S),
    ],
    "elementwise": lambda gb, x: [
        gb.binary.plus(x.u | x.v).new(), gb.binary.minus(x.u & x.v).new(), (x.u + x.v).new(), (x.u - x.f).new(),
        gb.binary.minus(x.u | x.v, left_default=1, right_default=2).new(), (x.u < x.v).new(), abs(x.u).new(),
        gb.binary.times(x.A & x.B).new(), gb.monoid.max(x.A | x.F).new(), gb.binary.second(x.A & x.A.T).new(),
        x.u.apply("ainv").new(), x.u.apply(gb.binary.minus, left=3).new(), x.A.apply(gb.binary.plus, right=3).new(),
        gb.binary.pair[gb.dtypes.BOOL](x.A | x.A.T).new(), (x.u * 2).new(), (~x.t).new(),
    ],
    "into": lambda gb, x: [*into(gb, x, lambda w: gb.binary.plus(w | x.u)), *into(gb, x, lambda w: 7),
                           *into(gb, x, lambda w: x.f), *into(gb, x, lambda w: w)],
    "select": lambda gb, x: [x.u.select("valuegt", 2).new(), x.A.select(">", 2).new(), x.u.select(x.t).new(),
                             x.u.select(x.v.S).new(), x.A.select(x.B.S).new(), x.u.dup(mask=x.t.V)],
    "reductions": lambda gb, x: [
        *(v.reduce(m).new().value for v in (x.u, x.few, x.none, x.full) for m in ("plus", "min", "max", "times")),
        x.none.reduce("plus", allow_empty=False).new().value, x.t.reduce("lor").new().value,
        x.A.reduce_rowwise("plus").new(), x.A.reduce_columnwise("min").new(), x.A.T.reduce_rowwise("max").new(),
        x.A.reduce_scalar("plus").new().value, x.A.reduce_rowwise(gb.agg.mean).new(), x.u.inner(x.v).new().value,
        x.A.reduce_columnwise(gb.agg.count).new(), x.u.nvals, x.A.nvals, x.A.T.nvals,
    ],
    "extract": lambda gb, x: [
        x.u[int(x.few.to_coo()[0][0])].new().value, x.u[5:250:3].new(), x.u[[299, 0, 0, 150]].new(), x.u[:].new(),
        x.A[3:290, [5, 5, 200]].new(), x.A[7, :].new(), x.A[:, 7].new(), x.A[[250, 1], 9].new(), x.A[:, :].new(),
        x.A.T[4:9, :].new(), x.A[17, 2:200].new(), x.u.get(299, -1), x.A[0, 0].new().value,
        x.full[x.full.to_dense()].new(),
    ],
    "assign": lambda gb, x: list(assigned(gb, x)),
    "whole": lambda gb, x: [
        *x.u.to_coo(), *x.A.to_coo(), *x.A.T.to_coo(), x.u.to_dense(-9), x.full.to_dense(), x.u.isequal(x.u.dup()),
        x.u.isequal(x.v), x.A.isequal(x.A.dup()), x.f.isclose(x.f.dup()), x.A.T.new(), x.u.dup(gb.dtypes.FP32),
        x.u.to_dict(), 299 in x.u, list(x.few), gb.Vector.from_dict({3: 1.5, 200: 2.0}, size=250),
        gb.Vector.from_scalar(4, N), gb.Vector.from_pairs([(1, 2), (280, 3)], size=N),
    ],
    "dup_op": lambda gb, x: [
        gb.Vector.from_coo([5, 5, 280, 280, 5], [1, 2, 3, 4, 5], size=N, dup_op=gb.binary.plus),
        gb.Matrix.from_coo([9, 9, 280], [4, 4, 4], [1, 2, 3], nrows=N, ncols=N, dup_op=gb.binary.max),
    ],
    "tiny": lambda gb, x: [
        gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3]).mxv(gb.Vector.from_coo([1], [5], size=3)).new(),
        gb.Vector(int, 0).reduce("plus", allow_empty=False).new().value, gb.Vector(int, 0).dup(),
    ],
}  # fmt: skip


def assigned(gb, x):
    """The object that each of ASSIGNMENTS changes: a copy of x.v or x.A."""
    for text in ASSIGNMENTS.strip().splitlines():
        scope = {"gb": gb, "x": x, "w": x.v.dup(), "C": x.A.dup()}
        exec(text, scope)
        yield scope["C" if text.startswith("C") else "w"]


ASSIGNMENTS = """
w[3], w[299], w[150] = 1, 2, 3; del w[299]
w[[10, 200, 10]] = [1, 2, 3]
w[20:280] << x.u[10:270].new()
w(x.t.S)[5:290] << 4
w[5:205](x.u[:200].new().S) << 4
w(gb.binary.plus)[[290, 3, 7]] << 100
w(x.t.S, gb.replace)[:] << x.u
C[2:290:2, [1, 5, 9]] << 3
C[100:250, 100:250] << x.B[:150, :150].new()
C[250, :] << x.u
C[:, 250] << x.u
C[299, 5] = 77; C[0, 5] = 78
C(x.F.S)[:, :] << x.B
"""


def loop(gb, x):
    """A whole program as users write it: components by the least label that is near."""
    label = gb.Vector.from_scalar(0, N).apply(gb.indexunary.index).new()
    while True:
        before = label.dup()
        label(gb.binary.min) << x.S.mxv(label, gb.semiring.min_second)
        if label.isequal(before):
            return [label]


PROGRAMS["loop"] = loop


def quick(gb, x):
    """One statement for each way between ranks, of few kernels: what runs each time."""
    pair, w = gb.semiring.any_pair[gb.dtypes.BOOL], x.v.dup()
    w(x.t.S, gb.replace) << x.A.mxv(x.u, gb.semiring.min_plus)
    return [
        w, x.A.T.mxv(x.u, gb.semiring.min_plus).new(), x.t.vxm(x.S, pair).new(), x.none.vxm(x.S, pair).new(),
        gb.binary.plus(x.u | x.v).new(), x.u[[299, 0, 150]].new(), x.u.reduce("plus").new().value, *x.u.to_coo(),
        x.u.apply(gb.indexunary.index, 3).new(), x.A.nvals, x.u.to_dense(-9), *of_themselves(gb, x),
    ]  # fmt: skip


def of_themselves(gb, x):
    """A statement reads the object that it changes; the number of entries is computed again."""
    w, C, D = x.v.dup(), x.A.dup(), x.A.dup()
    before = w.nvals, C.nvals
    w[::-1] << x.A.mxv(w, gb.semiring.min_plus)
    C << gb.binary.plus(C | C.T)
    D(~D.V, gb.replace)[27, 0:20] << x.u[:20].new()  # the mask is that of all rows, of which other ranks have most
    return [*before, w, w.nvals, *w.to_coo(), C, C.nvals, D, D.nvals]


PROGRAMS["of themselves"] = of_themselves


def whole(x):
    return x.gathered() if hasattr(x, "gathered") else x


def same(a, b):
    """a: of one device; b: in shares, or not."""
    a, b = (x.get() if hasattr(x, "__cuda_array_interface__") else x for x in (a, whole(b)))
    if hasattr(a, "isequal"):
        return a.isclose(b, check_dtype=True) if a.dtype.kind in "fc" else a.isequal(b, check_dtype=True)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b


def assert_agree(name, program, x, y):
    """x: operands of one device; y: in shares."""
    wanted, got = list(program(one, x)), list(program(gd, y))
    wrong = [k for k, (a, b) in enumerate(zip(wanted, got, strict=True)) if not same(a, b)]
    assert not wrong, f"{name}: results {wrong} differ: {wanted[wrong[0]]!r} {whole(got[wrong[0]])!r}"


def results(name, graph, arguments, *operands):
    """The results of an algorithm on that graph of each of the operands: tuples."""
    found = (getattr(one.algorithms, name)(getattr(o, graph), *arguments) for o in operands)
    return [r if isinstance(r, tuple) else (r,) for r in found]


def levels_program(A):
    """Breadth-first levels: the program, its condition, the levels."""
    v, q = gd.Vector(int, A.nrows), gd.Vector(bool, A.nrows)

    def body(level):
        v(q.S) << level
        q(~v.S, gd.replace) << q.vxm(A, gd.semiring.any_pair[gd.dtypes.BOOL])

    return one.loop.Program(body, while_=q), q, v


def error_of(call, *args, **options):
    try:
        call(*args, **options)
    except Exception as error:
        return error
    return None


def assert_refused(kind, call, *args, said="", **options):
    found = error_of(call, *args, **options)
    assert isinstance(found, kind) and said in str(found), (args, options, found)
