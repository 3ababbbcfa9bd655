"""Compile CUDA C++ for the CPU: a library for each text, and a shared runtime.

EMU_MODE=tsan detects missing synchronization; it needs `python tests/emulator/compiling.py tsan COMMAND...`, which
starts COMMAND with ThreadSanitizer's library loaded. EMU_CXX names another compiler.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
CXX = os.environ.get("EMU_CXX", "g++")
NO_COMPILER = f"the emulator compiles kernels with {CXX}, which is not installed"

FLAGS = (
    "-std=c++17 -fPIC -shared -fvisibility=hidden -fno-gnu-unique -fno-zero-initialized-in-bss -fno-strict-aliasing "
    "-ftrivial-auto-var-init=pattern -ffp-contract=off -fno-math-errno -fno-exceptions -fno-rtti -w"
).split()
# Undefined behaviour of CUDA C++ becomes a trap; guard pages around arrays and stacks detect the rest. Null pointers
# are faults by themselves: checks for them would take a tenth of the compile time.
CHECKS = "shift,alignment,bounds,bool,signed-integer-overflow,integer-divide-by-zero,float-cast-overflow"
MODES = {
    "": ["-Og", "-g1", f"-fsanitize={CHECKS}", "-fsanitize-undefined-trap-on-error"],
    "fast": ["-O2", "-g1"],
    "record": ["-Og"],  # compiles in two thirds of the time; without checks
    "tsan": ["-O1", "-g1", "-fsanitize=thread", "--param=tsan-distinguish-volatile=1"],
}
RUNTIME_FLAGS = {"tsan": ["-DEMU_TSAN"]}


class EmulatorError(RuntimeError):
    """A fault of a kernel, or a compiler's log."""


def have_compiler() -> bool:
    return shutil.which(CXX) is not None


def cache_dir() -> Path:
    home = os.environ.get("BITBLAS_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "bitblas")
    path = Path(home) / "emulator"
    path.mkdir(parents=True, exist_ok=True)
    return path


@functools.cache
def _compiler_version() -> str:
    if not have_compiler():
        raise EmulatorError(NO_COMPILER)
    return subprocess.run([CXX, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join((_compiler_version(), *parts)).encode()).hexdigest()[:24]


def _compile(
    target: Path,
    command: Sequence[str],
    text: str,
    link: Sequence[str] = (),
    name: str = "kernel.cu",
    kind: str = "c++",
) -> None:
    """Make `target` whole or not at all: another process may make the same. Messages and debug information speak of
    `name`."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as folder:
        Path(folder, name).write_text(text)
        full = [*command, "-x", kind, name, *link, "-o", "made.so"]
        done = subprocess.run(full, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise EmulatorError(f"the emulator's compiler refused:\n{done.stderr}")
        os.replace(os.path.join(folder, "made.so"), target)


@functools.cache
def runtime(mode: str) -> Path:
    """The library with the fibers and the scheduler, compiled once."""
    text = (HERE / "runtime.cpp").read_text()
    flags = ["-std=c++17", "-O2", "-g1", "-fPIC", "-shared", "-pthread", *RUNTIME_FLAGS.get(mode, [])]
    command = [CXX, *flags, f"-I{HERE}"]
    key = _key(text, (HERE / "cuda_emu.h").read_text(), *flags)
    path = cache_dir() / f"runtime_{key}.so"
    if not path.exists():
        _compile(path, [*command, f"-Wl,-soname,{path.name}"], text)
    return path


@functools.cache
def header(mode: str) -> Path:
    """cuda_emu.h as a precompiled header, which saves nine tenths of the time of most kernels."""
    flags, text = [flag for flag in (*FLAGS, *MODES[mode]) if flag != "-shared"], (HERE / "cuda_emu.h").read_text()
    folder = cache_dir() / f"header_{_key(text, *flags)}"
    folder.mkdir(exist_ok=True)
    path = folder / "cuda_emu.h"
    read = path.with_name("cuda_emu.h.gch")
    if not read.exists():
        _compile(read, [CXX, *flags], text, name=path.name, kind="c++-header")
    return path


def compile_library(text: str, names: Sequence[str], mode: str) -> Path:
    """The cached library of a CUDA C++ text, with one launcher per kernel in `names`."""
    launchers = "".join(f'EMU_KERNEL({i}, "{name}", {name})\n' for i, name in enumerate(names))
    source = f'{text}\n#line 1 "launchers"\n{launchers}'
    library = runtime(mode)
    command = [CXX, *FLAGS, *MODES[mode], "-include", str(header(mode))]
    label = re.sub(r"[^A-Za-z0-9_]+", "_", names[0])
    path = library.parent / f"{label}_{_key(source, library.name, *FLAGS, *MODES[mode])}.so"
    if not path.exists():
        # The runtime is next to the kernel's library, so the cache can be moved. It brings the system's
        # libraries: linking to them for each kernel would take a third of the time.
        links = ["-nostdlib", "-L", str(library.parent), f"-l:{library.name}", "-lgcc", "-Wl,-rpath,$ORIGIN"]
        _compile(path, command, source, links)
    return path


def under_thread_sanitizer(command: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment that run `command` with EMU_MODE=tsan."""
    library = subprocess.run([CXX, "-print-file-name=libtsan.so"], capture_output=True, text=True).stdout.strip()
    options = "report_signal_unsafe=0 exitcode=66 history_size=4 suppress_equal_addresses=0"
    env = {**os.environ, "EMU_MODE": "tsan", "LD_PRELOAD": library, "TSAN_OPTIONS": options}
    return ["setarch", "-R", *command], env  # without address randomisation, which the sanitizer cannot work with


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "tsan":
        sys.exit(f"usage: {sys.argv[0]} tsan COMMAND...")
    line, environment = under_thread_sanitizer(sys.argv[2:])
    os.execvpe(line[0], line, environment)
