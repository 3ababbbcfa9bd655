"""A pytest plugin for the process in which NetworkX's own tests run on the backend: see networkx_tests.py.

It writes the outcome of each test, the functions of the table that it called, and those of them that ran here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
