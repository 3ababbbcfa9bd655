"""Every verb on every stored form, against python-graphblas: the same text runs on both.

`make test` runs covering arrays: every pair of (form, semiring, direction, matrix, mask, accumulator, replace,
transpose, type, ...) meets in some case. --all runs thousands of random cases of the full product.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from battery import (
    FORMS,
    MATRICES,
    PLAIN_FORMS,
    SOME_FORMS,
    VECTORS,
    covering,
    generator,
    label,
    places,
    sample,
    values,
)

import bitblas
from bitblas.formats import lanes
from bitblas.plan import direction as plan_direction
from bitblas.plan import product as plan
from bitblas.plan import transpose

oracle = pytest.importorskip("graphblas")

NAMES = "Matrix Vector Scalar binary unary indexunary monoid semiring select replace".split()
MASKS = ("", ".S", ".V", "~.S", "~.V")
ONE = {"BOOL": True, "FP32": 0.75, "FP64": -1.3}

# semiring, types of A, u and w, accumulator. The values of w are no products where the semiring may choose.
ALGEBRAS = (
    ("lor_land", "BOOL", "BOOL", "BOOL", "lor"),
    ("lor_land", "INT64", "FP32", "BOOL", "second"),
    ("any_pair", "BOOL", "BOOL", "BOOL", "lor"),
    ("any_second", "INT8", "UINT64", "FP64", "second"),
    ("ss.any_secondi", "BOOL", "BOOL", "INT64", "second"),
    ("plus_times", "INT64", "INT64", "INT64", "plus"),
    ("plus_times", "FP64", "FP64", "FP64", "plus"),
    ("plus_second", "BOOL", "FP64", "FP64", "plus"),
    ("plus_pair", "UINT8", "INT64", "INT64", "plus"),
    ("times_second", "UINT8", "UINT8", "UINT8", "times"),
    ("min_plus", "FP32", "FP32", "FP64", "min"),
    ("min_second", "BOOL", "UINT64", "UINT64", "min"),
    ("max_plus", "INT8", "INT8", "INT8", "max"),
    ("max_times", "FP64", "FP32", "FP64", "max"),
    ("min_first", "UINT64", "BOOL", "UINT64", "plus"),
)
MORE_ALGEBRAS = (  # with --all
    ("lxor_land", "BOOL", "BOOL", "UINT8", "plus"),
    ("any_first", "UINT64", "INT8", "FP64", "second"),
    ("ss.min_firstj", "FP32", "BOOL", "INT64", "min"),
    ("plus_times", "INT8", "FP32", "FP32", "min"),
    ("min_plus", "UINT8", "INT64", "INT64", "minus"),
)
STATEMENT = {"mask": MASKS, "accum": (False, True), "replace": (False, True)}

# Packed rows run the kernels of plain ones, and meet two algebras of all: bits, counts and values come of them.
PACKED = tuple(a for a in ALGEBRAS if a[:2] in (("lor_land", "BOOL"), ("plus_times", "INT64")))
# Forms that run the kernels of others with another tile size meet one algebra of a kind: bits, counts, values, places.
ALIKE = ("b2sr16", "b2sr32", "b2sr64", "split4", "split16")
KINDS = ("lor_land", "ss.any_secondi", "plus_second", "plus_pair", "min_plus", "max_plus")
KINDS_OF = PACKED + tuple(a for a in ALGEBRAS if a[0] in KINDS and a not in PACKED)
KERNELS = {"form": PLAIN_FORMS, "algebra": ALGEBRAS, "call": ("mxv pull", "mxv push", "vxm pull", "vxm push")}
KERNELS |= {"u": VECTORS}
SHAPES = tuple(k for k in MATRICES if not k[0].isdigit())  # the other ones: test_product_of_every_matrix
SHAPES += ("1x1", "1x130", "130x1", "63x63", "65x65")
PRODUCTS = {"matrix": SHAPES, "T": ("", ".T"), "iso": (False, True), "longest": (None, 1), **STATEMENT}

SUMS = tuple(a for a in ALGEBRAS if a[0] in ("lor_land", "any_pair", "plus_pair", "min_plus", "max_times"))
SUMS += (("plus_times", "INT64", "INT64", "INT64", "plus"), ("plus_first", "UINT8", "FP64", "FP64", "plus"))
MXM_KERNELS = [
    {"form": f, "algebra": a} for f in FORMS for a in SUMS
    if f not in (*ALIKE, "mplg") or a in PACKED or (f != "mplg" and a[0] == "min_plus")
]  # fmt: skip
MXM = {
    "matrix": tuple(k for k in SHAPES if k != "long hub"),
    "right": ("csr", "b2sr4", "b2sr64"), "at": ("csr", "b2sr16"), "T": ("", ".T"), "TB": ("", ".T"),
    "iso": (False, True), **STATEMENT,
}  # fmt: skip

ENTRYWISE = {
    "text": (
        "C{how} << A{T}.ewise_add(B{T}, binary.{op})", "C{how} << A{T}.ewise_mult(B{T}, binary.{op})",
        "C{how} << A{T}.ewise_union(B{T}, binary.{op}, 1, 0)", "C{how} << A{T}.apply(unary.{f})",
        "C{how} << A{T}.apply(binary.{op}, right=1)", "C{how} << A{T}.apply(binary.{op}, left=1)",
        "C{how} << A{T}.apply(indexunary.colindex, 2)", "C{how} << A{T}.select('tril', 1)",
        "C{how} << A{T}.select('>', Scalar.from_value(1, dtype=A.dtype))", "C{how} << A{T}.select(L.V)",
        "C{how} << A{T}", "C{how} << A{T}[::-1, J]", "C{how}[::-1, J] << A{T}", "C{how}[I, :] << 1",
        "w{how} << A{T}.reduce_rowwise(monoid.{m})", "w{how} << A{T}.reduce_columnwise(monoid.{m})",
        "w{how} << A{T}[:, {j}]", "w{how} << A{T}[{j}, :]", "s << A{T}.reduce_scalar(monoid.{m})",
    ),
    "form": PLAIN_FORMS, "right": SOME_FORMS, "at": ("csr", "split8"), "matrix": SHAPES, "iso": (False, True),
    "dtypes": (
        ("BOOL", "BOOL", "lor", "land", "lnot", "lor"), ("UINT8", "INT64", "minus", "max", "abs", "max"),
        ("INT64", "BOOL", "times", "second", "one", "min"), ("FP32", "FP64", "plus", "times", "abs", "max"),
        ("FP64", "FP64", "first", "min", "sqrt", "plus"),
    ),
    "T": ("", ".T"), **STATEMENT,
}  # fmt: skip

MORE_DTYPES = ENTRYWISE["dtypes"] + (  # with --all
    ("INT8", "INT8", "plus", "plus", "ainv", "plus"), ("UINT64", "UINT64", "min", "plus", "ainv", "plus"),
)  # fmt: skip


def pytest_generate_tests(metafunc):
    def cases(factors, count, kernels=({},), every=None, **more):
        found = covering(factors, kernels)
        if metafunc.config.getoption("--all"):
            found += sample({**factors, **more}, count, every or kernels)
        return found

    if "product_case" in metafunc.fixturenames:
        plain = covering({**KERNELS, "form": tuple(f for f in FORMS if f != "mplg" and f not in ALIKE)})
        plain += covering({**KERNELS, "form": ALIKE, "algebra": KINDS_OF})
        packed = covering({**KERNELS, "form": ("mplg",), "algebra": PACKED, "u": ("full", "half", "sparse")})
        every = list(sample({**KERNELS, "algebra": ALGEBRAS + MORE_ALGEBRAS}, 800))
        metafunc.parametrize("product_case", cases(PRODUCTS, 4000, plain + packed, every), ids=label)
    if "mxm_case" in metafunc.fixturenames:
        metafunc.parametrize("mxm_case", cases(MXM, 1500, MXM_KERNELS), ids=label)
    if "entry_case" in metafunc.fixturenames:
        found = cases(ENTRYWISE, 2500, dtypes=MORE_DTYPES)
        if not metafunc.config.getoption("--all"):  # packed rows meet their like, of one type (test_mplg.py: others)
            packed = {"form": "mplg", "right": "mplg", "dtypes": ("INT64", "INT64", "minus", "plus", "ainv", "plus")}
            found = [case | packed if "mplg" in (case["form"], case["right"]) else case for case in found]
        metafunc.parametrize("entry_case", found, ids=label)


# ---- operands and comparison ----------------------------------------------------------------------------------------


class Operands:
    """The same objects of either library; `at` are the arrays that they are made of."""

    def __init__(self, gb):
        self.gb = gb
        self.scope = {name: getattr(gb, name) for name in NAMES} | {"np": np}

    def matrix(self, name, p, dtype, form="csr", iso=False):
        x = ONE.get(dtype, 3) if iso else values(generator(name, len(p.rows)), dtype, len(p.rows))
        self._made(name, form, p.rows, p.cols, x, dtype, p.nrows, p.ncols)

    def _made(self, name, form, rows, cols, x, dtype, nrows, ncols):
        """form: of FORMS; with " reordered" behind it a square matrix is stored in another order (of its name)."""
        form, _, reordered = form.partition(" ")
        more = FORMS[form] if self.gb is bitblas else {}
        A = self.gb.Matrix.from_coo(rows, cols, x, dtype, nrows=nrows, ncols=ncols, **more)
        if reordered and self.gb is bitblas and nrows == ncols:
            A = A.reorder(generator(reordered, nrows).permutation(nrows))
        self.scope[name] = A

    def vector(self, name, kind, size, dtype, low=None):
        rng = generator(name, kind, size)
        at = places(kind, size, rng)
        x = ONE.get(dtype, 3) if "iso" in kind else values(rng, dtype, len(at)) if low is None else low - at % 5
        self.scope[name] = self.gb.Vector.from_coo(at, x, dtype, size=size)

    def random(self, name, nrows, ncols, dtype, form="csr", density=0.3):
        rng = generator(name, nrows, ncols)
        rows, cols = np.nonzero(rng.random((nrows, ncols)) < density)
        self._made(name, form, rows, cols, values(rng, dtype, len(rows)), dtype, nrows, ncols)


def how(case, mask):
    """The parenthesis of a statement: mask, accumulator, replace."""
    kind = case["mask"]
    parts = [f"{'~' * ('~' in kind)}{mask}{kind.removeprefix('~')}"] if kind else []
    parts += [f"binary.{case['algebra'][4] if 'algebra' in case else case['dtypes'][3]}"] if case["accum"] else []
    parts += ["replace"] if case["replace"] and kind else []
    return f"({', '.join(parts)})" if parts else ""


def dense(x):
    """Dtype, shape, presence and values of a result, as arrays on the host."""
    if x.ndim == 0:
        return str(x.dtype), (), np.array(x.value is not None), np.array(0 if x.value is None else x.value)
    found = [np.asarray(bitblas.device.get("cpu").asarray(a.get() if hasattr(a, "get") else a)) for a in x.to_coo()]
    at = tuple(a.astype(np.int64) for a in found[:-1])
    present, full = np.zeros(x.shape, bool), np.zeros(x.shape, found[-1].dtype)
    present[at], full[at] = True, found[-1]
    return str(x.dtype), x.shape, present, full


def differ(found, expected, may=None):
    """Why a result is not the expected one, or ''. may(place, value): a value that is right too."""
    if found[:2] != expected[:2]:
        return f"found {found[:2]}, expected {expected[:2]}"
    if (found[2] != expected[2]).any():
        return f"presence differs at {np.argwhere(found[2] != expected[2])[:5].tolist()}"
    x, y = found[3], expected[3]
    wrong = x != y
    if x.dtype.kind == "f":
        rel = 1e-6 if x.dtype.itemsize == 4 else 1e-12
        wrong &= ~np.isclose(x, y, rel, rel, equal_nan=True)
    for at in np.argwhere(wrong & found[2]):
        if may is None or not (may(at, x[tuple(at)]) and may(at, y[tuple(at)])):
            return f"at {at.tolist()}: found {x[tuple(at)]}, expected {y[tuple(at)]}"
    return ""


def check(text, name, make, may=None, instead=None):
    """Run the text on both (python-graphblas: `instead`) and compare what `name` holds."""
    theirs, ours = Operands(oracle), Operands(bitblas)
    for operands, program in ((theirs, instead or text), (ours, text)):
        make(operands)
        exec(program, operands.scope)
    wrong = differ(dense(ours.scope[name]), dense(theirs.scope[name]), may and may(theirs.scope))
    assert not wrong, f"{wrong}\n{text}"


# ---- products -------------------------------------------------------------------------------------------------------


def force(monkeypatch, direction, longest=None):
    """Pull or push wherever both are possible; rows longer than `longest` steps are hubs."""
    cost = 0.0 if direction == "push" else float("inf")
    monkeypatch.setattr(plan_direction, "PUSH_COST", {"cpu": cost, "gpu": cost})
    monkeypatch.setattr(transpose, "TURN", {"cpu": 0.0, "gpu": 0.0})  # it is made for whoever reads it
    if longest is not None:
        monkeypatch.setattr(lanes, "LONGEST", longest)


def products_of(verb, multiply, turned):
    """For semirings that choose: which values a sum over row i may have."""

    def members(scope):
        rows, cols, x = (a.tolist() for a in scope["A"].to_coo())
        A, u = {}, scope["u"].to_dict()
        for i, k, value in zip(cols, rows, x) if turned != (verb == "vxm") else zip(rows, cols, x):
            A.setdefault(i, {})[k] = value
        name = {"first": "second", "second": "first"}.get(multiply, multiply) if verb == "vxm" else multiply

        def may(at, value):
            row = A.get(int(at[0]), {})
            return value in [{"first": row[k], "second": u[k], "secondi": k}[name] for k in row if k in u]

        return may

    return members


def run_product(case, monkeypatch):
    verb, direction = case["call"].split()
    name, a, u, w, _ = case["algebra"]
    p = MATRICES[case["matrix"]]()
    nrows, ncols = (p.ncols, p.nrows) if case["T"] else (p.nrows, p.ncols)
    inputs, outputs = (nrows, ncols) if verb == "vxm" else (ncols, nrows)
    chooses = name.startswith(("any_", "ss.any")) and not name.endswith("pair")
    force(monkeypatch, direction, case["longest"])

    def make(operands):
        operands.matrix("A", p, a, case["form"], case["iso"])
        operands.vector("u", case["u"], inputs, u)
        operands.vector("w", "half", outputs, w, -1000 if chooses else None)
        operands.vector("m", "half", outputs, "BOOL")

    call = f"A{case['T']}.mxv(u, semiring.{name})" if verb == "mxv" else f"u.vxm(A{case['T']}, semiring.{name})"
    may = products_of(verb, name.partition("_")[2], bool(case["T"])) if chooses else None
    # Over no products at all SuiteSparse 9.4 gives the monoid's identity where u is full; there is no entry.
    instead = None if inputs else f"w{how(case, 'm')} << Vector('{w}', {outputs})"
    check(f"w{how(case, 'm')} << {call}", "w", make, may, instead)
    operands = Operands(bitblas)
    make(operands)
    planned = bitblas.explain(eval(call, operands.scope))
    assert planned.key == case["form"].partition(" ")[0]
    free = operands.scope["A"].nvals and not name.startswith("plus")
    if case["form"].partition(" ")[0] not in PLAIN_FORMS and (verb == "vxm") == bool(case["T"]):
        direction = "pull"  # no Split of the transpose is made to push along it
    assert not free or planned.kind == plan.COUNT or planned.direction == direction, planned


def test_product(device, product_case, monkeypatch):
    run_product(product_case, monkeypatch)


EVERY = {
    "words": ("mxv pull", ALGEBRAS[0], "half iso", True),
    "count": ("vxm pull", ("plus_pair", "UINT8", "INT64", "INT64", "plus"), "half", False),
    "values": ("vxm push", ("plus_times", "INT64", "INT64", "INT64", "plus"), "half", False),
}


def run_matrices(matrices, form, call, algebra, u, iso, monkeypatch, **end):
    for k, matrix in enumerate(matrices):
        case = {"form": form, "call": call, "algebra": algebra, "matrix": matrix, "u": u, "iso": iso, "T": ""}
        rest = {"mask": MASKS[k % 5], "accum": k % 2 == 1, "replace": k % 3 == 0, "longest": (None, 2)[k % 2]}
        run_product(case | rest | end, monkeypatch)


@pytest.mark.parametrize("form", PLAIN_FORMS)
@pytest.mark.parametrize("kind", EVERY)
def test_product_of_every_matrix(device, form, kind, monkeypatch):
    run_matrices(MATRICES, form, *EVERY[kind], monkeypatch)


# A Split: one of each kind of kernel, on matrices that do not need the same one for a full vector.
SPLITS = (
    ("split8", "mxv pull", 0, "half iso", True, {}),
    ("split4", "mxv pull", 0, "half iso", True, {"accum": False, "replace": True}),
    ("split16", "vxm pull", 0, "half iso", True, {"accum": False, "replace": True}),
    ("split8", "vxm pull", 8, "half", False, {"accum": True, "replace": False}),
    ("split8", "vxm push", 5, "half", False, {}),
    ("split8", "mxv pull", 1, "full", False, {"accum": False, "replace": True}),
    ("split8", "vxm pull", 4, "half", True, {"accum": False, "replace": True}),
    ("split8", "mxv pull", 7, "full", True, {"accum": False, "replace": True}),
    ("split16", "mxv pull", 10, "half", False, {"accum": False, "replace": True}),
)
SPLIT_SHAPES = (
    "gaps",
    "hub",
    "long hub",
    "dense column",
    "wide",
    "all ones",
    "no entries",
    "63x63",
    "65x65",
    "130x130",
)


@pytest.mark.parametrize("form, call, algebra, u, iso, end", SPLITS)
def test_products_of_splits(device, form, call, algebra, u, iso, end, monkeypatch):
    run_matrices(SPLIT_SHAPES, form, call, ALGEBRAS[algebra], u, iso, monkeypatch, **end)


def test_mxm(device, mxm_case):
    run_mxm(mxm_case)


def run_mxm(case):
    name, a, b, c, _ = case["algebra"]
    p = MATRICES[case["matrix"]]()
    nrows, inner = (p.ncols, p.nrows) if case["T"] else (p.nrows, p.ncols)
    ncols = 45

    def make(operands):
        operands.matrix("A", p, a, case["form"], case["iso"])
        operands.random("B", *((ncols, inner) if case["TB"] else (inner, ncols)), b, case["right"])
        operands.random("C", nrows, ncols, c)
        operands.random("L", nrows, ncols, "BOOL", case["at"])

    check(f"C{how(case, 'L')} << A{case['T']}.mxm(B{case['TB']}, semiring.{name})", "C", make)


# ---- entry by entry -------------------------------------------------------------------------------------------------


def test_entrywise(device, entry_case):
    run_entrywise(entry_case)


def run_entrywise(case):
    dtype, other, op, _, f, m = case["dtypes"]
    p = MATRICES[case["matrix"]]()
    nrows, ncols = (p.ncols, p.nrows) if case["T"] else (p.nrows, p.ncols)
    name = case["text"][0]
    size = ncols if "columnwise" in case["text"] or "[{j}, :]" in case["text"] else nrows
    j = min(nrows, ncols) - 1
    if j < 0 and "{j}" in case["text"]:
        return
    text = case["text"].format(how=how(case, "m" if name == "w" else "L"), T=case["T"], op=op, f=f, m=m, j=j)

    def make(operands):
        operands.matrix("A", p, dtype, case["form"], case["iso"])
        operands.random("B", p.nrows, p.ncols, other, case["right"], 0.1)
        operands.random("C", nrows, ncols, dtype, case["right"], 0.1)
        operands.random("L", nrows, ncols, "BOOL", case["at"])
        operands.vector("w", "half", size, dtype)
        operands.vector("m", "half", size, "BOOL")
        operands.scope["s"] = operands.gb.Scalar(dtype)
        operands.scope |= {"I": [0] if nrows else [], "J": np.random.default_rng(0).permutation(ncols)}

    check(text, name, make)


# ---- aliasing, pending writes, refusals, shared structures ----------------------------------------------------------

ALIASES = """
w << A.mxv(w, semiring.min_plus); w(w.S) << A.mxv(w, semiring.min_plus);
w(~w.S, replace) << w.vxm(A, semiring.min_plus);
w(~w.V, binary.plus) << w.vxm(A, semiring.min_plus); w(binary.min) << A.T.mxv(w, semiring.min_plus);
w(w.V, replace) << A.mxv(w, semiring.min_plus); C << C.mxm(C, semiring.plus_times);
C(C.S) << C.mxm(C, semiring.min_plus); C(C.V, replace) << C.mxm(C.T, semiring.min_plus);
C(~C.S, binary.plus) << C.T.mxm(C, semiring.min_plus); C << C.T; C << C.T.mxm(A, semiring.min_plus);
C(C.S, binary.plus) << C; C(~C.S) << C.T; C << C.ewise_add(C.T, binary.minus); C << C[::-1, ::-1];
C[::-1, :] << C; w << C.reduce_rowwise(monoid.plus); C(A.S) << C.select("tril"); w[:] = A[3, :]
"""
PENDING = """
A[0, 0] = 5; A[66, 66] = 7; w << A.mxv(u, semiring.plus_times)
del A[3, 3]; A[3, 4] = 2; w << u.vxm(A, semiring.min_plus)
A[1, 1] = 1; A[1, 1] = 2; del A[1, 1]; w << A.reduce_rowwise(monoid.plus)
A[5, 6] = 4; C(A.S) << A.mxm(A, semiring.plus_times)
u[3] = 9; u[4] = 8; del u[5]; w << A.mxv(u, semiring.plus_times)
m[0] = True; m[64] = False; w(m.V) << A.mxv(u, semiring.min_plus)
w[2] = 3; w(m.S, binary.plus) << A.mxv(u, semiring.min_plus)
C[0, 0] = 1; C(~C.S, replace) << A.ewise_mult(A, binary.times)
"""


def square(form):
    def make(operands):
        operands.random("A", 67, 67, "INT64", form, 0.1)
        operands.random("C", 67, 67, "INT64", form, 0.15)
        for name, dtype in (("u", "INT64"), ("w", "INT64"), ("m", "BOOL")):
            operands.vector(name, "half", 67, dtype)

    return make


@pytest.mark.parametrize("direction", ["pull", "push"])
@pytest.mark.parametrize("form", ["csr", "mplg", "b2sr4", "b2sr8", "b2sr64"])
def test_an_output_may_be_an_input(device, form, direction, monkeypatch):
    force(monkeypatch, direction, 1)
    for text in ALIASES.split(";"):
        check(text.strip(), text.strip()[0], square(form))


@pytest.mark.parametrize("form", PLAIN_FORMS)
def test_pending_writes_are_seen(device, form):
    for text in PENDING.strip().split("\n"):
        for name in ("A", "C", "u", "w", "m"):
            check(text, name, square(form))


REFUSED = """
w << A.mxv(short); w << short.vxm(A); w(short.S) << A.mxv(u); w(A.S) << A.mxv(u); w << A.mxv(u, binary.plus);
C << A.mxm(R); C << A.ewise_add(R); C(R.S) << A; w << R.reduce_columnwise(); w << A.mxm(A); A[67, 0] = 1;
C << A[[0, 67], :]; w << A[:, 99]; C[:2, :] = A; w(binary.plus, binary.min) << A.mxv(u); C(replace) << A;
w(m.V) << A.mxv(A); A << u; A[0, 0] = None
"""


@pytest.mark.parametrize("form", FORMS)
def test_a_refused_call_changes_nothing(device, form):
    ours = Operands(bitblas)
    square(form)(ours)
    ours.vector("short", "half", 9, "INT64")
    ours.random("R", 67, 9, "INT64", form)
    ours.scope["A"][1, 2] = 3  # a pending write stays one
    names = ("A", "C", "u", "w", "m", "short", "R")
    before = {name: dense(ours.scope[name].dup()) for name in names}
    for text in REFUSED.split(";"):
        with pytest.raises((ValueError, TypeError, IndexError, bitblas.exceptions.GraphblasException)):
            exec(text.strip(), ours.scope)
        for name in names:
            assert not differ(dense(ours.scope[name]), before[name]), f"{text} changed {name}"
        assert ours.scope["A"].format == form


@pytest.mark.parametrize("direction", ["pull", "push"])
@pytest.mark.parametrize("form", ["csr", "b2sr8"])
@pytest.mark.parametrize("name", ["min_plus", "max_plus"])
def test_a_sum_of_nan_alone_is_nan(device, monkeypatch, name, form, direction):
    """NaN loses against a number, and stays where there is none: whichever way the products come together."""
    force(monkeypatch, direction)
    kind, tile = (form, None) if form == "csr" else ("b2sr", int(form[4:]))
    rows, cols, values = [0, 1, 1, 2], [0, 0, 1, 1], [math.nan, math.nan, 2.0, 3.0]
    A = bitblas.Matrix.from_coo(cols, rows, values, nrows=2, ncols=3, format=kind, tile=tile)
    w = bitblas.Vector.from_coo([0, 1], [1.0, 1.0], size=2).vxm(A, bitblas.semiring[name]).new()
    found = w.to_dict()
    assert math.isnan(found[0]) and found[1] == 3.0 and found[2] == 4.0
