"""python-graphblas' own tests, run on bitblas under its name (`bitblas.compat`): counts, and why each failure failed.

    python tests/graphblas_tests.py [--folder FOLDER] [-k TEXT] [FILE ...]

The tests are those of the installed package, or FOLDER; FILEs (`test_vector.py`) run alone. They run in a subprocess,
from a copy in a temporary folder. `data/graphblas_tests.txt` lists the tests that do not concern public behaviour, with
the reason of each group; they do not run.
"""

from __future__ import annotations

import argparse
import ast
import collections
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
LEFT_OUT = HERE / "data" / "graphblas_tests.txt"
# Their configuration chooses among the builds of SuiteSparse; ours is in graphblas_plugin.py.
CONFTEST = "\n\ndel pytest_configure\n"


class Counts(NamedTuple):
    """Test (file::function) -> outcome (passed, failed, skipped) and reason; and the tests that did not run."""

    outcomes: dict[str, tuple[str, str]]
    left_out: dict[str, int]  # by file

    def number(self, outcome: str) -> int:
        return sum(found == outcome for found, _ in self.outcomes.values())

    @property
    def share(self) -> float:
        """Of those that passed or failed, the share that passed."""
        passed, failed = self.number("passed"), self.number("failed")
        return passed / max(1, passed + failed)

    def __str__(self) -> str:
        kinds = ", ".join(f"{self.number(kind)} {kind}" for kind in ("passed", "failed", "skipped"))
        return f"{kinds}, {sum(self.left_out.values())} left out: {100 * self.share:.1f} % passed"


def by_function(cases: dict[str, list[str]]) -> dict[str, tuple[str, str]]:
    """A test with parameters counts once: it fails where one of its cases fails."""
    rank = ("skipped", "passed", "failed")
    by_rank = sorted(cases.items(), key=lambda case: rank.index(case[1][0]))
    return {case.partition("[")[0]: (outcome, why) for case, (outcome, why) in by_rank}


def folder() -> Path | None:
    """Where the installed package has its tests; None where there are none."""
    spec = importlib.util.find_spec("graphblas")
    found = Path(spec.origin).parent / "tests" if spec and spec.origin else None
    return found if found and (found / "conftest.py").exists() else None


def left_out() -> dict[str, str]:
    """Test -> why it does not concern public behaviour. A line that begins with # is the reason of what follows."""
    reason, found = "", {}
    for line in LEFT_OUT.read_text().splitlines():
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line.strip():
            found[line.strip()] = reason
    return found


def in_folder(tests: Path, names: tuple[str, ...]) -> list[str]:
    """The tests in the files, as file::function."""
    found = [(name, node) for name in names for node in ast.parse((tests / name).read_text()).body]
    is_test = lambda node: isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    return [f"{name}::{node.name}" for name, node in found if is_test(node)]


def run(tests: Path, files: tuple[str, ...] = (), more: tuple[str, ...] = (), shown: bool = False) -> Counts:
    """Run them. more: arguments for pytest; shown: whether to show its output. RuntimeError if pytest failed."""
    names = files or tuple(sorted(p.name for p in tests.glob("test_*.py")))
    out = {test: why for test, why in left_out().items() if test.partition("::")[0] in names}
    there = in_folder(tests, names)
    names = tuple(name for name in names if name not in out)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "graphblas_own"
        shutil.copytree(tests, copy, ignore=shutil.ignore_patterns("__pycache__"))
        with (copy / "conftest.py").open("a") as conftest:
            conftest.write(CONFTEST)
        ini, told = Path(temporary) / "pytest.ini", Path(temporary) / "outcomes.json"
        ini.write_text("[pytest]\n")
        path = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-c", str(ini), "--rootdir", temporary, "-p", "no:cacheprovider"]
            + ["-p", "graphblas_plugin", "-q", "--tb=short", *more]
            + [str(copy / name) for name in names],
            env=os.environ | {"PYTHONPATH": path, "GRAPHBLAS_OUTCOMES": str(told)},
            cwd=temporary, capture_output=not shown, text=True,
        )  # fmt: skip
        if not told.exists():
            raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        found = json.loads(told.read_text())
    set_aside = (test for test in there if test in out or test.partition("::")[0] in out)
    return Counts(by_function(found), collections.Counter(test.partition("::")[0] for test in set_aside))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--folder", type=Path, default=folder())
    parser.add_argument("-k", metavar="TEXT", help="only tests whose names fit, with all that pytest prints")
    options = parser.parse_args()
    if options.folder is None:
        parser.error("python-graphblas is not installed with its tests; --folder says where they are")
    chosen = ("-k", options.k) if options.k else ()
    counts = run(options.folder, tuple(options.files), chosen, shown=options.k is not None)
    for test, (outcome, why) in counts.outcomes.items():
        if outcome == "failed":
            print(f"{test}: {why}")
    by_file = collections.Counter((test.partition("::")[0], kind) for test, (kind, _) in counts.outcomes.items())
    print("\n| file | pass | fail | skip | left out |\n|---|---|---|---|---|")
    for name in sorted({name for name, _ in by_file} | set(counts.left_out)):
        numbers = (by_file[name, kind] for kind in ("passed", "failed", "skipped"))
        print(f"| `{name}` |", *(f"{number} |" for number in (*numbers, counts.left_out.get(name, 0))))
    print(counts)


if __name__ == "__main__":
    main()
