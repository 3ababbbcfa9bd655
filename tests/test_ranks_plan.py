"""The plan of several ranks, pure functions of facts: measured cases, memory, and what algorithms declare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bitblas import algorithms, tuning
from bitblas.plan.ranks import SHARED, WORK_KINDS, RankFacts, choose, predicted

GIB = 1 << 30
STORED = Path(__file__).parent.parent / "benchmarks" / "stored" / "ranks"


def kron(scale, ranks=2, free=130 * GIB, **other):
    """Facts about a Kronecker graph of 16 edges a vertex, both ways, on H200s."""
    entries = 31 << scale
    facts = {"ranks": ranks, "on_cpu": False, "rows": 1 << scale, "entries": entries, "longest": 100_000}
    return RankFacts(**facts | {"nbytes": 4 * entries + (8 << scale), "free": free} | other)


def mesh(side, ranks=2):
    return RankFacts(ranks, False, side * side, 4 * side * side, 4, 24 * side * side, 130 * GIB)


def test_the_choice_is_the_fastest_that_was_measured():
    """On two and four H200s, within the differences between runs: benchmarks/stored/ranks."""
    kinds = {"search": "search", "components": "components", "pagerank": "sweeps", "labels": "sweeps"}
    cases: dict[tuple, dict[str, float]] = {}
    for file in STORED.glob("*.json"):
        for row in json.loads(file.read_text())["rows"]:
            if row["program"] in kinds and row["ranks"] > 1 and "choice" in row:
                key = file.name, row["graph"], row["program"], row["ranks"]
                cases.setdefault(key, {})[row["choice"]] = row["ms"]
    both = {key: ms for key, ms in cases.items() if len(ms) > 1}
    for (_, graph, program, ranks), ms in both.items():
        facts = mesh(1024, ranks) if graph == "mesh1024" else kron(int(graph.removeprefix("kron")), ranks)
        found = choose(facts, kinds[program])
        assert ms[found.choice] <= 1.06 * min(ms.values()), (graph, program, ranks, ms, found)
    assert len(both) > 30


@pytest.mark.parametrize("ranks", [2, 4])
def test_small_graphs_and_meshes_are_replicated(ranks):
    for scale in (16, 20):
        assert choose(kron(scale, ranks), "search").choice == "replicated"
        assert choose(kron(scale, ranks), "components").choice == "replicated"
    for side in (64, 2048):
        for kind in ("search", "components"):
            found = choose(mesh(side, ranks), kind)
            assert found.choice == "replicated" and "rows are short (at most 4 entries)" in found.reason
    assert choose(kron(26, ranks), "sweeps").choice == choose(kron(29, ranks), "search").choice == "partitioned"
    assert choose(kron(14, ranks), "sweeps").choice == "replicated"


def test_a_plan_prints_its_reason_and_times():
    text = str(choose(kron(26), "sweeps"))
    assert (
        text.startswith("partitioned: each rank computes its rows, because that is faster")
        and "predicted: repl" in text
    )
    for kind in ("sources", "rows"):
        found = choose(kron(22), kind)
        assert found.choice == "shared" and f"{kron(22).nbytes} bytes on each rank" in found.reason
    one, four = (predicted(kron(22, ranks), "sources") for ranks in (1, 4))
    assert one["shared"] == one["replicated"] == 4 * four["shared"]


def test_copies_need_memory():
    small = kron(22, free=kron(22).nbytes)
    for kind in WORK_KINDS:
        found = choose(small, kind)
        assert (
            found.choice == "partitioned"
            and f"{small.nbytes} bytes" in found.reason
            and str(small.free) in found.reason
        )
        with tuning.override({"ranks.memory": 1}):
            assert "a copy takes" not in choose(small, kind).reason


def test_ranks_on_cpus_copy_a_graph_for_independent_work_and_unknown_algorithms():
    for kind in WORK_KINDS:
        expected = "shared" if kind in SHARED else "partitioned" if kind else "replicated"
        assert choose(kron(20, on_cpu=True), kind).choice == expected


def test_a_program_may_choose():
    for wanted in ("replicated", "partitioned", "shared"):
        for kind in WORK_KINDS:
            found = choose(kron(20), kind, wanted)
            assert (found.choice == wanted and "requested" in found.reason) or (
                wanted == "shared" and kind not in SHARED
            )


def test_work_is_declared():
    """A kind that does not exist is an error; the algorithms whose work is independent declare it."""
    facts = {
        name: getattr(algorithms, name).facts.work
        for name in algorithms.__all__
        if hasattr(getattr(algorithms, name), "facts")
    }
    assert set(facts.values()) == set(WORK_KINDS)
    assert facts["betweenness_centrality"] == facts["random_walks"] == "sources" and facts["jaccard"] == "rows"
    from bitblas.algorithms._algorithm import algorithm

    with pytest.raises(ValueError, match=r"work: expected '', 'sources', .*, got 'many'"):
        algorithm(answer="count", work="many")
