"""python-graphblas' own tests on bitblas: most of those of public behaviour pass; the list of the others names existing
tests."""

import graphblas_tests
import pytest

TESTS = graphblas_tests.folder()
LEAST = 0.92

needs_tests = pytest.mark.skipif(TESTS is None, reason="python-graphblas is not installed with its tests")


@needs_tests
def test_what_is_left_out_is_there():
    files = {path.name for path in TESTS.glob("test_*.py")}
    known = files | set(graphblas_tests.in_folder(TESTS, tuple(sorted(files))))
    out = graphblas_tests.left_out()
    assert set(out) - known == set()
    assert all(out.values())


@needs_tests
@pytest.mark.slow
def test_they_pass():
    counts = graphblas_tests.run(TESTS)
    failed = {test: why for test, (outcome, why) in counts.outcomes.items() if outcome == "failed"}
    assert counts.share >= LEAST, f"{counts}\n{failed}"
