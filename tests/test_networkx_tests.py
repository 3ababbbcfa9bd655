"""NetworkX's own tests through the backend: those that reach a function that runs here pass, as on NetworkX alone."""

import networkx_tests
import pytest

pytest.importorskip("networkx")
PARTS = ("algorithms/shortest_paths", "algorithms/traversal", "algorithms/link_analysis", "algorithms/components")
LEAST = 0.98


@pytest.mark.slow
def test_they_pass():
    alone, ours = networkx_tests.run(PARTS, backend=False), networkx_tests.run(PARTS)
    passed = alone.named("passed")
    assert len(ours.reached & passed) > 100
    assert len(ours.reached & passed & ours.named("passed")) >= LEAST * len(ours.reached & passed)
    assert passed - ours.named("passed") == set()
