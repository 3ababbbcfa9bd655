"""gb.trace(): the kernels that ran, why, and how long; nothing while it is off."""

from __future__ import annotations

import pytest

import bitblas as gb
from bitblas.cli import main
from bitblas.device import tracing


def graph(n=300):
    rows = list(range(n)) + list(range(n - 1))
    cols = [(7 * i + 1) % n for i in range(n)] + [i + 1 for i in range(n - 1)]
    return gb.Matrix.from_coo(rows, cols, [float(i % 5 + 1) for i in range(len(rows))], nrows=n, ncols=n,
                              dup_op=gb.binary.min)  # fmt: skip


def test_kernels_are_listed_with_their_plan(device):
    A, v = graph(), gb.Vector.from_dense([1.0] * 300)
    w = gb.Vector(gb.dtypes.FP64, 300)
    with gb.trace() as t:
        w << A.mxv(v, gb.semiring.min_plus)
        w(gb.binary.plus) << w.apply(gb.unary.ainv)
    assert [run.device for run in t] == [device] * len(t)
    first = t[0]
    assert first.kernel == "formats/csr/pull" and first.units == 300
    assert first.plan == str(gb.explain(A.mxv(v, gb.semiring.min_plus)))
    assert first.nbytes >= 300 * 8 + A.memory().total
    assert all(run.us > 0 for run in t) and sum(run.us for run in t) <= t.us
    assert any("apply" in run.plan for run in t)
    text = str(t)
    assert "formats/csr/pull min_plus[FP64]" in text.replace("semiring.", "") and first.plan in text
    assert f"{len(t)} kernels on {device}, of" in text.splitlines()[-1]


def test_off_means_off(device):
    """And a kernel called by hand is timed by events of its device."""
    d = gb.device.get(device)
    begin = d.mark()
    assert d.elapsed(begin, d.mark()) >= 0
    A, v = graph(), gb.Vector.from_dense([1.0] * 300)
    with gb.trace() as t:
        pass
    A.mxv(v).new()
    assert len(t) == 0 and list(t) == [] and tracing.active is None
    assert "0 kernels on no device" in str(t)


def test_an_error_inside_leaves_no_trace_on(device):
    A = graph()
    with pytest.raises(gb.exceptions.DimensionMismatch), gb.trace():
        A.mxv(gb.Vector(gb.dtypes.FP64, 5)).new()
    assert tracing.active is None
    with gb.trace():
        with pytest.raises(ValueError, match="trace: expected no enclosing trace"):
            with gb.trace():
                pass
    assert tracing.active is None


def test_on_the_command_line(device, tmp_path, capsys):
    (tmp_path / "g.tsv").write_text("0\t1\n1\t2\n2\t0\n")
    if device == "emulator":
        pytest.skip("the command line knows devices that users have")
    assert main(["bfs", str(tmp_path / "g.tsv"), "--device", device, "--trace"]) == 0
    out, err = capsys.readouterr()
    assert "reached 3" in out and "kernels on" in err and "  kernel" in err
    assert main(["bfs", str(tmp_path / "g.tsv"), "--device", device]) == 0
    assert capsys.readouterr().err == ""


def test_a_loop_that_the_gpu_runs_by_itself_is_one_line(device):
    from bitblas.algorithms import bfs_levels

    A, B = graph(), graph()
    expected = bfs_levels(A, 0)
    with gb.trace():
        assert bfs_levels(B, 0).isequal(expected)  # the first call also records the loop
    with gb.trace() as t:
        assert bfs_levels(A, 0).isequal(expected)
    assert t.runs
    if device != "cpu":
        loops = [run for run in t if run.kernel == "loop"]
        assert len(loops) == 1 and loops[0].units > 0 and "without the host" in str(t)
