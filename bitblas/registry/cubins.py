"""Build the package of precompiled CUDA kernels: python -m bitblas.registry.cubins FOLDER FILE [--arch sm_90 ..].

FILE has the kernel variants that GPUs with and without thread block clusters run (tests/record_variants.py). FOLDER
becomes a Python project: one archive per architecture (device/cubins.py), and what `python -m build` needs to make a
wheel of them. No GPU is needed.
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


def clusters_of(arch: str) -> tuple[int, ...]:
    """The cluster sizes that a GPU of the architecture may have, as `Cuda.cluster` finds them."""
    number = int(arch.rpartition("_")[2])
    return (0,) if number < 90 else (8, 16)


def compiled(text: str, variant: Variant, arch: str) -> tuple[str, bytes]:
    """The key and the cubin of a kernel."""
    return cubins.key_of_text(text), cubins.compile_text(text, variant, arch)[0]


def build(folder: Path, recorded: dict[int, list[Variant]], archs: Sequence[str], processes: int | None = None) -> None:
    """Write the project."""
    package, begin = folder / cubins.PACKAGE, time.monotonic()
    package.mkdir(parents=True, exist_ok=True)
    names = {"version": bitblas.__version__, "package": cubins.PACKAGE, "nvrtc": cubins.nvrtc_version()}
    (folder / "pyproject.toml").write_text(PROJECT.format(**names))
    (package / "__init__.py").write_text(MODULE.format(**names))
    context = get_context("spawn")  # do not share compiler state
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=context) as pool:
        for arch in archs:
            named = [v for size in clusters_of(arch) for v in recorded[size]]
            variants = dict.fromkeys((*arrays.KERNELS.values(), *named))
            texts = {jit.cuda_source(v): v for v in variants}  # by text: some variants differ in labels only
            work = [(text, variant, arch) for text, variant in texts.items()]
            found = list(pool.map(compiled, *zip(*work), chunksize=4))
            data = cubins.pack_archive(found, cubins.nvrtc_version())
            (package / f"{arch}.cubins").write_bytes(data)
            raw = sum(len(cubin) for _, cubin in found)
            print(
                f"{arch}: {len(found)} kernels, {raw} bytes, {len(data)} compressed, {time.monotonic() - begin:.0f} s"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bitblas.registry.cubins", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("record", type=Path, help="the file with the variants")
    parser.add_argument("--arch", nargs="+", default=list(cubins.SHIPPED), help="architectures, such as sm_80 sm_90")
    parser.add_argument("-j", "--processes", type=int)
    options = parser.parse_args(arguments)
    build(options.folder, pickle.loads(options.record.read_bytes()), options.arch, options.processes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
