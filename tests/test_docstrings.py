"""Docstrings become sections in NumPy's style, and lose no word."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest

import bitblas as gb
from bitblas import algorithms, docstrings

DENSE = """Draw some.

A: Matrix, n x n (a: not a parameter). k: int >= 1, draws; None: all. p, q: as in `walk`. It is fast.
Returns a Vector, INT64: what was drawn.
Raises InvalidValue (k below 1; p (or q) out of range), IndexOutOfBound, and the errors of `walk`.

- a list: stays. k: too
"""
SECTIONS = """Draw some.

Parameters
----------
A : Matrix
    n x n (a: not a parameter).
k : int, optional
    >= 1, draws; None: all.
p, q : optional
    As in `walk`. It is fast.

Returns
-------
Vector
    INT64: what was drawn.

Raises
------
InvalidValue
    k below 1; p (or q) out of range.
IndexOutOfBound

Notes
-----
Also raises the errors of `walk`.

- a list: stays. k: too"""


def test_sections():
    found = docstrings.numpy_style(DENSE, "Akpq", optional="kpq")
    assert found == SECTIONS
    assert docstrings.numpy_style(found, "Akpq") == found
    one = "A table. InvalidValue for an empty one, ImportError without pandas."
    assert docstrings.numpy_style(one, ()).splitlines()[3:] == [
        "------", "InvalidValue", "    For an empty one.", "ImportError", "    Without pandas."
    ]  # fmt: skip
    assert docstrings.numpy_style("Only a line. KeyError is a class.", ()) == "Only a line. KeyError is a class."
    assert docstrings.numpy_style("Sizes. Raises as `f` does.", ()) == "Sizes.\n\nRaises as `f` does."


@pytest.mark.parametrize("name", algorithms.__all__)
def test_help_of_algorithms(name):
    program = getattr(algorithms, name)
    plain, found = inspect.getdoc(inspect.unwrap(program)), inspect.getdoc(program)
    assert found.splitlines()[0] == plain.splitlines()[0]
    assert all(f"\n{head}\n---" in found for head in ("Parameters", "Returns", "References"))
    words = [word.strip(",.;:()").lower() for word in found.split()]
    lost = [w for word in plain.split() if (w := word.strip(",.;:()").lower()) not in words]
    assert set(lost) <= {"returns", "raises", "python", "or", "ints", "a", "an", "and", "the", "of"}, lost


@pytest.mark.parametrize("kind", [gb.Matrix, gb.Vector, gb.Scalar], ids=lambda kind: kind.__name__)
def test_help_of_methods(kind):
    methods = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}
    methods = {name: method for name, method in methods.items() if inspect.isroutine(method)}
    assert len(methods) > 10
    for name, method in methods.items():
        doc, parameters = inspect.getdoc(method) or "", set(inspect.signature(method).parameters) - {"self", "opts"}
        assert doc and (not parameters or "\nParameters\n----------\n" in doc), name


@pytest.mark.parametrize(
    "name", ["core.matrix.build", "core.matrix.read", "core.vector", "graph.graph", "graph.answers"]
)
def test_examples_print_what_they_say(name):
    pytest.importorskip("pandas")
    module = importlib.import_module(f"bitblas.{name}")
    with gb.config.set(device="cpu"):
        found = doctest.testmod(
            module, extraglobs={name: getattr(gb, name) for name in ("Graph", "Matrix", "Vector")} | {"gb": gb}
        )
    assert found.attempted > 3 and not found.failed
