"""Samples of neighbours for batches: edges of the graph, drawn as requested; the same on every device."""

from __future__ import annotations

import numpy as np
import pytest

from bitblas import device as devices
from bitblas.operations import neighbor_sampling as sampling


def edges(n=60, m=900, seed=0):
    g = np.random.default_rng(seed)
    i, j = g.integers(0, n, (2, m))
    j[: m // 6] = 7  # a hub
    j[j == 9] = 8  # without edges
    return i, j


def sampled(device, seeds, fanouts, *, replace=False, seed=5, until=None, time=None, graph=None, n=60):
    """A batch as arrays of the host."""
    d = devices.get(device)
    i, j = edges() if graph is None else graph
    at = None if time is None else d.asarray(time)
    of = sampling.by_target(d, d.asarray(i), d.asarray(j), n, at)
    keys = tuple(range(seed, seed + len(fanouts)))
    limit = None if until is None else d.asarray(until)
    found = sampling.sample(of, d.asarray(np.array(seeds, np.int64)), sampling.Request(fanouts, replace, keys, limit))
    return sampling.Batch(*(None if x is None else d.to_host(x) for x in found))


def check(batch, seeds, fanouts, replace, i, j, eligible=None):
    """What holds for every sample."""
    nodes, owners, sources, targets, numbers = batch
    assert nodes[: len(seeds)].tolist() == list(seeds)
    assert (i[numbers] == nodes[sources]).all() and (j[numbers] == nodes[targets]).all()
    if owners is None:
        assert len(set(nodes.tolist())) == len(nodes)
        owners = np.zeros(len(nodes), np.int64)
    else:
        assert (owners[sources] == owners[targets]).all() and owners[: len(seeds)].tolist() == list(range(len(seeds)))
    seen = list(dict.fromkeys([*range(len(seeds)), *sources.tolist()]))
    assert seen == list(range(len(nodes)))  # numbered as they are reached
    # the nodes of each hop, and how many edges each of them draws
    reached, hop = len(seeds), range(len(seeds))
    place = 0
    for fanout in fanouts:
        for target in hop:
            may = j == nodes[target]
            if eligible is not None:
                may &= eligible[owners[target]]
            degree = int(may.sum())
            count = degree if fanout < 0 else (fanout if degree else 0) if replace else min(degree, fanout)
            mine = numbers[place : place + count]
            assert (targets[place : place + count] == target).all() and may[mine].all()
            assert (replace and fanout > 0) or len(set(mine.tolist())) == count
            place += count
        end = max(sources[:place].max(initial=-1) + 1, reached)
        hop, reached = range(reached, end), end
    assert place == len(numbers)


@pytest.mark.uses_cpu
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("fanouts", [(3,), (5, 4), (-1, 2), (2, 2, 2), (40, 100)])
def test_samples_are_of_the_graph_and_the_same_on_every_device(device, fanouts, replace):
    i, j = edges()
    seeds = [7, 9, 3, 8, 0]
    batch = sampled(device, seeds, fanouts, replace=replace)
    check(batch, seeds, fanouts, replace, i, j)
    for x, y in zip(batch, sampled("cpu", seeds, fanouts, replace=replace)):
        assert (x is None and y is None) or np.array_equal(x, y)
    other = sampled(device, seeds, fanouts, replace=replace, seed=6)
    assert fanouts == (40, 100) or not np.array_equal(other.edges, batch.edges)


@pytest.mark.uses_cpu
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_edges_up_to_a_time(device, kind):
    i, j = edges()
    time = np.random.default_rng(1).integers(0, 20, len(i)).astype(kind)
    seeds, until = [7, 3, 7, 12], np.array([5, 19, 0, -1], kind)
    batch = sampled(device, seeds, (6, 3), time=time, until=until)
    check(batch, seeds, (6, 3), False, i, j, eligible=[time <= limit for limit in until])
    assert (time[batch.edges] <= until[batch.owners[batch.targets]]).all() and 3 not in batch.owners[batch.targets]
    again = sampled("cpu", seeds, (6, 3), time=time, until=until)
    assert all(np.array_equal(x, y) for x, y in zip(batch, again))


def test_empty_graphs(device):
    none = np.zeros(0, np.int64)
    batch = sampled(device, [2, 0], (3, 3), graph=(none, none), n=3)
    assert batch.nodes.tolist() == [2, 0] and len(batch.edges) == len(batch.sources) == 0
    assert len(sampled(device, [], (3,), graph=(none, none), n=0).nodes) == 0


@pytest.mark.parametrize(("count", "replace"), [(2, False), (5, False), (9, False), (3, True)])
def test_every_edge_is_as_likely(on_the_cpu, count, replace):
    n, times = 10, 4000  # a node with ten edges
    star = np.arange(n), np.zeros(n, np.int64)
    drawn = np.zeros(n)
    for seed in range(times):
        np.add.at(drawn, sampled("cpu", [0], (count,), replace=replace, seed=seed, graph=star, n=n).edges, 1)
    expected = times * count / n
    assert abs(drawn - expected).max() < 5 * np.sqrt(expected)
    assert drawn.sum() == times * count
