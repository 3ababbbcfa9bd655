"""gb.Recorder: the texts of statements, and that statements run as without one."""

import threading

import pytest

import bitblas as gb
from bitblas import Matrix, Recorder, Scalar, Vector, agg, binary, replace, semiring


def objects():
    A = Matrix.from_coo([0, 1], [1, 1], [1, 2], name="A")
    B = Matrix.from_coo([0, 1], [0, 1], [3, 4], name="B")
    return A, B, Vector.from_coo([0, 1], [1, 2], name="v")


def test_statements(device):
    A, B, v = objects()
    with Recorder() as rec:
        assert rec.is_recording
        C = A.mxm(B).new(name="C")
        D = A.mxm(B.T, semiring.min_plus).new(name="D", mask=A.S)
        C(D.S) << A.T.ewise_mult(B)
        C(~A.V, binary.plus, replace) << B
        C[0, :](v.S) << v
        C(A.S)[[0, 1], 1:2] << 2
        v[1] = 5
        v(binary.plus) << A @ v
        s = v.reduce(agg.mean).new(name="s")
        s(binary.plus) << 3
        s << v @ v
    assert rec.data == [
        "C << A.mxm(B, op=semiring.plus_times[INT64])",
        "D(A.S) << A.mxm(B.T, op=semiring.min_plus[INT64])",
        "C(D.S) << A.T.ewise_mult(B, op=binary.times[INT64])",
        "C(~A.V, binary.plus[INT64], replace) << B",
        "C[0, :](v.S) << v",
        "C(A.S)[[0, 1], 1:2:1] << 2",
        "v[1] << 5",
        "v(binary.plus[INT64]) << A.mxv(v, op=semiring.plus_times[INT64])",
        "s << v.reduce(op=agg.mean[INT64])",
        "s(binary.plus[FP64]) << 3",
        "s << v.inner(v, op=semiring.plus_times[INT64])",
    ]
    assert v.to_dict() == {0: 6, 1: 15} and s == 261 and not rec.is_recording
    A.mxm(B).new()
    assert len(rec) == 11 and list(rec) == rec.data


def test_errors_are_said_and_raised():
    A, _, v = objects()
    with Recorder() as rec:
        with pytest.raises(gb.exceptions.DimensionMismatch):
            A << Matrix(int, 3, 3, name="E")
        v << 1
    assert rec.data == ["A << E  # ERROR: DimensionMismatch", "v << 1"]


def test_the_last_that_was_started_hears():
    *_, v = objects()
    first, second, off = Recorder(), Recorder(start=False), Recorder(start=False)
    v << 1
    with second:
        v << 2
        second.start()  # nothing changes
    v << 3
    other = threading.Thread(target=lambda: v.dup() << 4)
    other.start(), other.join()
    first.stop()
    first.stop()
    v << 5
    assert first.data == ["v << 1", "v << 3"] and second.data == ["v << 2"] and off.data == []
    first.clear()
    assert first.data == []


def test_one_that_is_stopped_inside_another(device):
    first = Recorder()
    second = Recorder()
    first.stop()  # while the second records
    s = Scalar(int, name="s")
    s << 1
    second.stop()
    s << 2
    assert second.data == ["s << 1"] and first.data == []


def test_how_it_prints():
    s = Scalar(int, name="s")
    with Recorder(max_rows=4) as rec:
        for k in range(7):
            s << k
        assert repr(rec).startswith("gb.Recorder (recording)\n---")
    assert repr(rec).splitlines() == [
        "gb.Recorder (not recording)", "-" * 27, "  s << 0", "  s << 1", "",
        "  # 3 rows not shown; max_rows sets how many are shown", "", "  s << 5", "  s << 6",
    ]  # fmt: skip
    assert "s &lt;&lt; 6" in rec._repr_html_() and rec._repr_markdown_().startswith("```python\ns << 0\n")
    rec.max_rows = None
    assert len(repr(rec).splitlines()) == 9


def test_lines_of_ones_own():
    recorder = gb.Recorder(start=False)
    recorder.record_raw("# here it begins")
    with recorder:
        gb.Vector(int, 3) << 1
    assert recorder.data[0] == "# here it begins" and len(recorder) == 2
