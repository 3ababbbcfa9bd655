"""Processors that CPU kernels are compiled for: this machine's, and those with object files in the package."""

from __future__ import annotations

import functools
import os
import warnings
from typing import Any, NamedTuple

from .forks import held_over_forks


class Target(NamedTuple):
    """What LLVM compiles for: a triple, a processor, and what that can do besides (or cannot, with a minus)."""

    triple: str
    cpu: str
    features: str

    @property
    def machine(self) -> str:
        """The instruction set, as `platform.machine` has it."""
        return self.triple.partition("-")[0]


# What a processor must be able to do for each level of the psABI of x86-64, by LLVM's names; each has those before it.
_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
NEEDS = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2, "generic": ()}
_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"

# Those that a package brings object files for, by the name of the file; the best first.
SHIPPED = {name: Target(_X86, name, "") for name in ("x86-64-v4", "x86-64-v3", "x86-64-v2")}
SHIPPED["aarch64"] = Target(_ARM, "generic", "")
# Of the widest numbers of which one instruction picks any eight of eight (VPERMPD, VPERMPS).
PICKED_BYTES = {"x86-64-v4": 8, "x86-64-v3": 4}


@functools.cache
def binding() -> Any:
    from llvmlite import binding

    # LLVM's objects are freed under llvmlite's lock, by whichever thread collects garbage: without this a child of a
    # fork in that moment would wait for it for ever. llvmlite has no public name for it.
    lock = getattr(getattr(binding.ffi.lib, "_lock", None), "_lock", None)
    if lock is not None:
        held_over_forks(lock, inner=True)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def llvm_version() -> str:
    import llvmlite

    return str(llvmlite.__version__)


@functools.cache
def host() -> Target:
    """This processor, or what $NUMBA_CPU_NAME and $NUMBA_CPU_FEATURES say that it is."""
    name = os.environ.get("NUMBA_CPU_NAME") or binding().get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    return Target(str(binding().get_process_triple()), str(name), _features() if features is None else features)


def _features() -> str:
    try:
        return str(binding().get_host_cpu_features().flatten())
    except RuntimeError:  # not known to LLVM
        return ""


def best(target: Target) -> str | None:
    """The name in SHIPPED of what runs on a processor and uses most of it; None where nothing does."""
    if target in SHIPPED.values():
        return target.cpu if target.machine == "x86_64" else target.machine
    if "-linux-" not in target.triple:  # object files of another kind than ELF
        return None
    can = {name[1:] for name in target.features.split(",") if name.startswith("+")}
    fits = (name for name, t in SHIPPED.items() if t.machine == target.machine and can.issuperset(NEEDS[t.cpu]))
    found = next(fits, None)
    if found is None and target.machine == "x86_64":
        warnings.warn(
            f"this processor ({target.cpu}) is older than x86-64-v2: the kernels that bitblas brings do not run on it, "
            "so that each is compiled at its first use",
            stacklevel=2,
        )
    return found


# How code names data and functions. LLVM's memory for x86-64 may put the sections of an object further apart than the
# 2 GB that shorter references reach; for AArch64 llvmlite puts them side by side.
_REFERENCES = {"x86-64": {"reloc": "static", "codemodel": "large"}}


@functools.cache
def machine(target: Target, level: int) -> Any:
    """LLVM's target: code that may be loaded anywhere, so that it can be kept in files."""
    if target.machine != host().machine:
        binding().initialize_all_targets()
        binding().initialize_all_asmprinters()
    found = binding().Target.from_triple(target.triple)
    references = _REFERENCES.get(found.name, {"reloc": "pic", "codemodel": "default"})
    return found.create_target_machine(cpu=target.cpu, features=target.features, opt=level, **references)
