"""Every operation on every stored format, against python-graphblas: the same text runs on both.

`make test` runs covering arrays: every pair of (form, semiring, direction, matrix, mask, accumulator, replace,
transpose, type, device, ...) meets in some case. --all runs thousands of random cases of the full product, all of them
on each device.
"""

from __future__ import annotations

import functools
import math
from itertools import combinations

import battery_runs as runs
import pytest
from battery import FORMS, MATRICES, PLAIN_FORMS, VECTORS, covering, in_turn, label, pairs, sample
from battery_runs import ALGEBRAS, ENTRYWISE, TYPED_ALGEBRAS, TYPED_DTYPES, TYPED_FORMS, dense, differ, run_product

import bitblas

# Packed rows run the kernels of plain ones, and meet two algebras of all: bits, counts and values come of them.
PACKED = tuple(a for a in ALGEBRAS if a[:2] in (("lor_land", "BOOL"), ("plus_times", "INT64")))
# Forms whose kernels are those of others, with another tile size or another way to read a row or a place, meet one
# algebra of a kind: bits, counts, values, places.
ALIKE = ("b2sr16", "b2sr32", "b2sr64", "split4", "split16", "hyper", "nib", "cgr", "cr2", "virtual", "bitmap")
KINDS = ("lor_land", "ss.any_secondi", "plus_second", "plus_pair", "min_plus", "max_plus")
KINDS_OF = PACKED + tuple(a for a in ALGEBRAS if a[0] in KINDS and a not in PACKED)
DEVICES = ("cpu", "emulator")
KERNELS = {"algebra": ALGEBRAS, "call": ("mxv pull", "mxv push", "vxm pull", "vxm push"), "u": VECTORS}
MXM_KERNELS = [
    {"form": f, "algebra": a} for f in FORMS for a in runs.SUMS
    if f not in (*ALIKE, "mplg") or a in PACKED or (f != "mplg" and a[0] == "min_plus")
]  # fmt: skip
ENTRY_KERNELS = [{"text": t, "dtypes": d} for t in ENTRYWISE["text"] for d in ENTRYWISE["dtypes"]]
TYPED_ENTRIES = [
    {"text": t, "dtypes": d} for t in ENTRYWISE["text"] for d in TYPED_DTYPES
    if "'>'" not in t and not (d[0] == "Pair" and any(x in t for x in runs.NOT_OF_RECORDS))
]  # fmt: skip


@functools.cache
def product_cases():
    plain = covering({"form": tuple(f for f in FORMS if f != "mplg" and f not in ALIKE)} | KERNELS)
    plain += covering({"form": ALIKE} | KERNELS | {"algebra": KINDS_OF})
    plain += covering({"form": ("mplg",)} | KERNELS | {"algebra": PACKED, "u": ("full", "half", "sparse")})
    found = covering(runs.PRODUCTS, in_turn(plain, DEVICES), compiled=compiled_for_product)
    typed = covering({"form": TYPED_FORMS} | KERNELS | {"algebra": TYPED_ALGEBRAS}, met=plain)
    return found + covering(runs.PRODUCTS, in_turn(typed, DEVICES), compiled=compiled_for_product, met=found)


def compiled_for_product(case):
    return *(case[k] for k in ("device", "form", "algebra", "iso", "accum")), case["call"][4:], case["u"][:4]


@functools.cache
def mxm_cases():
    found = covering(runs.MXM, in_turn(MXM_KERNELS, DEVICES))
    typed = [{"form": f, "algebra": a} for f in TYPED_FORMS for a in TYPED_ALGEBRAS]
    return found + covering(runs.MXM, in_turn(typed, DEVICES), met=found)


@functools.cache
def entry_cases():
    factors = {k: v for k, v in ENTRYWISE.items() if k not in ENTRY_KERNELS[0]}
    found = covering(factors, in_turn(ENTRY_KERNELS, DEVICES))
    return found + covering(factors, in_turn(TYPED_ENTRIES, DEVICES), met=found)


def pytest_generate_tests(metafunc):
    searches = metafunc.config.getoption("--all")

    def cases(found, factors, count, base=({},)):
        return found + list(sample(factors | {"device": DEVICES}, count, base) if searches else ())

    if "product_case" in metafunc.fixturenames:
        algebras = ALGEBRAS + runs.MORE_ALGEBRAS + TYPED_ALGEBRAS
        every = list(sample({"form": PLAIN_FORMS} | KERNELS | {"algebra": algebras}, 800))
        metafunc.parametrize("product_case", cases(product_cases(), runs.PRODUCTS, 4000, every), ids=label)
    if "mxm_case" in metafunc.fixturenames:
        metafunc.parametrize("mxm_case", cases(mxm_cases(), runs.MXM, 1500, MXM_KERNELS), ids=label)
    if "entry_case" in metafunc.fixturenames:
        every = [{"text": t, "dtypes": d} for t in ENTRYWISE["text"] for d in runs.MORE_DTYPES] + TYPED_ENTRIES
        found = cases(entry_cases(), {k: v for k, v in ENTRYWISE.items() if k not in every[0]}, 2500, every)
        if not searches:  # packed rows meet their like, of one type (test_mplg.py: others)
            packed = {"form": "mplg", "right": "mplg", "dtypes": ("INT64", "INT64", "minus", "plus", "ainv", "plus")}
            found = [case | packed if "mplg" in (case["form"], case["right"]) else case for case in found]
        metafunc.parametrize("entry_case", found, ids=label)


APART = (("form", "algebra"), ("form", "u"), ("text", "dtypes"))


@pytest.mark.parametrize("cases, most", [(product_cases, 460), (mxm_cases, 360), (entry_cases, 420)])
def test_few_cases_meet_every_pair(cases, most):
    """Of all levels that occur, except the pairs in APART."""
    found = cases()
    met, levels = pairs(found), {name: dict.fromkeys(case[name] for case in found) for name in found[0]}
    every = {(a, x, b, y) for a, b in combinations(levels, 2) for x in levels[a] for y in levels[b]}
    apart = {frozenset((a, b)) for a, _, b, _ in every - met}
    print(f"{len(found)} cases, {len(met)} of {len(every)} pairs")
    assert len(found) <= most and apart <= {frozenset(x) for x in APART}
    some = {(x, y) for a, x, b, y in met if (a, b) == ("form", "algebra")}
    assert all((f, a) in some for f in levels.get("form", ()) for a in PACKED if "algebra" in levels)


@pytest.mark.in_turn
def test_product(device, product_case, tune, monkeypatch):
    run_product(product_case, tune, monkeypatch)


TILES_BETWEEN = ("b2sr16", "b2sr32")  # tiles of 8 and 64 differ in the width of their words


def slow(*forms):
    return [pytest.param(form, marks=pytest.mark.slow) for form in forms]


EVERY = {
    "words": ("mxv pull", ALGEBRAS[0], "half iso", True),
    "count": ("vxm pull", ("plus_pair", "UINT8", "INT64", "INT64", "plus"), "half", False),
    "values": ("vxm push", ("plus_times", "INT64", "INT64", "INT64", "plus"), "half", False),
}


def run_matrices(matrices, form, call, algebra, u, iso, tune, monkeypatch, **end):
    for k, matrix in enumerate(matrices):
        case = {"form": form, "call": call, "algebra": algebra, "matrix": matrix, "u": u, "iso": iso, "T": ""}
        rest = {"mask": runs.MASKS[k % 5], "accum": k % 2 == 1, "replace": k % 3 == 0, "longest": (None, 2)[k % 2]}
        run_product(case | rest | end, tune, monkeypatch)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", [f for f in PLAIN_FORMS if f not in TILES_BETWEEN] + slow(*TILES_BETWEEN))
@pytest.mark.parametrize("kind", EVERY)
def test_product_of_every_matrix(device, form, kind, tune, monkeypatch):
    run_matrices(MATRICES, form, *EVERY[kind], tune, monkeypatch)


# A Split: one of each kind of kernel, on matrices that do not need the same one for a full vector.
REPLACE = {"accum": False, "replace": True}
SPLITS = (
    ("split8", "mxv pull", 0, "half iso", True, {}),
    ("split4", "mxv pull", 0, "half iso", True, REPLACE),
    ("split16", "vxm pull", 0, "half iso", True, REPLACE),
    ("split8", "vxm pull", 8, "half", False, {"accum": True, "replace": False}),
    ("split8", "vxm push", 5, "half", False, {}),
    ("split8", "mxv pull", 1, "full", False, REPLACE),
    ("split8", "vxm pull", 4, "half", True, REPLACE),
    ("split8", "mxv pull", 7, "full", True, REPLACE),
    ("split16", "mxv pull", 10, "half", False, REPLACE),
)
SPLIT_SHAPES = "gaps,hub,long hub,dense column,wide,all ones,no entries,63x63,65x65,130x130".split(",")


@pytest.mark.in_turn
@pytest.mark.parametrize("form, call, algebra, u, iso, end", SPLITS)
def test_products_of_splits(device, form, call, algebra, u, iso, end, tune, monkeypatch):
    run_matrices(SPLIT_SHAPES, form, call, ALGEBRAS[algebra], u, iso, tune, monkeypatch, **end)


@pytest.mark.in_turn
def test_mxm(device, mxm_case):
    runs.run_mxm(mxm_case)


@pytest.mark.in_turn
def test_entrywise(device, entry_case):
    runs.run_entrywise(entry_case)


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


@pytest.mark.in_turn
@pytest.mark.parametrize("direction", ["pull", "push"])
@pytest.mark.parametrize("form", ["csr", "b2sr8", *slow("mplg", "b2sr4", "b2sr64")])
def test_an_output_may_be_an_input(device, form, direction, tune, monkeypatch):
    runs.force(tune, monkeypatch, direction, 1)
    for text in ALIASES.split(";"):
        runs.check(text.strip(), text.strip()[0], square(form))


@pytest.mark.in_turn
@pytest.mark.parametrize("form", ["csr", "mplg", "b2sr8", "hyper", *slow("b2sr4", "b2sr16", "b2sr32", "b2sr64")])
def test_pending_writes_are_seen(device, form):
    for text in PENDING.strip().split("\n"):
        for name in ("A", "C", "u", "w", "m"):
            runs.check(text, name, square(form))


REFUSED = """
w << A.mxv(short); w << short.vxm(A); w(short.S) << A.mxv(u); w(A.S) << A.mxv(u); w << A.mxv(u, binary.plus);
C << A.mxm(R); C << A.ewise_add(R); C(R.S) << A; w << R.reduce_columnwise(); w << A.mxm(A); A[67, 0] = 1;
C << A[[0, 67], :]; w << A[:, 99]; C[:2, :] = A; w(binary.plus, binary.min) << A.mxv(u); C(replace) << A;
w(m.V) << A.mxv(A); A << u; A[0, 0] = None
"""


@pytest.mark.in_turn
@pytest.mark.parametrize("form", FORMS)
def test_a_refused_call_changes_nothing(device, form):
    ours = runs.Operands(bitblas)
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
def test_a_sum_of_nan_alone_is_nan(device, tune, monkeypatch, name, form, direction):
    """NaN loses against a number, and stays where there is none: whichever way the products come together."""
    runs.force(tune, monkeypatch, direction)
    rows, cols, values = [0, 1, 1, 2], [0, 0, 1, 1], [math.nan, math.nan, 2.0, 3.0]
    A = bitblas.Matrix.from_coo(cols, rows, values, nrows=2, ncols=3, **FORMS[form])
    w = bitblas.Vector.from_coo([0, 1], [1.0, 1.0], size=2).vxm(A, bitblas.semiring[name]).new()
    found = w.to_dict()
    assert math.isnan(found[0]) and found[1] == 3.0 and found[2] == 4.0
