"""Systems other than Linux, as far as Linux can test them: a process without what macOS or Windows lack, and their
kinds of object files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bitblas.device import dictionaries, native
from bitblas.device.native import Target

ROOT = Path(__file__).parent.parent

# What POSIX has, and Linux alone: gone before bitblas is imported.
LACKS = {
    "macOS": "del os.O_TMPFILE, os.sched_getaffinity\n",
    "Windows": """
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in "O_TMPFILE O_NOFOLLOW O_NONBLOCK fchmod fchown register_at_fork sched_getaffinity fork getuid".split():
    delattr(os, name)
for name in ("MAP_PRIVATE", "MAP_SHARED", "MAP_ANONYMOUS", "MAP_NORESERVE", "PROT_READ", "PROT_WRITE"):
    if hasattr(mmap, name):
        delattr(mmap, name)
""",
}
PROGRAM = """
import mmap, os, sys
from pathlib import Path

{lacks}
import bitblas as gb
A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], [1, 2, 3, 4], nrows=3, ncols=3)
v = gb.Vector.from_coo([0], [1], size=3)
gb.config.threads = 2
print(v.vxm(A, gb.semiring.plus_times).new().to_coo()[1].tolist())
path = Path(sys.argv[1])
for k in range(2):
    A.save(path / "A.bitblas")
B = gb.load(path / "A.bitblas")
print(B.isequal(A), sorted(p.name for p in path.iterdir()))
gb.io.mmwrite(path / "A.mtx", B)
print(gb.io.mmread(path / "A.mtx").isequal(A))
"""


@pytest.mark.parametrize("system", LACKS)
def test_a_process_that_lacks_what_others_lack(system, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(lacks=LACKS[system]), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[1, 2]", "True ['A.bitblas']", "True"], done.stderr


TRIPLES = {
    "x86_64-pc-windows-msvc": b"\x64\x86",  # COFF
    "x86_64-apple-darwin22": b"\xcf\xfa\xed\xfe",  # Mach-O
    "arm64-apple-darwin23": b"\xcf\xfa\xed\xfe",
    "aarch64-unknown-linux-gnu": b"\x7fELF",
}


@pytest.mark.parametrize("triple", TRIPLES)
def test_what_calls_kernels_is_assembled_for_others(triple):
    """LLVM's texts as object files of that system, which want nothing that the system has not."""
    target = Target(triple, "x86-64-v2" if triple.startswith("x86") else "generic", "")
    data, wanted = native.assembled(native.text(target), target)
    assert data.startswith(TRIPLES[triple])
    posix = {name for name in wanted if name.startswith(("pthread_", "sched_"))}
    assert bool(posix) == ("windows" not in triple)
    assert {"AcquireSRWLockExclusive", "SwitchToThread"} <= set(wanted) or posix
    assert {name for name in wanted if name.startswith("Py")} >= {"PyEval_SaveThread", "PyLong_AsLongLong"}
    data, wanted = native.assembled(dictionaries.TEXT, target)
    assert data.startswith(TRIPLES[triple]) and all(name.startswith("Py") for name in wanted)


@pytest.mark.slow
def test_python_3_10_calls_kernels_by_the_name_that_it_has(tmp_path):
    """There PyObject_Vectorcall is only in the headers; its replacement does the same here."""
    code = """
from bitblas.device import native
assert set(native.IN_HEADERS) == {"PyObject_Vectorcall"}
native._ALIASES |= native.IN_HEADERS
import bitblas as gb
A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3, device="cpu")
with gb.trace() as t:  # a trace goes the way through Python
    w = A.mxv(gb.Vector.from_dense([1.0] * 3, device="cpu"), gb.semiring.min_plus).new()
assert len(t) and w.to_coo()[1].tolist() == [2.0, 3.0, 4.0]
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "BITBLAS_CACHE": str(tmp_path)})
