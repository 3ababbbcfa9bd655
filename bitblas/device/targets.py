"""Processors that CPU kernels are compiled for: this machine's, and those with object files in the package."""

from __future__ import annotations

import functools
import os
import warnings
from types import ModuleType
from typing import Any, NamedTuple

from .threads import fork_safe


class Target(NamedTuple):
    """A target of LLVM: triple, processor, and extra features (with a minus: missing features)."""

    triple: str
    cpu: str
    features: str

    @property
    def machine(self) -> str:
        """The instruction set, named as by `platform.machine`."""
        return self.triple.partition("-")[0]


# Features that a processor needs for each level of the x86-64 psABI, by LLVM's names; each level includes those before.
_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
NEEDS = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2, "generic": ()}
_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"

# Targets with shipped object files, by file name; best first.
SHIPPED = {name: Target(_X86, name, "") for name in ("x86-64-v4", "x86-64-v3", "x86-64-v2")}
SHIPPED["aarch64"] = Target(_ARM, "generic", "")
# Byte width of the widest element for which the level has an 8-lane permute (VPERMPD, VPERMPS).
PERMUTE_BYTES = {"x86-64-v4": 8, "x86-64-v3": 4}


@functools.cache
def binding() -> ModuleType:
    from llvmlite import binding

    # LLVM's objects are freed under llvmlite's lock, by whichever thread collects garbage. If a fork happens at that
    # moment, its child would block on the lock for ever. llvmlite has no public name for it.
    lock = getattr(getattr(binding.ffi.lib, "_lock", None), "_lock", None)
    if lock is not None:
        fork_safe(lock, inner=True)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def llvm_version() -> str:
    import llvmlite

    return str(llvmlite.__version__)


@functools.cache
def host() -> Target:
    """This processor, or the one named by $NUMBA_CPU_NAME and $NUMBA_CPU_FEATURES."""
    name = os.environ.get("NUMBA_CPU_NAME") or binding().get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    return Target(str(binding().get_process_triple()), str(name), _features() if features is None else features)


def _features() -> str:
    try:
        return str(binding().get_host_cpu_features().flatten())
    except RuntimeError:  # unknown to LLVM
        return ""


def best(target: Target) -> str | None:
    """The name in SHIPPED of the best target that a processor can run; None if there is none."""
    if target in SHIPPED.values():
        return target.cpu if target.machine == "x86_64" else target.machine
    if "-linux-" not in target.triple:  # shipped objects are ELF files
        return None
    can = {name[1:] for name in target.features.split(",") if name.startswith("+")}
    fits = (name for name, t in SHIPPED.items() if t.machine == target.machine and can.issuperset(NEEDS[t.cpu]))
    shipped = next(fits, None)
    if shipped is None and target.machine == "x86_64":
        warnings.warn(
            f"this processor ({target.cpu}) is older than x86-64-v2: it cannot run bitblas's precompiled kernels, "
            "so each kernel is compiled at its first use",
            stacklevel=2,
        )
    return shipped


# How code addresses data and functions. For x86-64, LLVM's allocator may place the sections of an object further apart
# than the 2 GB that short references reach; for AArch64 llvmlite places them next to each other.
_REFERENCES = {"x86-64": {"reloc": "static", "codemodel": "large"}}


@functools.cache
def machine(target: Target, level: int) -> Any:
    """LLVM's target machine: position-independent code, so that it can be stored in files."""
    if target.machine != host().machine:
        binding().initialize_all_targets()
        binding().initialize_all_asmprinters()
    family = binding().Target.from_triple(target.triple)
    references = _REFERENCES.get(family.name, {"reloc": "pic", "codemodel": "default"})
    return family.create_target_machine(cpu=target.cpu, features=target.features, opt=level, **references)
