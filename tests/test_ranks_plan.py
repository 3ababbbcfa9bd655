"""The plan of several ranks, pure functions of facts: measured cases, memory, and what algorithms declare."""

from __future__ import annotations

import pytest

from bitblas import algorithms, tuning
from bitblas.plan.ranks import SHARED, WORK_KINDS, RankFacts, choose, predicted

GIB = 1 << 30


def kron(scale, ranks=2, free=130 * GIB, **other):
    """Facts about a Kronecker graph of 16 edges a vertex, both ways, on H200s."""
    entries = 31 << scale
    facts = {"ranks": ranks, "on_cpu": False, "rows": 1 << scale, "entries": entries, "longest": 100_000}
    return RankFacts(**facts | {"nbytes": 4 * entries + (8 << scale), "free": free} | other)


def mesh(side, ranks=2):
    return RankFacts(ranks, False, side * side, 4 * side * side, 4, 24 * side * side, 130 * GIB)


@pytest.mark.parametrize("ranks", [2, 4])
def test_measured_cases_are_planned_right(ranks):
    for scale in (16, 20, 25):
        assert choose(kron(scale, ranks), "search").choice == "replicated"
        assert choose(kron(scale, ranks), "components").choice == "replicated"
    if ranks == 2:  # measured: 4.2 and 4.3 ms, 9.4 and 8.6; components 11.8 and 14.4, 32.4 and 34.6
        assert [choose(kron(scale), "search").choice for scale in (26, 27)] == ["replicated", "partitioned"]
        assert {choose(kron(scale), "components").choice for scale in (26, 27)} == {"replicated"}
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
