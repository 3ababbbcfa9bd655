"""Install what is in a folder of distributions on every Python that it is for, and run it there.

python .ci/try_dist.py dist: for Python 3.10 to 3.14, as far as `pythonX.Y` exists, a new environment gets the wheel,
and runs a program and the demo; the newest one also gets the sdist. Exit code 1 if one failed. A Python that is not
found is listed as skipped, and python-graphblas, which the demo compares with, has no wheel for 3.14.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
WITHOUT_PEER = ("3.14",)
PROGRAM = """
import bitblas as gb
g = gb.Graph.from_edges([("a", "b"), ("b", "c")], directed=False)
assert g.path("a", "c") == ["a", "b", "c"] and len(g.pagerank()) == 3
"""


def interpreter(version: str) -> str | None:
    """A Python of that version that runs: on the path, or of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for python in filter(None, (shutil.which(f"python{version}"), *map(str, root.glob(f"{version}.*/bin/python")))):
        if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
            return python
    return None


def attempt(python: str, package: Path, peer: bool) -> str:
    """Install a package in a new environment and run it. The error, or an empty text."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        env = {**os.environ, "BITBLAS_CACHE": str(here / "cache")}
        wanted = f"{package}[compare]" if peer else str(package)
        steps = [
            [python, "-m", "venv", str(here / "env")],
            [str(here / "env/bin/python"), "-m", "pip", "install", "--quiet", wanted],
            [str(here / "env/bin/python"), "-c", PROGRAM],
            [str(here / "env/bin/bitblas"), *(["demo"] if peer else ["info"])],
        ]
        for step in steps:
            done = subprocess.run(step, cwd=folder, env=env, capture_output=True, text=True, check=False)
            if done.returncode:
                return f"{' '.join(step)}: {(done.stderr or done.stdout).strip()[-2000:]}"
    return ""


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    wheel = next(path for path in folder.glob("bit_graphblas-*.whl"))
    sdist = next(iter(folder.glob("bit_graphblas-*.tar.gz")), None)
    found = {version: python for version in PYTHONS if (python := interpreter(version))}
    if not found:
        print("no Python of", *PYTHONS, "was found", file=sys.stderr)
        return 1
    tries = [(version, wheel) for version in found]
    if sdist is not None:
        tries.append(([version for version in found if version not in WITHOUT_PEER][-1], sdist))
    status = 0
    for version, package in tries:
        begin = time.monotonic()
        error = attempt(found[version], package, peer=version not in WITHOUT_PEER)
        status |= bool(error)
        print(f"Python {version}, {package.name}: {error or 'passed'}, {time.monotonic() - begin:.0f} s", flush=True)
    print("skipped, because there is no interpreter:", ", ".join(v for v in PYTHONS if v not in found) or "none")
    return status


if __name__ == "__main__":
    sys.exit(main())
