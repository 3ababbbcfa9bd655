"""Build the object files that a package ships (device/object_files.py): python -m bitblas.registry.ahead FOLDER
PROGRAM..

The build of a wheel runs this. It runs the programs of `bitblas warm` with an empty cache, and compiles every kernel
that they use on the CPU for every processor of `targets.SHIPPED`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..device import dictionaries, jit, kernel_table, native, object_files, targets
from . import warm


def build(folder: Path, files: Sequence[str], processes: int | None = None) -> Iterator[str]:
    """Write the object files, and yield lines about the progress. RuntimeError if a program fails."""
    begin, kernels, used = time.monotonic(), 0, dict[str, set[str]]()
    level = targets.best(targets.host())
    if level is not None:  # programs then run the code that is shipped for processors like this one
        os.environ.update(NUMBA_CPU_NAME=targets.SHIPPED[level].cpu, NUMBA_CPU_FEATURES="")
    also = tuple(name for name in targets.SHIPPED if name != level)
    tasks = warm.tasks(files, plain=True)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["BITBLAS_CACHE"] = cache
        jit.cache_dir.cache_clear()
        for ended, done in enumerate(warm.warm(tasks, processes, also), 1):
            if done.error:
                raise RuntimeError(f"{done.program}: {done.error}")
            for symbol, keys in done.used.items():
                used.setdefault(symbol, set()).update(keys)
            kernels += done.kernels
            yield f"compiling: {kernels} kernels, {ended} of {len(tasks)} programs, {time.monotonic() - begin:.0f} s"
        folder.mkdir(parents=True, exist_ok=True)
        for name in targets.SHIPPED:
            data = _packed(name, "cpu" if name == level else name, used)
            (folder / f"{name}.objects").write_bytes(data)
            yield f"{name}: {len(used)} kernels, {len(data)} bytes"


def _packed(name: str, folder: str, used: dict[str, set[str]]) -> bytes:
    """The packed objects for one of targets.SHIPPED: from a folder of the cache, and from LLVM texts."""
    target = targets.SHIPPED[name]
    found = []
    texts = {"native": native.text(target), "table": kernel_table.text(), "dictionaries": dictionaries.TEXT}
    for symbol, text in texts.items():
        data, symbols = native.assembled(text, target)
        found.append((object_files.Object(data, symbol, tuple(symbols)), {object_files.key_of_text(text, ())}))
    for symbol, keys in sorted(used.items()):
        made = object_files.cached_object(symbol, folder)
        assert made is not None, f"{symbol} was not compiled for {name}"
        found.append((made, keys))
    return object_files.pack_archive(found)


def main() -> None:
    folder, *files = sys.argv[1:]
    terminal = sys.stderr.isatty()
    last_line = 0.0
    for line in build(Path(folder), files):
        compiling = line.startswith("compiling")
        if terminal:
            print(f"\r{line}", end="" if compiling else "\n", file=sys.stderr, flush=True)
        elif not compiling or time.monotonic() > last_line + 5:
            last_line = time.monotonic()
            print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
