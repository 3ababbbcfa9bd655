"""Object files that a package brings: for every processor, found without Numba, damaged, of other sources. Also other
systems, as far as Linux can test them: processes without what macOS or Windows lack, and their object files."""

import os
import platform
import struct
import subprocess
import sys
import warnings

import pytest

from benchmarks import start
from bitblas.device import dictionaries, jit, native, object_files
from bitblas.device.native import NEEDS, SHIPPED, Target
from bitblas.registry import warm

PROGRAM = """
import bitblas as gb
v = gb.Vector.from_coo([0, 1, 4], [2.0, 3.0, 5.0], size=5, device="cpu")
assert v.reduce(gb.monoid.times).value == 30
"""
KERNELS = 3  # that the program needs
# Arguments: a folder, and the programs to run: files, or names that warm.tasks returns (an algorithm and a graph).
BUILD = """
import sys
from pathlib import Path
from bitblas.registry import warm
warm.tasks = lambda files, plain: list(files)
print(*warm.build(Path(sys.argv[1]), sys.argv[2:], 1), sep="\\n")
"""
RUN = """
import os, sys
from pathlib import Path
from bitblas.device import object_files
object_files.FOLDER = Path(sys.argv[1])
exec(os.environ.get("FIRST", ""))
exec(sys.argv[2])
print(object_files.compiled, "numba" in sys.modules)
"""


def level():
    """The name in SHIPPED of the objects that this processor runs; None if there are none for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an older processor
        return native.best(native.host())


here = f"{platform.system()}, {platform.machine()}, processor {native.host().cpu}"
elf = pytest.mark.skipif(level() is None, reason=f"packages bring objects for {', '.join(SHIPPED)}; this is {here}")


def python(code, *arguments, cache, timeout=300, **env):
    """The output of a process without settings for compiling."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "BITBLAS_"))}
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    env = {**plain, "BITBLAS_CACHE": str(cache), **env}
    made = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout, check=False)
    assert (made.returncode, made.stderr) == (0, ""), made.stderr
    return made.stdout.splitlines()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder of object files, and the printed text."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "program.py").write_text(PROGRAM)
    return folder, python(BUILD, folder / "data", folder / "program.py", cache=folder / "cache")


@pytest.fixture
def copy(built, tmp_path):
    """The files again, to be damaged: change(data) of each, in a new folder."""

    def copy(change):
        (tmp_path / "data").mkdir()
        for path in (built[0] / "data").iterdir():
            (tmp_path / "data" / path.name).write_bytes(change(path.read_bytes()))
        return tmp_path / "data"

    return copy


def test_every_processor_has_its_objects(built):
    folder, said = built
    assert {path.name for path in (folder / "data").iterdir()} == {f"{name}.objects" for name in SHIPPED}
    assert said[0].startswith("compiling: ") and said[0].split(",")[1] == " 1 of 1 programs"
    assert [line.split(":")[0] for line in said[1:]] == list(SHIPPED)
    keys, texts = set(), ("native", "table", "dictionaries")
    for name, target in SHIPPED.items():
        found = object_files.Archive((folder / "data" / f"{name}.objects").read_bytes())
        keys.add(frozenset(key for key, place in found._places.items() if place[2] not in texts))
        for key in found._places:
            made = found.object(key)
            magic, machine = struct.unpack_from("<6s12xH", made.data)
            assert magic == b"\x7fELF\x02\x01" and machine == {"x86_64": 62, "aarch64": 183}[target.machine]
    assert len(keys) == 1 and len(keys.pop()) == 2 * KERNELS, "each under two keys"


@elf
def test_a_package_that_brings_objects_compiles_nothing(built, tmp_path):
    arguments = built[0] / "data", PROGRAM
    assert python(RUN, *arguments, cache=tmp_path) == ["0 False"]
    assert list(tmp_path.rglob("*.o")) == []
    assert python(RUN, *arguments, cache=tmp_path, NUMBA_OPT="1") == [f"{KERNELS} True"], "as told, not as shipped"


@elf
@pytest.mark.slow
def test_first_programs_compile_nothing(tmp_path):
    """The algorithms, one after the other on one graph, which use puts into another form; and a search."""
    tasks = [task for task in warm.tasks(()) if not task.endswith(" road")]  # the two small graphs have all kernels
    *_, last = python(BUILD, tmp_path / "data", *tasks, cache=tmp_path / "cache", timeout=1200)
    assert int(last.split()[1]) > 100, f"kernels of {len(tasks)} programs: {last}"
    programs = {program.name: program.arguments for program in start.programs(tmp_path)}
    command = f"from bitblas.cli import main; main({list(programs['bitblas bfs karate.mtx'][2:])})"
    for code in (start.NINE, start.BFS.format(library="bitblas"), command):
        said = python(RUN, tmp_path / "data", code, cache=tmp_path / "cache", BITBLAS_DEVICE="cpu")
        assert said[-1] == "0 False", code


@elf
def test_variants_that_are_one_text_are_one_object(built, tmp_path):
    """Found by the text where something is fixed that the kernel does not read."""
    first = "object_files.key_of_variant = lambda variant, signature: 'another'"
    assert python(RUN, built[0] / "data", PROGRAM, cache=tmp_path, FIRST=first) == ["0 False"]


def flipped(data):
    """One bit of the last object."""
    at = len(data) - 40
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@elf
@pytest.mark.parametrize(("change", "expected"), [(flipped, 1), (lambda data: data[: len(data) // 5], KERNELS)])
def test_what_is_damaged_is_compiled(copy, tmp_path, change, expected):
    folder = copy(change)
    assert python(RUN, folder, PROGRAM, cache=tmp_path / "cache") == [f"{expected} True"]
    assert python(RUN, folder, PROGRAM, cache=tmp_path / "cache") == ["0 False"], "and kept"


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[:400],
        lambda data: data.replace(b"bitblas objects 2", b"bitblas objects 1"),
        lambda data: data.replace(b"kernels/variant.py", b"kernels/other.py"),
    ],
)
def test_a_damaged_index(built, change):
    with pytest.raises(ValueError):
        object_files.Archive(change((built[0] / "data" / "x86-64-v2.objects").read_bytes()))


def test_objects_of_other_sources(built, monkeypatch):
    data = (built[0] / "data" / "aarch64.objects").read_bytes()
    assert object_files.Archive(data)._places
    names = object_files.archive_sources()
    assert {"kernels/variant.py", "semirings/functions.py", "formats/csr/pull.cpu.py"} <= set(names)
    edited = jit.PACKAGE / "formats" / "csr" / "pull.cpu.py"
    real = type(edited).read_bytes
    monkeypatch.setattr(type(edited), "read_bytes", lambda path: real(path) + b"#" * (path == edited))
    with pytest.raises(ValueError, match="built from other sources"):
        object_files.Archive(data)
    with pytest.raises(ValueError, match=r"no_such_file\.py is missing"):
        object_files.digest_of_files([*names, "kernels/no_such_file.py"])


def can(*names):
    return ",".join(f"+{name}" for name in names) + ",-amx-tile"


@pytest.mark.parametrize("name", [name for name in NEEDS if name != "generic"])
def test_the_best_that_a_processor_can_run(name):
    triple = SHIPPED[name].triple
    assert native.best(Target(triple, "any", can(*NEEDS[name]))) == name
    assert native.best(Target(triple, "any", can(*NEEDS[name], "amx-tile", "sha"))) == name
    assert native.best(SHIPPED[name]) == name
    lacks = Target(triple, "any", can(*(n for n in NEEDS[name] if n not in ("avx512bw", "avx2", "popcnt"))))
    if name in ("x86-64-v2", "x86-64-v3"):
        older = r"this processor \(any\) is older than x86-64-v2: it cannot run bitblas's precompiled"
        with pytest.warns(UserWarning, match=older):
            assert native.best(lacks) is None, "without popcnt too"
    if name == "x86-64-v3":
        assert native.best(Target(triple, "any", can(*(n for n in NEEDS[name] if n != "avx2")))) == "x86-64-v2"


def test_other_systems_and_instruction_sets():
    arm = SHIPPED["aarch64"]
    assert native.best(arm) == native.best(arm._replace(cpu="neoverse-n1", features="+sve")) == "aarch64"
    others = "x86_64-apple-darwin23.0 x86_64-pc-windows-msvc arm64-apple-darwin23 riscv64-unknown-linux-gnu"
    for triple in others.split():
        assert native.best(Target(triple, "any", can(*NEEDS["x86-64-v4"]))) is None


# ---- other systems --------------------------------------------------------------------------------------------------

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
SAVES = """
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
    environment = os.environ | {"PYTHONPATH": str(jit.PACKAGE.parent)}
    command = [sys.executable, "-W", "error", "-c", SAVES.format(lacks=LACKS[system]), str(tmp_path)]
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
