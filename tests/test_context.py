"""`A.ss.config`: settings of an object; `gb.ss.Context`: of a thread; `gb.ss.burble`: prints each kernel."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bitblas
from bitblas.core.ss import arrays
from bitblas.device import threads


def test_a_context_limits_the_threads_of_who_engages_it(monkeypatch):
    n = 1 << 18
    u, seen = bitblas.Vector.from_dense(np.arange(n), device="cpu"), []
    limited = threads.limit_ranges
    monkeypatch.setattr(threads, "limit_ranges", lambda x: seen.append(len(limited(x)) - 1) or limited(x))

    def most():
        seen.clear()
        assert u.apply("-").new()[n - 1].value == 1 - n
        return max(seen)

    with bitblas.config.set(threads=4):
        assert bitblas.ss.global_context["nthreads"] == 4 and most() >= 4
        with bitblas.ss.Context(nthreads=2) as outer:
            assert most() == 2
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(most).result() >= 4  # another thread has engaged nothing
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
    with pytest.raises(TypeError, match="cannot be deleted"):
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


SETTINGS = """
config["format"] = "by_col"; config["bitmap_switch"] = 0.001; config["sparsity_control"] = {"sparse", "hypersparse"}
config["hyper_switch"] = 0.01; config["sparsity_control"] = "bitmap"; config["format"] = None; config["nope"] = 1
config["sparsity_status"] = "full"; config["format"] = "x"; config["sparsity_control"] = "x"; del config["format"]
config["sparsity_control"] = "full"; config["sparsity_control"] = "auto"
"""


@pytest.mark.parametrize("shape", [(10, 10), (2, 2), (30,)])
def test_settings_of_objects_equal_python_graphblas(shape):
    graphblas = pytest.importorskip("graphblas")

    def run(gb):
        kind, names = (gb.Vector, ["size"]) if len(shape) == 1 else (gb.Matrix, ["nrows", "ncols"])
        x = kind.from_coo(*[[0, 1]] * len(shape), [1, 2], **dict(zip(names, shape)))
        config, found = x.ss.config, []
        for text in SETTINGS.replace("\n", ";").split(";"):
            try:
                exec(text.strip(), {"config": config})
            except (KeyError, ValueError, TypeError) as error:
                found.append((text, type(error)))
            settings = {k: v for k, v in config.items() if k != "sparsity_status"}
            switches = {k: round(v, 6) for k, v in settings.items() if k.endswith("switch")}
            export = x.ss.export()["format"] if "full" not in config["sparsity_control"] else ""
            found.append((text, settings | switches, export))
        return found

    assert run(bitblas) == run(graphblas)


def test_settings_of_an_object_are_its_own():
    A = bitblas.Matrix.from_coo([0], [1], [1], nrows=4, ncols=4)
    A.ss.config["format"] = "by_col"
    assert A.ss.config["format"] == "by_col" != A.dup().ss.config["format"]
    assert A.ss.config["sparsity_status"] == "bitmap" and "format = 'by_col'" in repr(A.ss.config)
    number = id(A)
    del A
    gc.collect()
    assert number not in arrays._settings
