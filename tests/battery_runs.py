"""Operations on stored formats: the parts of a case, and its run, the same text on bitblas and on python-graphblas."""

from __future__ import annotations

import numpy as np
import pytest
from battery import FORMS, MATRICES, PLAIN_FORMS, SOME_FORMS, generator, places, several, values
from fuzz import user_types

import bitblas
from bitblas.formats import format_of
from bitblas.plan import direction as plan_direction
from bitblas.plan import product as plan

oracle = pytest.importorskip("graphblas")

NAMES = "Matrix Vector Scalar binary unary indexunary monoid semiring select replace".split()
MASKS = ("", ".S", ".V", "~.S", "~.V")
ONE = {"BOOL": True, "FP32": 0.75, "FP64": -1.3, "FC32": 0.75 - 0.5j, "FC64": -1.3 + 0.4j}
ONE["Pair"] = np.array((3, 0.75), user_types.PAIR)[()]

# semiring, types of A, u and w, accumulator. The values of w are no products where the semiring may choose.
ALGEBRAS = several("""
lor_land BOOL BOOL BOOL lor, lor_land INT64 FP32 BOOL second, any_pair BOOL BOOL BOOL lor,
any_second INT8 UINT64 FP64 second, ss.any_secondi BOOL BOOL INT64 second, plus_times INT64 INT64 INT64 plus,
plus_times FP64 FP64 FP64 plus, plus_second BOOL FP64 FP64 plus, plus_pair UINT8 INT64 INT64 plus,
times_second UINT8 UINT8 UINT8 times, min_plus FP32 FP32 FP64 min, min_second BOOL UINT64 UINT64 min,
max_plus INT8 INT8 INT8 max, max_times FP64 FP32 FP64 max, min_first UINT64 BOOL UINT64 plus
""")
# Complex numbers and a record: few forms, as each is a kernel more.
TYPED_ALGEBRAS = several("""
plus_times FC64 FC64 FC64 plus, plus_times FC32 FC32 FC32 times, fuzz.least_first Pair Pair Pair fuzz.lower
""")
TYPED_FORMS = ("csr", "b2sr8")
MORE_ALGEBRAS = several("""
lxor_land BOOL BOOL UINT8 plus, any_first UINT64 INT8 FP64 second, ss.min_firstj FP32 BOOL INT64 min,
plus_times INT8 FP32 FP32 min, min_plus UINT8 INT64 INT64 minus
""")  # with --all
STATEMENT = {"mask": MASKS, "accum": (False, True), "replace": (False, True)}
SHAPES = tuple(k for k in MATRICES if not k[0].isdigit())  # the other ones: test_product_of_every_matrix
SHAPES += ("1x1", "1x130", "130x1", "63x63", "65x65")
PRODUCTS = {"matrix": SHAPES, "T": ("", ".T"), "iso": (False, True), "longest": (None, 1), **STATEMENT}

SUMS = [a for a in ALGEBRAS if a[0] in ("lor_land", "any_pair", "plus_pair", "min_plus", "max_times")]
SUMS += several("plus_times INT64 INT64 INT64 plus, plus_first UINT8 FP64 FP64 plus")
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
    "dtypes": several("""
        BOOL BOOL lor land lnot lor, UINT8 INT64 minus max abs max, INT64 BOOL times second one min,
        FP32 FP64 plus times abs max, FP64 FP64 first min sqrt plus
    """),
    "T": ("", ".T"), **STATEMENT,
}  # fmt: skip

TYPED_DTYPES = several("FC64 FC32 minus plus conj plus, Pair Pair fuzz.lower fuzz.lower identity fuzz.least")
NOT_OF_RECORDS = ("ewise_union", "right=1", "left=1", "colindex", "<< 1")
MORE_DTYPES = [  # with --all
    *ENTRYWISE["dtypes"],
    *several("INT8 INT8 plus plus ainv plus, UINT64 UINT64 min plus ainv plus"),
]


# ---- operands and comparison ----------------------------------------------------------------------------------------


class Operands:
    """The same objects of either library; `at` are the arrays that they are made of."""

    def __init__(self, gb):
        user_types.registered(gb)
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
        value = np.array(0 if x.value is None else x.value, user_types.PAIR if x.dtype == "Pair" else None)
        return str(x.dtype), (), np.array(x.value is not None), value
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
    if x.dtype.kind in "fc":
        rel = 1e-6 if np.finfo(x.dtype).bits == 32 else 1e-12
        wrong &= ~np.isclose(x, y, rel, rel, equal_nan=True)
    for at in np.argwhere(wrong & found[2]):
        if may is None or not (may(at, x[tuple(at)]) and may(at, y[tuple(at)])):
            return f"at {at.tolist()}: found {x[tuple(at)]}, expected {y[tuple(at)]}"
    return ""


def has_functions_of_records(text):
    return "fuzz." in text


def check(text, name, make, may=None, instead=None):
    """Run the text on both (python-graphblas: `instead`) and compare the object `name`. On a GPU functions of records
    raise an error, and `name` does not change."""
    if bitblas.config.device != "cpu" and has_functions_of_records(text):
        ours = Operands(bitblas)
        make(ours)
        before = dense(ours.scope[name])
        with pytest.raises(bitblas.exceptions.UdfParseError, match="expected an operator of numbers on"):
            exec(text, ours.scope)
        assert not differ(dense(ours.scope[name]), before)
        return
    theirs, ours = Operands(oracle), Operands(bitblas)
    for operands, program in ((theirs, instead or text), (ours, text)):
        make(operands)
        exec(program, operands.scope)
    wrong = differ(dense(ours.scope[name]), dense(theirs.scope[name]), may and may(theirs.scope))
    assert not wrong, f"{wrong}\n{text}"


# ---- products -------------------------------------------------------------------------------------------------------


def force(tune, monkeypatch, direction, longest=None):
    """Pull or push wherever both are possible; rows longer than `longest` steps are hubs."""
    cost = 0.0 if direction == "push" else float("inf")
    tune({"push_cost.cpu": cost, "push_cost.gpu": cost})
    # No row is known to end at its first hit.
    monkeypatch.setattr(plan_direction.ProductFacts, "read_share", lambda *_: 1.0)
    tune({"pull.always.entries": -1})  # no matrix is pulled from because it is small
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})  # it is built when something reads it
    if longest is not None:
        tune({"rows.iterations": longest})


def products_of(verb, multiply, transposed):
    """For semirings that choose: which values a sum over row i may have."""

    def members(scope):
        rows, cols, x = (a.tolist() for a in scope["A"].to_coo())
        A, u = {}, scope["u"].to_dict()
        for i, k, value in zip(cols, rows, x) if transposed != (verb == "vxm") else zip(rows, cols, x):
            A.setdefault(i, {})[k] = value
        name = {"first": "second", "second": "first"}.get(multiply, multiply) if verb == "vxm" else multiply

        def may(at, value):
            row = A.get(int(at[0]), {})
            return value in [{"first": row[k], "second": u[k], "secondi": k}[name] for k in row if k in u]

        return may

    return members


def run_product(case, tune, monkeypatch):
    verb, direction = case["call"].split()
    name, a, u, w, _ = case["algebra"]
    p = MATRICES[case["matrix"]]()
    nrows, ncols = (p.ncols, p.nrows) if case["T"] else (p.nrows, p.ncols)
    inputs, outputs = (nrows, ncols) if verb == "vxm" else (ncols, nrows)
    chooses = name.startswith(("any_", "ss.any")) and not name.endswith("pair")
    force(tune, monkeypatch, direction, case["longest"])

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
    if bitblas.config.device != "cpu" and has_functions_of_records(call):
        return
    operands = Operands(bitblas)
    make(operands)
    planned = bitblas.explain(eval(call, operands.scope))
    key = case["form"].partition(" ")[0]
    by_rows = planned.key == "csr" and format_of(key).has_virtual_nodes  # where products differ by entry
    assert by_rows or planned.key == ("csr" if format_of(key).hypersparse else key)  # of the small matrix within
    free = operands.scope["A"].nvals and not by_rows and not name.startswith("plus")
    u = operands.scope["u"]
    if bitblas.config.device == "cpu" and format_of(planned.key).by_rows and u.nvals == u.size:
        direction = "pull"  # along a full vector one thread reads as much, and writes here and there
    if key not in PLAIN_FORMS and (verb == "vxm") == bool(case["T"]):  # against the edges
        A = operands.scope["A"]._stored
        if not A.structure.symmetric or (planned.direction == "pull" and not A.iso):  # values are in another order
            direction = "pull"  # no form of the transpose is made to push along it
    if planned.direction == "sorted":  # functions of a user-defined type
        assert name.startswith("fuzz."), planned
        return
    assert not free or planned.kind == plan.COUNT or planned.direction == direction, planned


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
