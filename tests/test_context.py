"""`gb.ss.Context`, settings of a thread; `gb.ss.burble`, each kernel told."""

import threading

import numpy as np
import pytest

import bitblas
from bitblas.device import threads


def test_a_context_limits_the_threads_of_who_engages_it(monkeypatch):
    n = 1 << 18
    u, seen = bitblas.Vector.from_dense(np.arange(n), device="cpu"), []
    limited = threads.limited
    monkeypatch.setattr(threads, "limited", lambda bounds: seen.append(len(limited(bounds)) - 1) or limited(bounds))

    def most():
        seen.clear()
        assert u.apply("-").new()[n - 1].value == 1 - n
        return max(seen)

    with bitblas.config.set(threads=4):
        assert bitblas.ss.global_context["nthreads"] == 4 and most() >= 4
        with bitblas.ss.Context(nthreads=2) as outer:
            assert most() == 2
            found = []
            other = threading.Thread(target=lambda: found.append(most()))
            other.start()
            other.join()
            assert found[0] >= 4  # another thread has engaged nothing
            with bitblas.ss.Context(nthreads=1, engage=False) as inner:
                assert most() == 1
                inner["nthreads"] = 3
                assert most() == 3 and dict(inner.dup(engage=False)) == dict(inner)
            assert most() == 2 and bitblas.ss.Context(engage=False)["nthreads"] == 2
            outer.disengage()
            assert most() >= 4
        assert most() >= 4
    for name, value, error in (("nthreads", -1, ValueError), ("nope", 1, KeyError), ("chunk", "x", ValueError)):
        with pytest.raises(error):
            outer[name] = value
    with pytest.raises(TypeError, match="not deleted"):
        del outer["chunk"]


def test_contexts_equal_python_graphblas():
    graphblas = pytest.importorskip("graphblas")
    for gb in (bitblas, graphblas):
        with gb.ss.Context(nthreads=2, chunk=7) as outer, gb.ss.Context(gpu_id=-1) as inner:
            assert dict(inner) == {"nthreads": 2, "chunk": 7.0, "gpu_id": -1}
            assert dict(gb.ss.Context(engage=False, stack=False)) != dict(outer)
            assert dict(inner.dup(engage=False, chunk=None)) == dict(inner)


def test_burble_tells_each_kernel(capsys):
    u = bitblas.Vector.from_coo([1, 2], [3, 4], size=5)
    burble = bitblas.ss.burble
    with burble():
        with burble:
            u.apply("-").new()
        assert burble.is_enabled
        first = capsys.readouterr().out
        with pytest.raises(ValueError, match="trace"), bitblas.trace():
            pass
        u.apply("-").new()
    assert not burble.is_enabled
    u.apply("-").new()
    told = capsys.readouterr().out
    assert "elementwise" in first and " us ]" in first and told.count("[ ") == first.count("[ ") >= 1
    burble.enable()
    burble.disable()
    with bitblas.trace() as t:
        u.apply("-").new()
    assert len(t) and not capsys.readouterr().out
