"""NeighborLoader: batches of PyG for PyTorch; tests/test_neighbor_sampling.py tests the samples."""

from __future__ import annotations

import numpy as np
import pytest
from test_neighbor_sampling import edges

import bitblas as gb
from bitblas.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue

torch = pytest.importorskip("torch")


def loader(device, *args, **options):
    i, j = edges()
    index = torch.tensor(np.stack((i, j)), device=device if device.startswith("cuda") else "cpu")
    return index, gb.torch.NeighborLoader(index, *args, num_nodes=60, **options)


def test_batches_of_pyg(on_the_cpu):
    index, batches = loader("cpu", [4, 3], batch_size=16, seed=3)
    assert len(batches) == 4
    seen = []
    for batch in batches:
        n_id, edge_index, e_id = batch
        assert n_id.dtype == edge_index.dtype == e_id.dtype == torch.int64 and batch.owner is None
        assert torch.equal(n_id[edge_index], index[:, e_id])
        seen += n_id[: batch.seeds].tolist()
        # features of a batch aggregate as in the whole graph, restricted to the edges drawn
        X = torch.rand(60, 3)
        A = gb.torch.from_pyg(edge_index, torch.ones(len(e_id)), num_nodes=len(n_id), dup_op="plus")
        expected = torch.zeros(len(n_id), 3).index_add_(0, edge_index[1], X[n_id][edge_index[0]])
        torch.testing.assert_close(gb.torch.spmm(A.T, X[n_id]), expected)
    assert seen == list(range(60))


@pytest.mark.parametrize("replace", [False, True])
def test_epochs_are_reproducible(on_the_cpu, replace):
    how = {"batch_size": 7, "shuffle": True, "seed": -4, "replace": replace}
    (_, one), (_, two), (_, other) = (loader("cpu", [3, 2], **(how | {"seed": seed})) for seed in (-4, -4, 5))
    first, again = list(one), list(two)
    alike = lambda x, y: all(torch.equal(a, b) for p, q in zip(x, y) for a, b in zip(p, q))
    assert alike(first, again) and not alike(first, list(one)) and not alike(first, list(other))
    one.epoch = 0
    assert alike(first, list(one))
    order = [batch.n_id[: batch.seeds] for batch in first]
    assert sorted(torch.cat(order).tolist()) == list(range(60)) and torch.cat(order).tolist() != list(range(60))


def test_a_matrix_its_own_seeds_and_times(device):
    i, j = edges()
    A = gb.Matrix.from_coo(i, j, True, nrows=60, ncols=60, device=device)
    i, j, _ = (A.device.to_host(x).astype(np.int64) for x in A.to_coo())
    at = device if device.startswith("cuda") else "cpu"
    seeds = torch.tensor([7, 3, 12], device=at)
    batches = gb.torch.NeighborLoader(A, [2], seeds, batch_size=2, drop_last=True)
    assert len(batches) == 1
    (batch,) = batches
    assert batch.n_id[:2].tolist() == [7, 3] and batch.n_id.device.type == torch.device(at).type
    assert (j[batch.e_id.cpu()] == batch.n_id.cpu().numpy()[batch.edge_index[1].cpu()]).all()
    time = torch.arange(A.nvals, device=at) + 2**60  # FP64 would round it
    limits = torch.tensor([5, 100, 300], device=at) + 2**60
    (batch,) = gb.torch.NeighborLoader(A, [-1, 3], seeds, edge_time=time, seed_time=limits)
    assert (time[batch.e_id] <= limits[batch.owner[batch.edge_index[1]]]).all() and batch.seeds == 3


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"fanouts": []}, InvalidValue, r"fanouts: expected numbers above 0, or -1 for all edges, got \[\]"),
        ({"fanouts": [2, 0]}, InvalidValue, r"got \[2, 0\]"),
        ({"batch_size": 0}, InvalidValue, "batch_size: expected 1 or more"),
        ({"seeds": torch.tensor([1, 1])}, InvalidValue, "seeds: expected different nodes, got one twice"),
        ({"seeds": torch.tensor([1, 60])}, IndexOutOfBound, "seeds: expected indices from 0 to 59, got 60"),
        ({"seeds": [1]}, TypeError, "seeds: expected a torch.Tensor"),
        ({"graph": torch.zeros(3, 4, dtype=torch.int64)}, DimensionMismatch, r"shape \(2, edges\)"),
        ({"graph": torch.tensor([[0], [99]]), "num_nodes": 60}, IndexOutOfBound, "from 0 to 59, got 99"),
        ({"edge_time": torch.zeros(900)}, InvalidValue, "edge_time, seed_time: expected both or none"),
        (
            {"edge_time": torch.zeros(900), "seed_time": torch.arange(60)},
            InvalidValue,
            "expected torch.float32 as",
        ),
        ({"edge_time": torch.zeros(3), "seed_time": torch.zeros(60)}, DimensionMismatch, "expected 900 times, got 3"),
    ],
)
def test_arguments_that_do_not_fit(on_the_cpu, change, error, match):
    given = {"graph": torch.tensor(np.stack(edges())), "fanouts": [2], "num_nodes": 60} | change
    with pytest.raises(error, match=match):
        gb.torch.NeighborLoader(given.pop("graph"), given.pop("fanouts"), **given)


def test_matrices_that_do_not_fit(on_the_cpu):
    with pytest.raises(DimensionMismatch, match="graph: expected a square matrix, got 2 x 3"):
        gb.torch.NeighborLoader(gb.Matrix(bool, 2, 3), [2])
    with pytest.raises(InvalidValue, match="num_nodes: expected None for a Matrix"):
        gb.torch.NeighborLoader(gb.Matrix(bool, 2, 2), [2], num_nodes=2)
