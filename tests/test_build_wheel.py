"""Building a wheel: when kernels are compiled for it, from which sources, and with which tools. Compiling:
test_shipped."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

pytest.importorskip("setuptools.compat.py310", reason="needs setuptools 77 or newer")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def built(monkeypatch, tmp_path):
    """The module with a compiler that records its arguments and exit; a command to run."""
    from setuptools import Distribution

    spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "build_wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = Mock(return_value=SimpleNamespace(returncode=0))
    monkeypatch.setattr(module, "subprocess", SimpleNamespace(run=run))
    monkeypatch.delenv("BITBLAS_OBJECTS", raising=False)
    command = module.BuildWithObjects(Distribution({"packages": [], "py_modules": []}))
    command.ensure_finalized()
    command.build_lib = str(tmp_path)
    return SimpleNamespace(module=module, command=command, run=run, folder=tmp_path)


def test_kernels_are_compiled_beside_the_sources(built, monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "0")
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    built.command.run()
    built.run.assert_called_once()
    (command,), how = built.run.call_args
    env, programs = how["env"], [str(ROOT / "README.md"), str(ROOT / "examples" / "first_graph.py")]
    warm = ["-m", "bitblas.registry.warm", str(built.folder / "bitblas" / "device" / "data"), *programs]
    assert command[1:] == [*warm, "--host"], "for this processor, unless another choice is made"
    assert how["cwd"] == built.folder and env["PYTHONPATH"].split(os.pathsep) == [str(built.folder), "elsewhere"]
    assert not [name for name in env if name.startswith(("NUMBA_", "BITBLAS_"))], "as it is for everyone"


def test_which_processors(built, monkeypatch):
    monkeypatch.setenv("BITBLAS_OBJECTS", "all")
    built.command.run()
    assert "--host" not in built.run.call_args[0][0]
    monkeypatch.setenv("BITBLAS_OBJECTS", "some")
    with pytest.raises(ValueError, match="BITBLAS_OBJECTS: expected one of host, all, 0, got 'some'"):
        built.command.run()


def test_a_build_whose_kernels_fail_says_how_to_go_without(built):
    built.run.return_value.returncode = 1
    with pytest.raises(RuntimeError, match="BITBLAS_OBJECTS=0 builds without them"):
        built.command.run()


def test_none_for_a_source_tree_or_where_they_are_left_out(built, monkeypatch):
    for editable in (True, False):
        built.command.editable_mode = editable
        built.command.run()
        monkeypatch.setenv("BITBLAS_OBJECTS", "0")
    built.run.assert_not_called()


def test_only_a_wheel_needs_what_kernels_are_compiled_with(built, monkeypatch):
    monkeypatch.setattr(built.module.build_meta, "get_requires_for_build_wheel", lambda config_settings=None: ["wheel"])
    found = built.module.get_requires_for_build_wheel()
    assert found[0] == "wheel" and {name.partition(">")[0] for name in found[1:]} == {"numpy", "scipy", "numba"}
    monkeypatch.setenv("BITBLAS_OBJECTS", "0")
    assert built.module.get_requires_for_build_wheel() == ["wheel"]
    editable = built.module.get_requires_for_build_editable
    assert editable.__module__.startswith("setuptools") or "setuptools" in type(editable.__self__).__module__
