"""Programs that save their state: they continue from it, and reject the state of another program."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb

N = 40


def search(rounds, stop=None):
    """A path of N vertices, searched from its end; `stop`: the round in which it fails."""
    at = np.arange(N - 1)
    A = gb.Matrix.from_coo(at, at + 1, True, nrows=N, ncols=N, device="cpu")
    v, q = gb.Vector(int, N, device="cpu"), gb.Vector(bool, N, device="cpu")
    last = gb.Scalar(float)
    q[0] = True

    def body(level):
        if level == stop:
            raise KeyboardInterrupt
        rounds.append(level)
        v(q.S) << level
        last << level / 2
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    return gb.loop.Program(body, while_=q), v, last


def test_a_run_goes_on_where_it_was(tmp_path):
    rounds = []
    program, v, last = search(rounds, stop=25)
    with pytest.raises(KeyboardInterrupt):
        program.checkpoint(tmp_path / "state", state=[v, last], every=10).run()
    assert sorted(p.name for p in (tmp_path / "state").iterdir()) == ["manifest.json", "round-20-0-of-1.npz"]
    again = []
    program, v, last = search(again)
    assert program.checkpoint(tmp_path / "state", state=[v, last], every=10).run() == N
    assert rounds == list(range(25)) and again == list(range(20, N))
    assert v.to_dense().tolist() == list(range(N)) and last.value == (N - 1) / 2
    assert list((tmp_path / "state").iterdir()) == []  # the next run starts from the beginning


def test_what_is_not_its_own_is_refused(tmp_path):
    program, v, last = search([], stop=25)
    with pytest.raises(KeyboardInterrupt):
        program.checkpoint(tmp_path, state=[v, last], every=10).run()
    program, v, _ = search([])
    with pytest.raises(gb.exceptions.InvalidValue, match="expected a state of"):
        program.checkpoint(tmp_path, state=[v]).run()
    (tmp_path / "manifest.json").write_text("{")
    begun = gb.loop.Program(lambda k: None, while_=v, begin=lambda: None)
    every = [lambda every=every: program.checkpoint(tmp_path, every=every) for every in (0, True, 1.5)]
    for call, match in (
        (program.run, "expected the manifest of a checkpoint"),
        *((call, "every: expected") for call in every),
        (lambda: begun.checkpoint(tmp_path), "without begin="),
    ):
        with pytest.raises(gb.exceptions.InvalidValue, match=match):
            call()
    with pytest.raises(TypeError, match="state: expected Vectors and Scalars"):
        program.checkpoint(tmp_path, state=[3])
