"""Build a wheel with setuptools, including object files of the CPU kernels (bitblas/registry/warm.py).

BITBLAS_OBJECTS=host, the default, compiles them for the processor of this machine, as `pip install .` needs;
BITBLAS_OBJECTS=all for every processor, as wheels for others need; BITBLAS_OBJECTS=0 leaves them out: kernels are then
compiled at first use, as from a source tree.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.command.build_py import build_py
from setuptools.compat.py310 import tomllib

# The other hooks of a build backend (PEP 517, PEP 660) are those of setuptools.
build_sdist, build_wheel, build_editable = build_meta.build_sdist, build_meta.build_wheel, build_meta.build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
get_requires_for_build_editable = build_meta.get_requires_for_build_editable
prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable

ROOT = Path(__file__).parent
PROGRAMS = ("README.md", "examples/first_graph.py")


CHOICES = ("host", "all", "0")


def wanted() -> str:
    """The processors for which kernels are compiled: "host" or "all"; "" for none."""
    found = os.environ.get("BITBLAS_OBJECTS") or "host"
    if found not in CHOICES:
        raise ValueError(f"BITBLAS_OBJECTS: expected one of {', '.join(CHOICES)}, got {found!r}")
    return "" if found == "0" else found


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Only a wheel needs the dependencies, to run the programs whose kernels are compiled."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = project["dependencies"] if wanted() else []
    return [*build_meta.get_requires_for_build_wheel(config_settings), *own]


class BuildWithObjects(build_py):
    """Copies the sources and adds the object files."""

    def run(self) -> None:
        super().run()
        if self.editable_mode or not (processors := wanted()):
            return
        here = Path(self.build_lib).resolve()
        plain = {name: text for name, text in os.environ.items() if not name.startswith(("NUMBA_", "BITBLAS_"))}
        path = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH", ""))))
        programs = [str(ROOT / name) for name in PROGRAMS if (ROOT / name).exists()]
        command = [sys.executable, "-m", "bitblas.registry.warm", str(here / "bitblas/device/data"), *programs]
        command += ["--host"] if processors == "host" else []
        if subprocess.run(command, cwd=here, env={**plain, "PYTHONPATH": path}, check=False).returncode:
            raise RuntimeError(
                "the CPU kernels were not compiled (see above). Hint: BITBLAS_OBJECTS=0 builds without them"
            )
