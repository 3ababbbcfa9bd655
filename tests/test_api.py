"""docs/api.md lists the parts of python-graphblas that bitblas lacks; both are compared here."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bitblas

oracle = pytest.importorskip("graphblas")
PAGE = (Path(__file__).parent.parent / "docs" / "api.md").read_text()
SPACES = "agg binary indexunary monoid select unary dtypes exceptions io".split()
KINDS = {
    "Matrix": lambda gb: gb.Matrix(int, 2, 2),
    "Vector": lambda gb: gb.Vector(int, 2),
    "Scalar": lambda gb: gb.Scalar(int),
    "TransposedMatrix": lambda gb: gb.Matrix(int, 2, 2).T,
    "Mask": lambda gb: gb.Vector(int, 2).S,
    "Matrix.ss": lambda gb: gb.Matrix(int, 2, 2).ss,
    "Vector.ss": lambda gb: gb.Vector(int, 2).ss,
    "C[I, J]": lambda gb: gb.Matrix(int, 2, 2)[:1, :1],
    "MatrixExpression": lambda gb: gb.Matrix(int, 2, 2).apply("-"),
    "VectorExpression": lambda gb: gb.Vector(int, 2).apply("-"),
    "ScalarExpression": lambda gb: gb.Vector(int, 2).reduce(),
    "graphblas": lambda gb: gb,
    **{name: lambda gb, name=name: getattr(gb, name) for name in SPACES},
}


def left_out(kind):
    """The names in the rows of the page's table for this kind."""
    rows = re.findall(rf"^\| `{re.escape(kind)}` \| (.*?) \| .*? \|$", PAGE, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def public(x):
    return {n for n in dir(x) if not n.startswith("_") and not (inspect.ismodule(x) and inspect.ismodule(_get(x, n)))}


def _get(x, name):
    try:
        return getattr(x, name)
    except Exception:  # a property of an expression that cannot be computed
        return None


def there(x, name):
    try:
        return name in x if type(x).__name__ == "Namespace" and name in x else hasattr(x, name)
    except Exception as error:
        return not isinstance(error, (AttributeError, bitblas.exceptions.NotImplementedException))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_out_is_said(kind):
    theirs, ours = KINDS[kind](oracle), KINDS[kind](bitblas)
    names = public(theirs) | ({"ss", "viz"} if kind == "graphblas" else set())
    missing = {name for name in names if not there(ours, name)}
    said = left_out(kind)
    assert missing == said, f"docs/api.md, {kind}: add {sorted(missing - said)}, remove {sorted(said - missing)}"


OBJECTS = ["Matrix", "Vector", "Scalar", "TransposedMatrix", "Mask", "C[I, J]", "MatrixExpression"]


@pytest.mark.parametrize("kind", OBJECTS)
def test_parameters_have_the_same_names(kind):
    theirs, ours = KINDS[kind](oracle), KINDS[kind](bitblas)
    for name in public(theirs) & public(ours):
        f, g = _get(theirs, name), _get(ours, name)
        if inspect.ismethod(f) and inspect.ismethod(g):
            wanted, found = inspect.signature(f).parameters, inspect.signature(g).parameters
            more = any(p.kind is p.VAR_KEYWORD and p.name in ("more", "kwargs") for p in found.values())
            assert more or not wanted.keys() - found.keys(), name


def test_defaults_are_the_same():
    for method in ("reduce_rowwise", "mxm", "ewise_add", "ewise_mult", "kronecker", "power", "reduce_scalar"):
        for p in inspect.signature(getattr(oracle.Matrix, method)).parameters.values():
            ours = inspect.signature(getattr(bitblas.Matrix, method)).parameters[p.name]
            assert repr(ours.default) == repr(p.default), method


def test_the_program_on_the_page_runs():
    (block,) = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)  # not in a process that has the oracle
    done = subprocess.run([sys.executable, "-W", "error", "-c", block], capture_output=True, text=True)
    assert done.stdout.splitlines() == re.findall(r"# -> (.*)$", block, re.MULTILINE), done.stderr
