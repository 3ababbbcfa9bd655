"""Distributed objects: MPI ranks on this host agree with one device, and raise errors if their calls differ."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import bitblas as gb
import bitblas.distributed as gd
from bitblas.distributed import group as group_module
from bitblas.distributed import start, transports
from bitblas.distributed.shares import Shares
from bitblas.exceptions import DistributedError, InvalidValue
from bitblas.loop import at_once

HERE = Path(__file__).parent
RANKS = 3
ALL = "calls,nccl,programs,plans,algorithms,refusals,bits,files,loop,loops,alone,shared,choices,faults"


def python(*arguments, **environment):
    """Run Python with the modules of the library and of its tests: the exit code, and the output."""
    paths = os.pathsep.join([str(HERE), str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = dict(os.environ, PYTHONPATH=paths) | environment
    found = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, timeout=600)
    return found.returncode, found.stdout + found.stderr


def ranks(*arguments, count=RANKS, script=HERE / "distributed_ranks.py", **environment):
    """Run a program on `count` ranks."""
    command = ["-m", "bitblas", "run", "-n", str(count), "--device", "cpu", str(script)]
    return python(*command, *arguments, **{"NUMBA_NUM_THREADS": "1", "BITBLAS_TIMEOUT": "60"} | environment)


def done(*arguments, count=RANKS, **how):
    """The output of programs that end well on every rank."""
    code, text = ranks(*arguments, count=count, **how)
    assert code == 0 and text.count(f"of {count} done") == count, text
    return text


def test_two_ranks_agree_with_one_device():
    """In one run, because each takes seconds to start, and with few kernels; the whole is a slow test."""
    done("calls,nccl,quick,loop", count=2)


def test_ranks_share_independent_work():
    """Some algorithms by sources and by rows of a mask, choices of the program, and errors."""
    done("choices,faults,shared", "few", count=2)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 5])
def test_ranks_share_the_work_of_all_algorithms_that_declare_it(count):
    done("shared", "", count=count, BITBLAS_DEBUG="1")


@pytest.mark.parametrize("count", [2, 3])
def test_the_example_ends_at_every_scale(count):
    """Plans, formats and shares differ from scale to scale, and from rank to rank; all in one run of the ranks."""
    scales = [*map(str, range(6, 15))]
    text = done("scales", ",".join(scales), count=count, BITBLAS_DEBUG="1")
    assert text.count("PageRank sums to 1.000000") == len(scales), text


@pytest.mark.parametrize(
    ("count", "seed", "programs"),
    [(2, 1, "12:40"), *(pytest.param(n, n, "200", marks=pytest.mark.slow) for n in (2, 3, 4))],
)
def test_random_programs_on_ranks_that_store_their_parts_differently(count, seed, programs):
    """Every rank makes the same calls, compared before each, and gets the results of one device."""
    text = done("random_programs", str(seed), programs, count=count, BITBLAS_DEBUG="1")
    statements = {int(found) for found in re.findall(r"'statements': (\d+)", text)}
    assert len(statements) == 1 and statements.pop() > 60, text


@pytest.mark.parametrize(("count", "debug"), [(2, "1"), pytest.param(3, "", marks=pytest.mark.slow)])
def test_ranks_decide_alike_whatever_their_shares_hold(count, debug):
    """The type of values, errors, and collectives do not depend on the values or the positions of one rank."""
    done("alike", count=count, BITBLAS_DEBUG=debug)


SLOW_ENDS = [pytest.param(*case, "interrupted", marks=pytest.mark.slow) for case in ((2, "1"), (3, ""))]


@pytest.mark.parametrize(("count", "debug", "last"), [(2, "", "diverged"), *SLOW_ENDS])
def test_what_one_rank_finds_wrong_all_hear_of(count, debug, last, tmp_path):
    """Bad entries, files and indices of one rank, too little memory, an interrupt."""
    how = {"BITBLAS_DEBUG": debug, "BITBLAS_TIMEOUT": "20"}
    done("uneven", str(tmp_path), last, count=count, **how)


@pytest.mark.slow
def test_captured_loops_of_a_rank_that_has_nobody_to_exchange_with():
    """Rematerialization gives the same result and sends less."""
    code, text = python(str(HERE / "ghost.py"), "9", "--device", "emulator")
    assert code == 0, text


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_tables_of_edges_are_read_in_shares(count, tmp_path):
    pytest.importorskip("pyarrow")
    done("tables", str(tmp_path), count=count)


def test_weights_near_the_limits_are_read_in_shares(tmp_path):
    done("numbers", str(tmp_path), count=2)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, RANKS, 4, 5])
def test_ranks_agree_with_one_device(count, tmp_path):
    """Every operation, the algorithms, files, errors; and what some ranks saved others open."""
    done(ALL, str(tmp_path), count=count, **({"BITBLAS_DEBUG": "1"} if count == 4 else {}))
    for other in (1, 3):
        done("opened", str(tmp_path), count=other)


@pytest.mark.slow
def test_a_program_goes_on_with_another_number_of_ranks(tmp_path):
    for count, last in ((3, "no"), (2, "yes")):
        done("restarts", str(tmp_path), last, count=count)


IN_STATEMENT = "in `w << M_0.mxv(v_0, op=semiring.plus_times[INT64])`: rank 1"


def told(text):
    """What ranks 0 and 2 say of rank 1, each once."""
    found = {int(rank): (when, error) for rank, when, error in re.findall(r"rank (\d) after (\w+) .*? s: (.*)", text)}
    assert sorted(found) == [0, 2], text
    return found.values()


# Of rank 1: the environment, whether the others hear of it before the timeout, and the words of their errors.
FAULTS = {
    "killed": ({}, "less", [f"{IN_STATEMENT} was killed"]),
    "ends": ({}, "less", [f"{IN_STATEMENT} has ended"]),
    "late": ({"BITBLAS_TIMEOUT": "0.5"}, "more", ["waited for 0.5 s", f"{IN_STATEMENT} is at collective"]),
    "differs": ({"BITBLAS_DEBUG": "1"}, "", ["rank 0: `w << ", "rank 1: `other << ", "rank 2: `w << "]),
}


@pytest.mark.parametrize("how", ["killed", *(pytest.param(how, marks=pytest.mark.slow) for how in [*FAULTS][1:])])
def test_others_hear_of_a_rank_that_ended_or_differs(how):
    """At once, unless it does not come: then at the timeout."""
    environment, time, words = FAULTS[how]
    code, text = ranks("fails", how, **environment)
    assert code and all(time in when and word in error for when, error in told(text) for word in words), text


def test_a_rank_killed_in_its_part_of_the_work_ends_the_others():
    code, text = ranks("killed_in_its_part")
    assert code and all(time == "less" and "rank 1 was killed" in error for time, error in told(text)), text


@pytest.mark.slow
def test_ranks_whose_sizes_differ_hear_of_it():
    code, text = ranks("fails", "sizes", BITBLAS_DEBUG="1")
    assert code and "ranks differ in what they run" in text
    assert "allgather of uint64, 2, 2, 1" in text and "allgather of uint64, 2, 2, 2" in text, text


def test_a_rank_that_fails_does_not_take_the_launcher_along(tmp_path):
    """The exit code of the launcher is that of the program."""
    program = tmp_path / "program.py"
    program.write_text("import sys; print(sys.argv[1:]); sys.exit(5)")
    code, text = ranks("-x", "y", count=1, script=program)
    assert code == 5 and "['-x', 'y']" in text


# ---- ranks and groups ------------------------------------------------------------------------------------------------


@pytest.fixture
def alone(monkeypatch):
    """A process that no launcher has started."""
    for name in (*sum(start.LAUNCHERS, ()), *start.UNDER_MPI, "BITBLAS_TIMEOUT", "BITBLAS_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(start, "_group", None)
    return monkeypatch


def test_launchers_say_who_is_who(alone):
    assert start.launched() is None
    alone.setenv("SLURM_PROCID", "3"), alone.setenv("SLURM_NTASKS", "8"), alone.setenv("SLURM_LOCALID", "1")
    assert start.launched() == (3, 8, 1)
    alone.setenv("RANK", "0"), alone.setenv("WORLD_SIZE", "2")
    assert start.launched() == (0, 2, 0)
    for rank in ("2", "-1", "x"):
        alone.setenv("RANK", rank)
        with pytest.raises(DistributedError, match="expected a rank below the number of ranks"):
            start.launched()


def test_one_rank_needs_nobody(alone):
    group = start.init("cpu", timeout=3)
    assert (group.rank, group.size, group.timeout, group.debug) == (0, 1, 3, False) and start.init() is group
    alone.setattr(start, "_group", None)
    with pytest.raises(InvalidValue, match="timeout: expected seconds above 0"):
        start.init("cpu", timeout=-1)


def test_loops_of_one_rank_run_as_without_ranks(alone, on_the_cpu):
    """By a table of kernels, which invalidates facts that were shared before."""
    start.init("cpu")
    i, j = [0, 1, 2, 3, 3], [1, 2, 3, 4, 0]
    A = gd.Matrix.from_coo(i, j, True, nrows=6, ncols=6)
    v, q = gd.Vector(int, 6), gd.Vector(bool, 6)

    def body(level):
        v(q.S) << level
        q(~v.S, gd.replace) << q.vxm(A, gd.semiring.any_pair[gd.dtypes.BOOL])

    program = gb.loop.Program(body, while_=q)
    for source, wanted in ((0, [0, 1, 2, 3, 4]), (3, [1, 2, 3, 0, 1])):
        v.clear(), q.clear()
        q[source] = True
        assert (v.nvals, q.nvals) == (0, 1)
        with at_once():
            program.run()
        assert (v.nvals, q.nvals) == (5, 0) and v.to_coo()[1].tolist() == wanted
    assert "from a table" in str(program.explain())


def test_a_rank_that_was_stopped_did_not_wait(alone):
    """Nor did those that were stopped with it: SIGSTOP, a laptop that sleeps."""
    group = start.init("cpu", timeout=2)
    clock = iter([0, 100, 101, *(101 + 0.1 * k for k in range(30))])
    alone.setattr(group_module.time, "monotonic", lambda: next(clock))
    answers = iter([False] * 9)
    group.wait(lambda: next(answers, True))
    with pytest.raises(DistributedError, match="waited for 2 s"):
        group.wait(lambda: False)


def test_what_is_known_of_a_matrix_stays_when_this_rank_stores_it_differently(alone):
    """Whether it is there decides whether ranks call each other, and formats differ from rank to rank."""
    start.init("cpu")
    A = gd.Matrix.from_coo([0, 1, 2], [1, 0, 2], True, nrows=70, ncols=70)
    assert A.is_symmetric() and A._known["symmetric values"]
    made = []
    kept = lambda: A._cached("something", lambda: made.append(1) or len(made))
    assert kept() == 1
    A._part._data = gb.Matrix.from_coo(*A._part.to_coo(), nrows=70, ncols=70, format="b2sr", tile=8)._data
    assert A._known["symmetric values"] and kept() == 1
    A[5, 6] = True
    assert not A._known and kept() == 2 and not A.is_symmetric() and not A.T.is_symmetric()


def test_the_text_of_a_statement_calls_nobody(alone):
    """`A | A.T` may be a collective, which must not run in order to say what waits."""
    group = start.init("cpu", debug=True)
    A = gd.Matrix.from_coo([0, 1], [1, 2], True, nrows=70, ncols=70)
    mirrored = []
    alone.setattr(gd.Matrix, "_mirror", lambda self, values: mirrored.append(group._text()) or self)
    A << (A | A.T)
    assert mirrored and all(text == f"`{A.name} << {A.name} | {A.name}.T`" for text in mirrored)


def test_signatures_of_calls_are_those_of_equal_ones(alone):
    """Sizes may be NumPy's integers on one rank and Python's on another."""
    one, other = start.init("cpu"), group_module.Group(0, 1, gb.device.get("cpu"))
    kind = np.dtype(np.int64)
    assert one._signature("allgather", (kind, 3), "") == other._signature("allgather", (kind, np.int64(3)), "")
    assert one._signature("allgather", (kind, 3), "") != one._signature("allgather", (kind, 4), "")
    assert one._signature("loop", (), "") != one._signature("loop", (), "about")


def test_ranks_that_mpi_does_not_know(alone):
    pytest.importorskip("mpi4py")
    two = {"RANK": "0", "WORLD_SIZE": "2", "OMPI_MCA_ess_singleton_isolated": "1"}
    code, text = python("-c", "import bitblas.distributed as gd; gd.init('cpu')", **two)
    assert code and "expected 2 ranks, MPI has 1" in text


def test_what_is_missing_is_named(alone):
    alone.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(DistributedError, match=r"MPI cannot be loaded .*pip install mpi4py"):
        transports.load_mpi()

    with pytest.raises(DistributedError, match=r"NCCL cannot be loaded by CuPy .*pip install nvidia-nccl-cu13"):
        transports.load_nccl(types.SimpleNamespace(xp=types.SimpleNamespace(__name__="no_cupy")))
    for host, port in ((None, "1"), ("a", None), ("a", "b")):
        for name, value in (("MASTER_ADDR", host), ("MASTER_PORT", port)):
            alone.delenv(name, raising=False) if value is None else alone.setenv(name, value)
        with pytest.raises(DistributedError, match="MASTER_ADDR, MASTER_PORT: expected"):
            transports.meeting_point()
    alone.setenv("MASTER_PORT", "29500")
    assert transports.meeting_point() == "a:29501"


def test_run_refuses_what_cannot_be(alone, tmp_path):
    with pytest.raises(InvalidValue, match="ranks: expected 1 or more"):
        start.run(0, ["x.py"], "cpu")
    alone.setattr(sys, "executable", str(tmp_path / "python"))
    alone.setenv("PATH", str(tmp_path))
    with pytest.raises(DistributedError, match="mpiexec not found"):
        start.mpirun(2, {})


def test_shares_know_their_positions():
    s = Shares((0, 64, 64, 300), 2)
    assert (s.size, s.low, s.high, s.mine, s.counts, s.words) == (300, 64, 300, 236, [64, 0, 236], [1, 0, 4])
    assert [s.owner(at) for at in (0, 63, 64, 299)] == [0, 0, 2, 2]
