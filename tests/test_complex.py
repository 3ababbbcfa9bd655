"""Complex numbers against python-graphblas, beyond the battery, which includes them; their algebra is in
test_semirings.py and test_agreement.py."""

from operator import attrgetter
from pathlib import Path

import graphblas
import numpy as np
import pytest
from battery_runs import check, run_entrywise, run_product

import bitblas
from semirings import dtypes

PLUS_TIMES = ("plus_times", "FC32", "FC32", "FC32", "plus")
PLUS_PAIR = ("plus_pair", "FC64", "BOOL", "FC64", "plus")
ANY_FIRST = ("any_first", "FC64", "FC64", "FC64", "second")
PRODUCTS = (
    ("csr", ANY_FIRST, "vxm push", "tall"),
    ("csr", PLUS_PAIR, "mxv pull", "hub"),
    ("split8", PLUS_TIMES, "vxm pull", "hub"),
)
PLAIN = {"iso": False, "T": "", "mask": "", "accum": False, "replace": False}


@pytest.mark.parametrize("form, algebra, call, matrix", PRODUCTS)
def test_products(device, form, algebra, call, matrix, tune, monkeypatch):
    case = {"form": form, "algebra": algebra, "call": call, "u": "half", "matrix": matrix, "longest": 1}
    run_product(case | PLAIN, tune, monkeypatch)


# (types and operators as in battery_runs.ENTRYWISE), then texts.
ENTRYWISE = {
    ("FC64", "FC32", "minus", "plus", "abs", "plus"): (
        "C{how} << A{T}.select('==', A.dup()[0, 0].new())", "C{how}[I, :] << 2 - 3j",
    ),
    ("FC32", "FC32", "truediv", "times", "creal", "times"): (
        "C{how} << A{T}.ewise_mult(B{T}, binary.{op})", "w{how} << A{T}.reduce_rowwise(monoid.{m})",
    ),
}  # fmt: skip


@pytest.mark.parametrize("types, text", [(types, text) for types, texts in ENTRYWISE.items() for text in texts])
def test_entrywise(device, types, text):
    case = {"text": text, "dtypes": types, "form": "csr", "right": "csr", "at": "csr", "matrix": "63x63"}
    run_entrywise(case | PLAIN)


VECTORS = """
w(m.S, binary.plus) << u; w[3] = 1 + 2j; w << u.select("!=", v[v.to_coo()[0][0]].new())
u[:10] = 3j; w << u.apply(binary.pow, right=2); w << m.ewise_mult(m, binary.cmplx)
w << u.dup("INT8"); w << w.dup("BOOL"); w << w.dup("FC32"); w << u.inner(v).new()
"""


@pytest.mark.parametrize("line", VECTORS.strip().split("\n"))
def test_vectors(device, line):
    def make(operands):
        for name, kind, dtype in zip("uvwm", ("half", "full", "sparse", "half"), ("FC64",) * 3 + ("BOOL",)):
            operands.vector(name, kind, 70, dtype)

    check(line, "w", make)


def test_files_and_libraries(device, tmp_path):
    """Every way out and in again; Matrix Market files are symmetric or hermitian to the bit."""
    path = str(tmp_path / "matrix")
    for kind, dtype in (("hermitian", "FC64"), ("symmetric", "FC32")):
        below = 1 - 2.5j if kind == "hermitian" else 1 + 2.5j
        values = np.array([1 + 2.5j, below, 4, 1e-30], dtypes.lookup_dtype(dtype).np_type)
        A = bitblas.Matrix.from_coo([0, 1, 2, 1], [1, 0, 2, 1], values, nrows=3, ncols=3)
        assert str(A.dtype) == dtype
        bitblas.io.mmwrite(path + ".mtx", A)
        assert Path(path + ".mtx").read_text().split("\n")[0].split()[-2:] == ["complex", kind]
        A.save(path + ".bitblas")
        bitblas.io.write_npz(path + ".npz", A)
        for again in (
            bitblas.io.mmread(path + ".mtx", dtype=dtype), bitblas.Matrix.load(path + ".bitblas"),
            bitblas.io.read_npz(path + ".npz"), bitblas.io.from_scipy_sparse(bitblas.io.to_scipy_sparse(A)),
            bitblas.io.from_graphblas(bitblas.io.to_graphblas(A)), bitblas.Matrix.ss.deserialize(A.ss.serialize()),
        ):  # fmt: skip
            assert again.isequal(A, check_dtype=True)
        with pytest.raises(bitblas.exceptions.InvalidValue, match="complex numbers, which an edge list"):
            bitblas.io.write_edgelist(path + ".txt", A)
    assert bitblas.Matrix.from_dense(np.eye(2) * 1j).to_dense(fill_value=0).tolist() == [[1j, 0], [0, 1j]]
    assert "1j" in repr(bitblas.Scalar.from_value(1j)) and complex(bitblas.Scalar.from_value(1j)) == 1j


AGGREGATORS = """sum prod mean varp stdp count L1norm L2norm Linfnorm sum_of_squares hypot ss.first ss.last exists
any_value geometric_mean harmonic_mean root_mean_square logaddexp min any peak_to_peak count_zero"""


@pytest.mark.parametrize("name", AGGREGATORS.split())
def test_aggregators(name):
    """Each by its type; the values of a few."""

    def run(gb):
        v = gb.Vector.from_coo([0, 1, 3], [1 + 2j, 3, 0.5j], dtype="FC64", size=4)
        try:
            found = v.reduce(attrgetter(name)(gb.agg))
        except KeyError:
            return KeyError, None
        return str(found.dtype), found.new().value if name in ("mean", "varp", "L2norm", "first") else None

    (found, x), (wanted, y) = run(bitblas), run(graphblas)
    assert found == wanted and (x is y is None or x == pytest.approx(y)), (found, x, y)


def test_a_loop(device):
    """x <- A x / |A x|: statements that a GPU fuses and captures."""

    def run(gb, repeat):
        A = gb.Matrix.from_coo([0, 1, 2, 3, 3], [1, 2, 3, 0, 1], [1 + 1j, 2j, 3, 0.5, -1j], nrows=4, ncols=4)
        x, y = (gb.Vector.from_coo(range(4), [1, 1j, -1, 2], dtype="FC64", size=4) for _ in range(2))
        total, rounds = gb.Scalar("FC64"), gb.Scalar("INT64")
        rounds << 6

        def body(k):
            y << A.mxv(x, gb.semiring.plus_times)
            total(gb.binary.plus) << y.reduce(gb.monoid.plus)
            x(y.S, gb.binary.minus) << y.apply(gb.binary.times, right=0.25j)
            rounds << rounds.apply(gb.binary.minus, right=1)

        repeat(body, rounds)
        return x.to_dict(), total.value

    expected, total = run(graphblas, lambda body, rounds: [body(k) for k in range(6)])
    found, sum_ = run(bitblas, lambda body, rounds: bitblas.loop.repeat(body, while_=rounds))
    assert found == pytest.approx(expected) and sum_ == pytest.approx(total)


def test_functions_of_programs(device):
    """On the CPU; on a GPU the statement raises an error that names the type."""
    one = 1j
    op = bitblas.binary.register_anonymous(lambda x, y: x * y + one)
    assert {t: op.types[t] for t in dtypes.COMPLEX} == {t: t for t in dtypes.COMPLEX}
    u = bitblas.Vector.from_coo([0, 2], [1 + 2j, 3], size=3)
    if device != "cpu":
        with pytest.raises(bitblas.exceptions.UdfParseError, match="argument of type FC64 is not supported on a GPU"):
            u.ewise_mult(u, op).new()
    else:
        assert u.ewise_mult(u, op).new().to_dict() == {0: (1 + 2j) ** 2 + 1j, 2: 9 + 1j}


def test_a_sum_of_few_entries(device):
    """The imaginary part too, whose memory has the flag of a real sum."""
    v = bitblas.Vector.from_coo([0, 2], [1 + 100j, 2 + 10j], size=4)
    assert v.reduce().new() == 3 + 110j and bitblas.Vector("FC64", 4).reduce().new().is_empty
