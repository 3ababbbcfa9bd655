"""Build the package of precompiled CUDA kernels: python -m bitblas.registry.cubins FOLDER FILE [--arch sm_90 ..].

FILE has the kernel variants that GPUs with and without thread block clusters run (tests/record_variants.py). FOLDER
becomes a Python project: one archive per architecture (device/cubins.py), and what `python -m build` needs to make a
wheel of them. No GPU is needed. Each text is compiled once per architecture; PTX is what NVRTC makes on the way to the
cubin of the newest.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import bitblas

from ..device import arrays, cubins, jit
from ..kernels.variant import Variant

PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "bit-graphblas-cubins"
version = "{version}"
description = "Precompiled CUDA kernels of bitblas {version}"
license = "Apache-2.0"
requires-python = ">=3.10,<3.15"

[tool.setuptools]
packages = ["{package}"]

[tool.setuptools.package-data]
"{package}" = ["*.cubins"]
"""
MODULE = (
    '"""Precompiled CUDA kernels of bitblas {version}, compiled by NVRTC {nvrtc}; bitblas finds them by itself."""\n'
)


class Recorded(NamedTuple):
    """Variants by cluster size (0: none), as GPUs run them, and by program, as the emulator did."""

    sizes: dict[int, list[Variant]]
    programs: dict[str, list[Variant]]

    @staticmethod
    def read(path: Path) -> Recorded:
        return Recorded(*pickle.loads(path.read_bytes()))

    def write(self, path: Path) -> None:
        """As a tuple: the class has another name in a module that Python runs as a program."""
        path.write_bytes(pickle.dumps(tuple(self)))


def clusters_of(arch: str) -> tuple[int, ...]:
    """The cluster sizes that a GPU of the architecture may have, as `Cuda.cluster` finds them."""
    number = int(arch.rpartition("_")[2])
    return (0,) if number < 90 else (8, 16)


def compiled(text: str, variant: Variant, arch: str, also_ptx: bool) -> tuple[str, int, bytes, bytes]:
    """The key of a kernel, the size of its cubin, and the cubin compressed; also_ptx: its PTX, compressed."""
    key, ptx = cubins.key_of_text(text), b""
    if also_ptx:
        cubin, ptx = cubins.compile_with_ptx(text, variant, arch)
        ptx = cubins.compress(ptx)
    else:
        cubin = cubins.compile_text(text, variant, arch)[0]
    return key, len(cubin), cubins.compress(cubin), ptx


def texts_for(arch: str, recorded: dict[int, list[Variant]]) -> dict[str, Variant]:
    """The distinct texts of a GPU's kernels: some variants differ in labels only."""
    named = [v for size in clusters_of(arch) for v in recorded[size]]
    return {jit.cuda_source(v): v for v in dict.fromkeys((*arrays.KERNELS.values(), *named))}


def build(folder: Path, recorded: dict[int, list[Variant]], archs: Sequence[str], processes: int | None = None) -> None:
    """Write the project."""
    package, begin = folder / cubins.PACKAGE, time.monotonic()
    package.mkdir(parents=True, exist_ok=True)
    names = {"version": bitblas.__version__, "package": cubins.PACKAGE, "nvrtc": cubins.nvrtc_version()}
    (folder / "pyproject.toml").write_text(PROJECT.format(**names))
    (package / "__init__.py").write_text(MODULE.format(**names))

    def write(arch: str, found: list[tuple[str, bytes]], raw: str) -> None:
        data = cubins.pack_archive(found, cubins.nvrtc_version())
        (package / f"{arch}.cubins").write_bytes(data)
        print(
            f"{arch}: {len(found)} kernels, {raw}{len(data)} compressed, {time.monotonic() - begin:.0f} s", flush=True
        )

    with_ptx = {arch: arch.replace("sm_", "compute_") in archs for arch in archs}
    alone = [arch for arch in archs if not (arch.startswith("compute_") and arch.replace("compute_", "sm_") in archs)]
    context = get_context("spawn")  # do not share compiler state
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=context) as pool:
        waiting = {}
        for arch in alone:  # all at once, so that no process waits for the last kernels of an architecture
            texts = texts_for(arch, recorded)
            work = [(text, variant, arch, with_ptx[arch] and arch.startswith("sm_")) for text, variant in texts.items()]
            waiting[arch] = pool.map(compiled, *zip(*work), chunksize=4)
        for arch, results in waiting.items():
            found = list(results)
            raw = f"{sum(size for _, size, _, _ in found)} bytes, "
            write(arch, [(key, data) for key, _, data, _ in found], raw)
            if found and found[0][3]:
                write(arch.replace("sm_", "compute_"), [(key, ptx) for key, _, _, ptx in found], "PTX, ")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bitblas.registry.cubins", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("record", type=Path, help="the file with the variants")
    parser.add_argument("--arch", nargs="+", default=list(cubins.SHIPPED), help="architectures, such as sm_80 sm_90")
    parser.add_argument("-j", "--processes", type=int)
    options = parser.parse_args(arguments)
    build(options.folder, Recorded.read(options.record).sizes, options.arch, options.processes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
