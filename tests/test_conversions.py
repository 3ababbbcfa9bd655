"""Matrices that are stored for size are not converted to rows silently: over all algorithms, each conversion is
announced by the plan of its statement, builds a transpose that is kept, or serves a call that lists the entries."""

import traceback

import numpy as np
import pytest
from battery import FORMS, generator

import bitblas as gb
from bitblas import algorithms, compare
from bitblas.config import config
from bitblas.device import tracing
from bitblas.formats import class_of

N = 150
# Calls whose answer is as large as the rows, or that are no statement; explanations of a trace; transposes.
EXPECTED = {"to_coo", "diag", "to_csr", "reason", "transpose"}
COMPACT = ("nib", "cgr", "virtual", "split8")


@pytest.fixture(scope="module")
def edges():
    """A symmetric graph with virtual nodes, intervals and tiles, without self-loops."""
    i, j = generator("conversions").integers(0, N, (2, 600))
    block = np.divmod(np.arange(400), 20)
    i, j = np.append(i, block[0]), np.append(j, block[1])
    i, j = np.divmod(np.unique(np.append(i * N + j, j * N + i)), N)
    return i[i != j], j[i != j]


@pytest.fixture
def conversions(monkeypatch, tune):
    """The plans of the statements that convert a matrix of the graph's size to rows, and calls that list entries."""
    tune({"multivector.least_rows": 64, "multivector.rows_per_column": 1})  # as of a larger graph
    found: list[tuple[str, bool]] = []

    def watched(convert):
        def called(self, *args):
            if min(self.nrows, self.ncols) >= N:
                frames = traceback.extract_stack()
                names = {frame.name for frame in frames if "bitblas/core" in frame.filename}
                names |= {frame.name for frame in frames if "bitblas/formats" in frame.filename} & {"transpose"}
                found.append((str(getattr(tracing.active, "plan", None)), bool(names & EXPECTED)))
            return convert(self, *args)

        return called

    for key in COMPACT:
        for name in ("plain",) if key == "virtual" else ("to_csr",):
            kind = class_of(key)
            monkeypatch.setattr(kind, name, watched(getattr(kind, name)))
    with config.set(prefer="memory", device="cpu"):
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("key", COMPACT)
def test_every_conversion_is_announced(edges, conversions, key):
    weights, checked = compare.hash_weights(*edges).astype(float), 0
    for program in compare.every():
        values = weights if "weighted" in program.form else True
        A = gb.Matrix.from_coo(*edges, values, nrows=N, ncols=N, **FORMS[key])
        assert A.format == key
        conversions.clear()
        with gb.trace():
            program.call(A, 3, gb)
        checked += len(conversions)
        silent = [plan for plan, expected in conversions if not expected and "converts" not in plan]
        assert not silent, program.name
    assert checked  # some are


@pytest.mark.parametrize("key", [*COMPACT[:3], "b2sr8"])
@pytest.mark.parametrize("name", ["betweenness_centrality", "bfs_levels", "pagerank"])
def test_searches_and_ranks_convert_nothing(edges, conversions, key, name):
    """Batches of searches too, whose frontiers are multivectors."""
    A, rows = (gb.Matrix.from_coo(*edges, True, nrows=N, ncols=N, **FORMS[form]) for form in (key, "csr"))
    run, more = getattr(algorithms, name), [0] if name == "bfs_levels" else []
    found = run(A, *more)
    assert all(expected for _, expected in conversions)
    assert {form.removesuffix(".T") for form in A.memory().forms} == {key}
    np.testing.assert_allclose(found.to_dense(-1), run(rows, *more).to_dense(-1), rtol=1e-9)
