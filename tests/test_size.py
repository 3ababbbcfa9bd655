"""The benchmark of graphs that fill a device, on one of some vertices."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bitblas
from benchmarks import size


def test_the_graph_is_the_same_in_any_chunks():
    """It goes both ways, without self loops."""
    cpu_ = bitblas.device.get("cpu")
    whole, cut = (list(zip(*size.Rmat(cpu_, 7, chunk=k), strict=True)) for k in (1 << 20, 100))
    pairs = [{*zip(np.concatenate(i).tolist(), np.concatenate(j).tolist())} for i, j in (whole, cut)]
    assert pairs[0] == pairs[1] == {(j, i) for i, j in pairs[0]} and all(i != j for i, j in pairs[0])
    assert len(np.concatenate(whole[0])) == 2 * 16 << 7 and max(max(pairs[0])) < 1 << 7


@pytest.mark.slow
def test_answers_are_checked(tmp_path, capsys, monkeypatch):
    pairs = {(i, j) for rows, cols in size.Rmat(bitblas.device.get("cpu"), 7) for i, j in zip(rows, cols, strict=True)}
    out = tmp_path / "size.json"
    options = ["--scale", "7", "--sources", "2", "--json", str(out)]
    assert size.main(options) == 0
    made = json.loads(out.read_text())
    assert made["nvals"] == len(pairs) and made["right"] and len(made["bfs"]) == 2
    monkeypatch.setattr(size, "bfs_levels", lambda M, s: bitblas.Vector.from_scalar(1, M.nrows))
    assert size.main(options) == 1 and "components" in capsys.readouterr().out
