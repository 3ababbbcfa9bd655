"""Calls that need one kernel of matrices, for each registered variant of it: see kernel_calls.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from battery import FORMS, generator, values
from call_operands import SIZE, a_matrix, a_vector, limits, operator, types
from test_loop import graph

import bitblas as gb
from bitblas import tuning
from bitblas.formats import FORMATS
from bitblas.kernels.variant import Variant

# ---- matrices -------------------------------------------------------------------------------------------------------


def join(variant: Variant) -> None:
    of, op = types(variant), operator(variant) if "." in variant.label else gb.binary.second["BOOL"]
    forms = [{"format": "mplg" if variant.constant(f"{x}_PACKED") else "csr"} for x in "AB"]
    A, B = (
        a_matrix(of[x], seed=k, iso="." not in variant.label, **form) for k, (x, form) in enumerate(zip("AB", forms))
    )
    if variant.constant("INTERSECT"):
        A.ewise_mult(B, op).new()
    elif variant.constant("FILLED"):
        A.ewise_union(B, op, 1, 1).new()
    else:
        A.ewise_add(B, op).new()


def pull_some(variant: Variant) -> None:
    """The rows that a mask lists, in a loop."""
    of, op = types(variant), operator(variant)
    A = a_matrix(of["A"], iso=True, format="mplg" if variant.constant("PACKED") else "csr")
    v, left = (a_vector(of["U"], full=True) for _ in range(2))

    def body(_: Any) -> None:
        v(left.S, op.monoid) << A.mxv(v, op)
        left.clear()

    gb.loop.repeat(body, while_=left)


def long_rows(variant: Variant) -> None:
    """Rows of a product too long for a table; and columns too many for shared memory."""
    words = "." not in variant.label
    op = gb.semiring.any_pair["BOOL"] if words else operator(variant)
    A, B = (types(variant)[x] for x in "AB")
    form = {"format": "mplg" if variant.constant("A_PACKED") else "csr"}
    if variant.constant("SINGLE"):
        x = True if words else values(generator("ones", A), A, 9000)
        A = gb.Matrix.from_coo(np.arange(9000) // 5000, np.arange(9000), x, A, nrows=1000)  # not narrow
        A.mxm(gb.Matrix.from_coo(np.arange(9000), np.arange(9000)[::-1], True), op).new()
        return
    wide = gb.Matrix.from_coo(
        np.arange(9000) % SIZE, np.arange(9000), True if words else values(generator("wide", B), B, 9000), B,
        nrows=SIZE, ncols=9000, **form,
    )  # fmt: skip
    ones = gb.Matrix.from_coo(
        np.arange(SIZE) // 50, np.arange(SIZE), True if words else values(generator("ones", A), A, SIZE), A,
        nrows=3, ncols=SIZE, **form,
    )  # fmt: skip
    if variant.constant("SHARED_WORDS"):
        ones.mxm(wide, op).new()
    else:
        with limits(shared=0):
            ones.mxm(wide, op).new()


def hubs(variant: Variant) -> None:
    """Rows of every form that are cut, with what ends of statements keep."""
    words = "." not in variant.label
    op, dtype = (gb.semiring.any_pair["FP64"], "BOOL") if words else (operator(variant), types(variant)["Z"])
    with limits(iterations=1):
        for format in FORMATS.values():
            if format.rows_per_unit != variant.constant("ROWS"):
                continue
            A = hub("BOOL" if words or "pair" in variant.label else dtype, words or "pair" in variant.label, format.key)
            u, mask = a_vector(A.dtype.name, size=A.ncols, full=not words, iso=words), a_vector("BOOL", size=A.nrows)
            w = a_vector(op.return_type.name, size=A.nrows)
            w(mask.S) << A.mxv(u, op)
            w(op.op.monoid) << A.mxv(u, op)
            A.mxv(u, op).new()


def hub(dtype: str, iso: bool, key: str) -> gb.Matrix:
    """One row of all columns, and a few entries elsewhere."""
    n, m = 100, 3000
    i, j = np.append(np.full(m, 66), np.arange(n)), np.append(np.arange(m), np.arange(n) * 7)
    keys = np.unique(i * m + j)
    x = True if iso else values(generator("hub", dtype), dtype, len(keys))
    return gb.Matrix.from_coo(keys // m, keys % m, x, dtype, nrows=n, ncols=m, **FORMS[key])


def look(variant: Variant) -> None:
    """What the plan sees of rows."""
    a_matrix("BOOL", iso=True, format="mplg" if variant.constant("PACKED") else "csr").profile()


# ---- products -------------------------------------------------------------------------------------------------------


def forms_of(variant: Variant) -> Iterator[str]:
    """The keys of the forms whose kernel it is."""
    name = variant.kernel.rpartition("/")[2]
    for key, format in FORMATS.items():
        told = dict(format.kernels["mxv.push"].constants(ranked=False, neutral=False))
        alike = all(variant.constant(c, told.get(c)) == told.get(c) for c in ("TILE", "PACKED"))
        if alike and variant.kernel == format.kernel(name):
            yield key


def product(variant: Variant) -> None:
    """mxv, vxm and products at a mask, with outputs that have entries."""
    of, words = types(variant), "." not in variant.label
    op = gb.semiring.any_pair["BOOL"] if words else operator(variant)
    ranked = not words and (variant.constant("RANKED", None) != 0)
    for key in forms_of(variant):
        for n in (SIZE, 128):
            A = a_matrix(
                of["A"], iso=of["A"] == "BOOL" and not (ranked and "land" in variant.label), n=n, m=n, **FORMS[key]
            )
            for full in (False, True):
                u = a_vector(of["U"] if "U" in of else of["B"], size=n, full=full, iso=words)
                outputs = [gb.Vector.from_coo(np.arange(0, n, 2), True, "BOOL", size=n)] if words else []
                outputs += [a_vector("FP64", size=n)] * words
                outputs += [] if words else [a_vector(op.return_type.name, size=n)]
                for w in outputs:
                    w(a_vector("BOOL", size=n, full=True).S) << A.mxv(u, op)
                    w(getattr(gb.binary, op.op.monoid.name)) << A.mxv(u, op)
                A.mxv(u, op).new()
            x = True if words else values(generator("few", u.dtype.name), u.dtype.name, 2)
            few = gb.Vector.from_coo([5, 99], x, u.dtype, size=n)
            few.vxm(A, op).new()
            A.T.new()  # is there for a push of mxv
            with limits(push=0.0):
                A.mxv(few, op).new()


def blank(variant: Variant) -> None:
    """The output of a push."""
    dtype = types(variant)["C"]
    few = gb.Vector.from_coo([5, 99], values(generator("few", dtype), dtype, 2), dtype, size=SIZE)
    few.vxm(a_matrix(dtype), gb.semiring.min_plus).new()


def wide_columns(variant: Variant) -> None:
    """Packed columns of 20 bits, for which a pull is compiled."""
    op, of = operator(variant), types(variant)
    with limits(width=1):
        x = True if of["A"] == "BOOL" else values(generator("wide", of["A"]), of["A"], 2000)
        A = gb.Matrix.from_coo([0] * 2000, np.arange(2000) * 300, x, of["A"], nrows=300, ncols=1 << 20, format="mplg")
        A.mxv(a_vector(of["U"], size=1 << 20, full=True), op).new()


def pull(variant: Variant) -> None:
    (wide_columns if variant.constant("WIDTH", 0) else product)(variant)


def pull_graded(variant: Variant) -> None:
    """Rows of every grade, some of them cut."""
    op, of, n = operator(variant), types(variant), 3000
    lengths = np.zeros(n, np.int64)
    lengths[::60] = [n, 2049, 300, *range(47)]
    x = True if of["A"] == "BOOL" else values(generator("graded", of["A"]), of["A"], int(lengths.sum()))
    rows, cols = np.repeat(np.arange(n), lengths), np.concatenate([np.arange(k) * (n // max(1, k)) for k in lengths])
    short = 24 if variant.constant("WIDTH", 0) else 0  # of codes: whether none is longer than a word
    with limits(graded=1, coded=1, short=short, hot=0.0 if variant.constant("SHARED_BYTES") else 2.0):
        A = gb.Matrix.from_coo(rows, cols, x, of["A"], nrows=n, ncols=n, format=next(forms_of(variant)))
        made = A.mxv(a_vector(of["U"], size=n, full=True), op)
        made.new(mask=a_vector("BOOL", size=n).S) if variant.constant("MASKED", 0) else made.new()


def dot(variant: Variant) -> None:
    of, words = types(variant), "." not in variant.label
    op = gb.semiring.any_pair["BOOL"] if words else operator(variant)
    mask_form = {"format": "mplg" if variant.constant("M_PACKED", 0) else "csr"} if "csr" in variant.kernel else {}
    for key in forms_of(variant):
        iso = of["A"] == "BOOL"
        A, B = (a_matrix(of[x], seed=k, iso=iso, **FORMS[key]) for k, x in enumerate("AB"))
        mask = a_matrix("BOOL", seed=5, iso=True, **(mask_form or FORMS[key]))
        A.mxm(B.T, op).new(mask=mask.S)
        if iso:
            A.mxm(A.T, op).new(mask=mask.S)


def step(variant: Variant) -> None:
    """A loop of one step, and a condition."""
    words = "." not in variant.label
    dtype = types(variant)["Z"]
    for key in forms_of(variant):
        options = FORMS[key] | ({"packed": True} if variant.constant("VALUES_PACKED") else {})
        weights = None if words else np.dtype(operator(variant).return_type.np_type)
        A = graph(weights=weights, symmetric=words, **options)
        q, seen = gb.Vector(dtype, A.nrows), gb.Vector("BOOL", A.nrows)
        q[7] = True if words else 0
        op = gb.semiring.any_pair["BOOL"] if words else operator(variant)

        def body(_: Any, A: gb.Matrix = A, q: gb.Vector = q, op: Any = op, seen: gb.Vector = seen) -> None:
            q << q.vxm(A, op)
            q(~seen.S, gb.replace) << q
            seen(q.S) << True

        gb.loop.repeat(body, while_=q)


def a_bitmap(dtype: str, places: int, *, flip: bool = False, iso: bool = False, few: bool = False) -> gb.Matrix:
    """A narrow matrix, of lines of so many places."""
    shape = (places, SIZE) if flip else (SIZE, places)
    keys = np.unique(np.random.default_rng(3).integers(0, SIZE * places, 4 if few else 5 * places))
    x = True if iso else values(generator("bitmap", dtype), dtype, len(keys))
    at = dict(zip(("nrows", "ncols"), shape))
    return gb.Matrix.from_coo(keys // shape[1], keys % shape[1], x, dtype, format="bitmap", **at)


def lines(variant: Variant) -> None:
    """A product with a bitmap, whose rows are cut, or sums over lines."""
    of, places = types(variant), 5 if variant.constant("BITS") == 8 else 60
    if variant.label.startswith("monoid"):
        a_bitmap(of["U"], places).reduce_columnwise(operator(variant)).new()
        return
    words, push = "." not in variant.label, variant.entry == "push"
    op = gb.semiring.any_pair["BOOL"] if words else operator(variant)
    flip = variant.label.startswith("semiring.plus_first")
    A, X = a_matrix(of["A"], iso=words), a_bitmap(of["U"], places, flip=flip, iso=words, few=push)
    X.nvals
    with tuning.override({"multivector.long_row": 5, "multivector.segment": 2}):
        (X.mxm(A, op) if flip else A.T.mxm(X, op) if push else A.mxm(X, op)).new()


def across(variant: Variant) -> None:
    """Sums of lines."""
    iso, places = variant.constant("KIND") != 2, 5 if variant.constant("BITS") == 8 else 60
    a_bitmap("FP64" if iso else types(variant)["U"], places, iso=iso).reduce_rowwise(operator(variant)).new()


def fill(variant: Variant) -> None:
    """One value at the places of a mask."""
    X, mask = a_bitmap(types(variant)["W"], 60), a_bitmap("BOOL", 60, iso=True)
    X(~mask.S) << 1
    X(mask.S, gb.replace) << 1


def deal(variant: Variant) -> None:
    """Entries of chunks are counted, and go to the rows of their bands."""
    i, j = np.arange(500) * 7 % SIZE, np.arange(500) * 11 % SIZE
    gb.Matrix.from_chunks([(i, j)], nrows=SIZE, ncols=SIZE, format="nib")


def decode(variant: Variant) -> None:
    """The arrays of a file are validated before they are used."""
    a_matrix("BOOL", iso=True, format="cgr")._stored.structure.primary.check()


def encode(variant: Variant) -> None:
    """Short rows and long ones."""
    gb.Matrix.from_coo([*[0] * 300, 1], [*range(0, 900, 3), 5], True, nrows=2, ncols=900, format="cgr")


def check(variant: Variant) -> None:
    """Given rows."""
    ptr, cols = (np.array(x, types(variant)[k].lower()) for k, x in (("PTR", [0, 2, 3]), ("COL", [0, 2, 1])))
    gb.Matrix.from_csr(ptr, cols, True, ncols=3)


CALLS = {"kernels/blank": blank, "kernels/hubs": hubs, "formats/bitmap/across": across} | {
    "formats/csr/deal": deal, "formats/cgr/decode": decode, "formats/cgr/encode": encode,
    "formats/bitmap/fill": fill,
    "formats/bitmap/pull": lines, "formats/bitmap/push": lines,
} | {
    f"formats/csr/{call.__name__}": call for call in (check, join, long_rows, look, pull_some)
} | {
    f"formats/{folder}/{name}": call
    for folder in ("csr", "b2sr", "split", "nib", "cgr")
    for name, call in (("pull", pull), ("push", product), ("dot", dot), ("step", step), ("pull_graded", pull_graded))
}  # fmt: skip
