"""Calls that need one kernel, for registered variants that every_kernel.py's programs leave out.

`CALLS` has a function for each kernel that calls a variant: types, constants and operator of the variant determine the
operands and the operation. Variants that are registered later are called without a change here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import matrix_calls
import numpy as np
import rank_calls
from battery import generator, values
from call_operands import SIZE, a_matrix, a_vector, limits, operator, types

import bitblas as gb
from bitblas import tuning
from bitblas.kernels.variant import Variant
from bitblas.registry import variants as registry

# ---- vectors --------------------------------------------------------------------------------------------------------


def gather(variant: Variant) -> None:
    iso, full = not variant.constant("DENSE"), bool(variant.constant("FULL"))
    a_vector(types(variant)["U"], full=full, iso=iso)[[5, 3, 3, 99]].new()


def virtual_nodes(variant: Variant) -> None:
    dtype, (rows, cols) = types(variant)["U"], np.divmod(np.arange(48), 6)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=SIZE, ncols=SIZE, format="virtual")
    A.mxv(a_vector(dtype, iso=not variant.constant("DENSE")), gb.semiring.any_second[dtype]).new()


def index_range(variant: Variant) -> None:
    places = gb.Vector.from_dense(np.arange(40))
    a_vector("INT64", full=True)[places.to_dense()].new()


def put(variant: Variant) -> None:
    w = a_vector(types(variant)["U"], iso=not variant.constant("DENSE"))
    value = w[0].new().value
    for i in range(20, 60):
        w[i] = value
    w.nvals


def equal(variant: Variant) -> None:
    u = a_vector(types(variant)["U"])
    u.isequal(u.dup())


def dense(variant: Variant) -> None:
    u = a_vector(types(variant)["U"])
    u.to_dense(fill_value=u[0].new().value, dtype=types(variant)["U"])


def compact(variant: Variant) -> None:
    a_vector(types(variant)["U"]).to_coo()


def place(variant: Variant) -> None:
    """Assignment by indices, or sums of values with the same index."""
    of = types(variant)
    if variant.constant("JOIN"):
        at, x = np.arange(90) % 40, values(generator("place", of["U"]), of["U"], 90)
        gb.Vector.from_coo(at, x, of["U"], size=SIZE, dup_op=operator(variant))
        return
    clear, marks = variant.constant("CLEAR"), variant.constant("MARKS")
    u = a_vector(of["U"], size=40, full=not (clear and marks))
    if not clear:
        u[[3, 1, 2]].new()
    iso = not variant.constant("DENSE")
    for full in (False, True):
        w = a_vector(of["T"], full=full, iso=iso) if clear else gb.Vector(of["T"], SIZE)
        w[np.arange(40)[::-1] * 3] << (a_vector(of["U"], size=40, full=full, iso=iso) if iso else u)
        gb.Vector.from_coo(np.arange(40) * 3, w[0].new().value if iso else u.to_coo()[1][0], of["U"], size=SIZE)


def elementwise(variant: Variant) -> None:
    of, op = types(variant), operator(variant)
    u, v = a_vector(of["U"]), a_vector(of["V"], full=True)
    if variant.constant("PLACES"):
        a_matrix(of["U"]).apply(op, 1).new()
        return
    if variant.constant("KEEP") and variant.label.startswith("unary"):  # the bits of a mask of values
        w = a_vector("BOOL")
        w(u.V) << a_vector("BOOL", full=True)
        return
    if variant.constant("KEEP"):
        for w in (gb.Vector(of["W"], SIZE), a_vector(of["W"])):
            w(a_vector("BOOL").S) << u.select(variant.label.partition(".")[2].partition("[")[0], 1)
        u.select(variant.label.partition(".")[2].partition("[")[0], 1).new()
        return
    runs = {
        "binary": (lambda: u.ewise_mult(v, op), lambda: u.ewise_add(v, op), lambda: u.apply(op, right=3),
                   lambda: u.apply(op, left=3)),
        "unary": (lambda: u.apply(op),),
        "indexunary": (lambda: u.apply(op, 1),),
    }  # fmt: skip
    for run in runs[variant.label.partition(".")[0]]:
        run().new()
        w = a_vector(of["W"])
        w(a_vector("BOOL").S) << run()


def reduce(variant: Variant) -> None:
    u, monoid = a_vector(types(variant)["U"], size=4000), operator(variant)
    u.reduce(monoid).new()
    with limits(chunk=2):
        u.reduce(monoid).new()


def fold(variant: Variant) -> None:
    """Equal places of a matrix, joined in their order."""
    dtype = types(variant)["A"]
    at = np.arange(600) % 400
    x = values(generator("fold", dtype), dtype, 600)
    gb.Matrix.from_coo(at // 20, at % 20, x, dtype, nrows=20, ncols=20, dup_op=operator(variant))
    gb.Vector.from_coo(at, x, dtype, size=400, dup_op=operator(variant))


def merge(variant: Variant) -> None:
    """An accumulator, or a cast, under a mask."""
    of, accum = types(variant), None if variant.label == "None" else operator(variant)
    w, t, mask = a_vector(of["W"]), a_vector(of["T"], full=True), a_vector("BOOL")
    w(mask.S, accum) << t.apply(gb.unary.identity) if accum else w(mask.S).update(t.apply(gb.unary.identity))
    w(mask.S, accum) << t if accum else w(mask.S).update(t)


def packed_values(variant: Variant) -> None:
    """Packed values, made, read and picked out."""
    for dtype in ("INT32", "INT64", "UINT32", "FP32"):
        x = np.arange(3000) % 200
        A = gb.Matrix.from_coo(np.arange(3000) // 60, np.arange(3000) % 60, x, dtype, nrows=50, ncols=60, packed=True)
        A.to_coo(), A.T.new().to_coo(), A.select("tril").new().to_coo(), A.apply(gb.unary.ainv).new()


def passes(variant: Variant) -> None:
    """Loops of the statements that are registered as one kernel."""
    n = SIZE
    r, s, total = gb.Vector.from_scalar(1.0, n), gb.Scalar.from_value(0.5), gb.Scalar(gb.dtypes.FP64)

    def sums(_: Any) -> None:
        r << r.apply(gb.binary.plus, right=s)
        r(gb.binary.plus) << 1.0
        total << r.reduce(gb.monoid.plus, allow_empty=False)

    total << 1.0
    gb.loop.repeat(sums, while_=total, limit=3)
    q, d, worse = a_vector("INT64"), a_vector("INT64", full=True), gb.Vector("BOOL", n)

    def relax(_: Any) -> None:
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q

    gb.loop.repeat(relax, while_=q, limit=3)
    q, seen = a_vector("INT64"), gb.Vector.from_coo([1, 3], True, size=n)

    def found(k: Any) -> None:
        d(q.S) << k
        q(~seen.S, gb.replace) << d

    gb.loop.repeat(found, while_=q, limit=3)
    x, near, p = (gb.Vector.from_coo(np.arange(n), np.arange(n)[::-1] // k) for k in (1, 2, 3))
    h, going, still = p.dup(), gb.Vector.from_scalar(True, 3), gb.Vector.from_scalar(True, 3)

    def links(_: Any) -> None:
        p(gb.binary.min) << gb.Vector.from_coo(x.to_dense(), near.to_dense(), size=n, dup_op=gb.binary.min)
        h << p[p[p.to_dense()].new().to_dense()]
        going(still.S, gb.replace) << True

    gb.loop.repeat(links, while_=going, limit=2)


def loops_inside(variant: Variant) -> None:
    """A search in each round of a loop."""
    A = gb.Matrix.from_coo(np.arange(SIZE - 1), np.arange(1, SIZE), True, nrows=SIZE, ncols=SIZE)
    v, q, left = gb.Vector("INT64", SIZE), gb.Vector("BOOL", SIZE), gb.Vector.from_coo([0], 2)
    source = gb.Vector.from_coo([SIZE - 5], True, size=SIZE)

    def level(k: int) -> None:
        v(q.S) << k
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    def search(_: Any) -> None:
        v.clear()
        q << source
        gb.loop.repeat(level, while_=q)
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    gb.loop.repeat(search, while_=left)


def by_patches(variant: Variant) -> None:
    """Shortest paths and least labels as fixpoints, along paths and a grid that are larger than patches."""
    with tuning.override({"patches.vertices": 1}):
        for dtype, n, strides in (("FP32", 9000, (1, 3000)), ("FP32", 5000, (1,)), ("INT64", 5000, (1,))):
            rows = np.concatenate([np.arange(n - stride) for stride in strides])
            cols = np.concatenate([np.arange(stride, n) for stride in strides])
            A = gb.Matrix.from_coo(rows, cols, np.arange(len(rows)) % 7 + 1, dtype=dtype, nrows=n, ncols=n)
            gb.algorithms.sssp(A, 0)
        label, waits = (gb.Vector.from_coo(np.arange(n), np.arange(n)[::-1], size=n) for _ in range(2))

        def spread(_: Any) -> None:
            t = waits.vxm(A, gb.semiring.min_first["INT64"]).new()
            t(gb.binary.lt(t & label).new().V, gb.replace) << t
            waits << t
            label(t.S) << t

        A = A.apply(gb.unary.one["BOOL"]).new()
        gb.loop.Program(spread, while_=waits, fixpoint=True).run()


def hubs(variant: Variant) -> None:
    leaves, folder = np.arange(1, SIZE), variant.kernel.split("/")[1]
    hub, form = np.zeros_like(leaves), "mplg" if folder == "csr" and variant.constant("PACKED") else folder
    A = gb.Matrix.from_coo([*hub, *leaves], [*leaves, *hub], True, nrows=SIZE, ncols=SIZE, format=form)
    gb.algorithms.bfs_levels(A, 1)


CALLS: dict[str, Callable[[Variant], None]] = {
    "kernels/among": virtual_nodes, "kernels/compact": compact, "kernels/dense": dense,
    "kernels/elementwise": elementwise, "kernels/equal": equal, "kernels/fold": fold, "kernels/gather": gather,
    "kernels/merge": merge, "kernels/narrow": packed_values, "kernels/place": place, "kernels/put": put,
    "kernels/range": index_range, "kernels/reduce": reduce,
    "kernels/widen": packed_values, "kernels/without": virtual_nodes, "loop/gpu/enter": loops_inside,
    "loop/gpu/pass": passes, "loop/gpu/settle": loops_inside,
    **{f"formats/{form}/likely": hubs for form in ("csr", "nib", "cgr")},
    "formats/csr/patches": by_patches, **{f"loop/gpu/patches_{part}": by_patches for part in ("begin", "turn", "end")},
    **rank_calls.CALLS, **matrix_calls.CALLS,
}  # fmt: skip


def calls() -> Iterator[tuple[str, Variant, Callable[[Variant], None]]]:
    """A name, a registered variant and what calls it, for all of the kernels that are called here."""
    for number, variant in enumerate(registry.variants()):
        if variant.kernel in CALLS:
            yield f"{variant.kernel} {number}", variant, CALLS[variant.kernel]
