"""NetworkX's own tests, run through the backend: the share of those that reach a function of the table and pass.

    python tests/networkx_tests.py [--strict] [-k TEXT] [PART ...]

A PART is a folder or file of networkx (`algorithms/shortest_paths`); without one, all run. Three times: on NetworkX
alone, on the backend, and with --strict on the backend without fallback, which lists the functions that are missing.

This module is also the pytest plugin of these runs: it writes the outcome of each test, the functions of the table that
it called, and those of them that ran here.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from nx_backend import installed

HERE = Path(__file__).parent
# Tests that only NetworkX's own test backend can pass.
ITS_OWN = {"utils/tests/test_backends.py::test_not_implemented_by_nx": "a function that the test gives to that alone"}


class Run(NamedTuple):
    """outcomes: test -> passed, failed, skipped or missing (no such function), and why; asked: test -> the
    functions of the table that it called, and whether they could run here."""

    outcomes: dict[str, tuple[str, str]]
    asked: dict[str, dict[str, bool]]

    def named(self, outcome: str) -> set[str]:
        return {test for test, (found, _) in self.outcomes.items() if found == outcome and test not in ITS_OWN}

    @property
    def reached(self) -> set[str]:
        """The tests that had a function of the table run here."""
        return {test for test, found in self.asked.items() if any(found.values()) and test in self.outcomes}


def folder() -> Path:
    spec = importlib.util.find_spec("networkx")
    assert spec and spec.origin
    return Path(spec.origin).parent


def run(parts: tuple[str, ...] = (), *, backend: bool = True, fallback: bool = True, more: tuple[str, ...] = ()) -> Run:
    """Run the tests in these parts of NetworkX. RuntimeError where pytest could not."""
    with tempfile.TemporaryDirectory() as temporary:
        told = Path(temporary) / "outcomes.json"
        paths = (installed(Path(temporary) / "site"), HERE, HERE.parent)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("NETWORKX_", "NX_"))}
        env |= {"NETWORKX_OUTCOMES": str(told), "NETWORKX_WARNINGS_TO_IGNORE": "cache"}
        env["PYTHONPATH"] = os.pathsep.join([*map(str, paths), os.environ.get("PYTHONPATH", "")])
        if backend:
            env["NETWORKX_TEST_BACKEND"] = "bitblas"
        if fallback:
            env["NETWORKX_FALLBACK_TO_NX"] = "1"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "networkx_tests", "-q", "--tb=line"),
                *("-W", "ignore:Passing a non-Collection iterable"),  # NetworkX's, to a newer pytest
                *("--rootdir", str(folder()), *more, *(str(folder() / part) for part in parts or ("",))),
            ],
            env=env, cwd=temporary, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode > 1 or not told.exists():  # 1: tests failed
            raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return Run(**json.loads(told.read_text()))


# ---- the plugin --------------------------------------------------------------------------------

outcomes: dict[str, tuple[str, str]] = {}
asked: dict[str, dict[str, bool]] = {}
current = ""


def _watch() -> None:
    """Record the calls that NetworkX offers to the backend: those of each function that the backend has."""
    from bitblas.nx.interface import Backend, backend

    def can_run(name: str, args: Any, kwargs: Any) -> bool | str:
        answer = Backend.can_run(name, args, kwargs)
        asked.setdefault(current, {})[name] = asked.get(current, {}).get(name, False) or answer is True
        return answer

    vars(backend)["can_run"] = can_run


if os.environ.get("NETWORKX_TEST_BACKEND"):
    _watch()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global current
    current = item.nodeid
    yield


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    before = outcomes.get(report.nodeid, ("", ""))[0]
    if report.when == "call" or report.outcome != "passed":
        kind = "missing" if report.outcome == "skipped" and hasattr(report, "wasxfail") else report.outcome
        if before != "failed":
            outcomes[report.nodeid] = kind, getattr(report, "wasxfail", "") or _reason(report)


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return "" if report.outcome == "passed" else str(crash.message if crash else report.longrepr)[:300]


def pytest_sessionfinish() -> None:
    Path(os.environ["NETWORKX_OUTCOMES"]).write_text(json.dumps({"outcomes": outcomes, "asked": asked}))


# ---- the program --------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--strict", action="store_true", help="also without fallback: what is missing")
    parser.add_argument("-k", metavar="TEXT", help="only tests whose names fit")
    options = parser.parse_args()
    parts, more = tuple(options.parts), ("-k", options.k) if options.k else ()
    alone, ours = run(parts, backend=False, more=more), run(parts, more=more)
    worse = sorted((ours.named("failed") | ours.named("missing")) & alone.named("passed"))
    for test in worse:
        print(f"{test}: {ours.outcomes[test][1]}")
    reached = ours.reached & alone.named("passed")
    passed = len(reached & ours.named("passed"))
    print(f"NetworkX alone: {len(alone.named('passed'))} passed, {len(alone.named('failed'))} failed")
    print(f"with the backend: {len(ours.named('passed'))} passed; {len(worse)} fail that pass alone")
    print(f"of {len(reached)} that reach a function that runs here, {100 * passed / max(1, len(reached)):.1f} % pass")
    if options.strict:
        strict = run(parts, fallback=False, more=more)
        missing = collections.Counter(strict.outcomes[test][1] for test in strict.named("missing"))
        print(f"strict: {len(strict.named('passed'))} passed, {len(strict.named('failed'))} failed; missing:")
        for why, count in missing.most_common():
            print(f"{count:5} {why}")


if __name__ == "__main__":
    main()
