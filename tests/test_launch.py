"""`bitblas run`: the end of ranks, and of the launcher, if one of them ends, fails or gets a signal."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bitblas.distributed import start

HERE = Path(__file__).parent
SECONDS = 60  # in which a process that is waited for has to end; it takes a few
PYTHON = [sys.executable, "-S", "-c"]


# ---- the launcher alone, without MPI ---------------------------------------------------------------------------------


def run(*programs):
    """The launcher's exit code of ranks that are these texts of Python."""
    with start.Launcher(len(programs)) as launcher:
        for rank, text in enumerate(programs):
            launcher.start([*launcher.parent(str(rank)), *PYTHON, text], dict(os.environ))
        return launcher.wait()


def test_the_launcher_waits_for_all(tmp_path):
    """Whatever ends first; the code is that of the first that failed, of a signal as shells write it."""
    late = "import time; time.sleep(0.3); open({!r}, 'w').write('done')"
    for number, (code, expected) in enumerate(((0, 0), (5, 5), (-9, 137), (-11, 139))):
        file = tmp_path / str(number)
        first = f"import os; os.kill(os.getpid(), {-code})" if code < 0 else f"import os; os._exit({code})"
        assert run(first, late.format(str(file))) == expected
        assert run(late.format(str(file) + "x"), first) == expected
        assert file.read_text() == "done" == (tmp_path / f"{number}x").read_text()


def test_ranks_that_do_not_end_after_a_failure_are_killed(monkeypatch):
    monkeypatch.setattr(start, "LINGER", 0.2)
    assert run("import time; time.sleep(1000)", "import sys; sys.exit(4)") == 4


def test_a_program_knows_its_rank_and_its_launcher():
    text = "import os, sys; sys.exit(40 + int(os.path.basename(os.environ['BITBLAS_LAUNCHER'])))"
    assert run("", text) == 41


def test_nothing_stays_of_the_launcher():
    with start.Launcher(1) as launcher:
        launcher.start([*launcher.parent("0"), *PYTHON, "import time; time.sleep(1000)"], dict(os.environ))
        while not (launcher.folder / "0.pid").exists():
            time.sleep(0.05)
        handler = signal.getsignal(signal.SIGTERM)
        assert handler == launcher._receive
    assert not launcher.folder.exists() and signal.getsignal(signal.SIGTERM) != handler
    assert launcher.processes[0].returncode is not None


def test_processes_that_never_become_ranks():
    """As an mpirun that starts nothing."""
    for text, expected in (("import sys; sys.exit(3)", 3), ("", 1)):
        with start.Launcher(2) as launcher:
            launcher.start([*PYTHON, text], dict(os.environ))
            assert launcher.wait() == expected


# ---- ranks of MPI ----------------------------------------------------------------------------------------------------


def started(folder, text, *arguments, count=2, **environment):
    """`bitblas run` of a program with this text, a process with its output."""
    program = folder / "program.py"
    program.write_text(text)
    command = [sys.executable, "-m", "bitblas", "run", "-n", str(count), "--device", "cpu", str(program), *arguments]
    paths = os.pathsep.join([str(HERE), str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = dict(os.environ, PYTHONPATH=paths, NUMBA_NUM_THREADS="1", BITBLAS_TIMEOUT="60") | environment
    usual = lambda: [signal.signal(number, signal.SIG_DFL) for number in start.FORWARDED]
    return subprocess.Popen(
        command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=usual
    )


def ended(process):
    """Its exit code, and all that it and the ranks printed."""
    try:
        text, _ = process.communicate(timeout=SECONDS)
    finally:
        process.kill()  # nothing, of one that has ended
    return process.returncode, text


LONG = """
import os, signal, sys, time
import bitblas.distributed as gd

group = gd.init()
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(f"rank {group.rank} is process {os.getpid()}.", flush=True)
if "idle" in sys.argv and group.rank:
    time.sleep(1000)
group.barrier() if "idle" in sys.argv else time.sleep(1000)
"""


def processes(process, count=2):
    """The numbers of the ranks' processes, when all are up."""
    found = []
    while len(found) < count:
        line = process.stdout.readline()
        assert line, "the ranks have ended"
        found += map(int, re.findall(r"is process (\d+)\.", line))
    return found


def lives(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def all_end(numbers):
    """Whether these processes are gone in a few seconds."""
    end = time.monotonic() + SECONDS / 2
    while time.monotonic() < end and any(map(lives, numbers)):
        time.sleep(0.02)
    return not any(map(lives, numbers))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("number", "how", "code"),
    [
        (signal.SIGTERM, "idle", 143), (signal.SIGTERM, "deaf", 143), (signal.SIGINT, "asleep", 130),
        pytest.param(signal.SIGHUP, "asleep", 129, marks=pytest.mark.slow),
        (signal.SIGKILL, "asleep", -9), pytest.param(signal.SIGKILL, "deaf", -9, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_signal_to_the_launcher_ends_all(tmp_path, number, how, code):
    """Also where a rank waits in a collective, or takes no notice; also where it is the launcher that is killed."""
    process = started(tmp_path, LONG, how)
    ranks = processes(process)
    process.send_signal(number)
    assert process.wait(SECONDS) == code
    assert all_end(ranks)
    process.stdout.close()


PAGERANK = """
import os, sys
import numpy as np
import bitblas.distributed as gd

group = gd.init()
random = np.random.default_rng(1)
A = gd.Matrix.from_coo(*random.integers(0, 1 << 10, (2, 9000)), True, nrows=1 << 10, ncols=1 << 10)
gd.algorithms.pagerank(A, max_iter=2)
group.barrier()
if group.rank == 1:
    os._exit(7)
for _ in range(10**6):
    gd.algorithms.pagerank(A, tol=1e-300, max_iter=10**6)
"""


def test_a_rank_that_leaves_without_a_word_is_named_by_the_others(tmp_path):
    """os._exit(7) before a long PageRank."""
    code, text = ended(started(tmp_path, PAGERANK, count=3))
    assert code == 7, text
    for rank in (0, 2):
        found = re.findall(rf"DistributedError: rank {rank} waited in (.*)", text)
        assert len(found) == 1 and "rank 1 was killed" in found[0], text


@pytest.mark.parametrize("code", [9, pytest.param(0, marks=pytest.mark.slow)])
def test_a_rank_that_ends_before_it_joins(tmp_path, code):
    """MPI would wait for it for ever."""
    program = (
        "import os, sys\n"
        f"if os.environ['BITBLAS_LAUNCHER'][-1] == '1':\n    sys.exit({code})\n"
        "import bitblas.distributed as gd\ngd.init()\n"
    )
    found, text = ended(started(tmp_path, program))
    assert found == (code or 1) and f"rank 1 ended with code {code} before it called init()" in text, text


def test_the_error_that_ended_a_rank_is_named_by_the_others(tmp_path):
    program = (
        "import os\nimport bitblas.distributed as gd\n"
        "group = gd.init(debug=os.environ['BITBLAS_LAUNCHER'][-1] == '1')\n"
        "assert group.debug  # as one of them wants it\n"
        "if group.rank:\n    raise KeyError('a name')\ngroup.barrier()\n"
    )
    code, text = ended(started(tmp_path, program))
    assert code == 1 and "rank 1 has ended (KeyError: 'a name')" in text, text


def test_ranks_in_different_collectives_hear_of_it_without_debug(tmp_path):
    """Within a host, and both sides are named."""
    program = (
        "import numpy as np\nimport bitblas.distributed as gd\ngroup = gd.init()\nx = np.zeros(3)\n"
        "group.allgather(x) if group.rank else group.gather_host(np.array([1]))\n"
    )
    code, text = ended(started(tmp_path, program, BITBLAS_DEBUG=""))
    said = "ranks differ in what they run: rank 0: a collective outside of statements: allgather of int64, 1; rank 1: "
    assert code == 1 and f"{said}a collective outside of statements: allgather of float64, 3, 3" in text, text
