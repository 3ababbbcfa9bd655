"""Every registered kernel variant runs in the emulator: its CUDA C++ compiles for the CPU, and the launcher finds the
kernel and the arguments that the host code passes. Results are tested through the public operations, on the device
`emulator`.
"""

from __future__ import annotations

import re
from pathlib import Path

import every_kernel
import pytest

import bitblas
from bitblas.device import jit
from bitblas.kernels.views import without_views
from bitblas.registry.variants import variants

GROUPS: dict[str, list] = {}
for variant in variants():
    tile, masked = variant.constant("TILE"), variant.constant("MASKED")  # a mask is three arguments more
    group = [variant.kernel, *([str(tile)] if tile else []), *(["masked"] if masked else [])]
    GROUPS.setdefault(" ".join(group), []).append(variant)


def compiled(variant) -> int:
    """The number of arguments that the compiled kernel takes."""
    from emulator import emu

    module = emu.RawModule(code=jit.cuda_source(variant), name_expressions=[variant.entry])
    return len(module.get_function(variant.entry).signature)


@pytest.mark.slow  # `make every-kernel` compiles them too, and calls them
@pytest.mark.parametrize("group", GROUPS)
def test_variants_compile_for_the_emulator(group, emulator):
    counts = {compiled(variant) for variant in GROUPS[group]}
    generated = any(variant.text for variant in GROUPS[group])  # these have the arguments that their text names
    assert len(counts) == 1 or generated, "all variants of a kernel are called alike"
    # The twin takes what the kernel takes, but `lo, hi` for `n`.
    kernel = group.split()[0]
    folder, _, entry = kernel.rpartition("/")
    if path := jit.kernels_of(folder, ".cpu.py").get(entry):
        arguments = re.search(
            rf"^def {entry}\(\s*lo,\s*hi,([^)]*?),?\s*\)", without_views(path.read_text()), re.MULTILINE
        )
        assert counts == {1 + len(arguments[1].split(","))}


def test_every_kernel_is_registered():
    package = Path(bitblas.__file__).parent
    folders = {path.parent.relative_to(package).as_posix() for path in package.rglob("*.cu")}
    found = {f"{folder}/{name}" for folder in folders for name in jit.kernels_of(folder, ".cu")}
    assert found == {group.split()[0] for group in GROUPS}


def test_a_registered_variant_that_did_not_run_is_told(capsys):
    """By every_kernel.py, from what all its processes wrote down."""
    every = {every_kernel.named(variant) for variant in variants()}
    assert not every_kernel.missing(every, True) and "not run" not in capsys.readouterr().out
    left = next(name for name in sorted(every) if name.startswith("kernels/gather"))
    assert every_kernel.missing(every - {left}, True) >= 1 and "not run: kernels/gather" in capsys.readouterr().out
