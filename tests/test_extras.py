"""Installing extras, as messages describe it; and another package with the same import name."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import bitblas
from bitblas import extras

ROOT = Path(__file__).parents[1]


def test_hints_name_extras_that_a_clone_has():
    table = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    known = re.findall(r"^(\w+) = \[", table, re.M)
    texts = {p: p.read_text() for p in (ROOT / "bitblas").rglob("*.py")}
    named = {extra for text in texts.values() for extra in re.findall(r"extras\.hint\(\"?'?(\w+)", text)}
    assert named >= {"plots", "compare", "cuda13"} and named <= set(known)
    assert not [p for p, text in texts.items() if re.search(r"pip install '?bit-graphblas", text)]
    assert extras.hint("plots") == "pip install matplotlib"
    # The packages that are named are those of pyproject.toml, but for least versions.
    for extra, packages in extras.PACKAGES.items():
        listed = re.search(rf"^{extra} = \[(.*)\]", table, re.M)[1]
        assert [re.sub(r">=[\d.]+,?", "", name) for name in re.findall(r'"([^"]+)"', listed)] == list(packages), extra


def test_what_is_missing_is_named(monkeypatch):
    """In the functions that need it, with the command that installs it."""
    graph = bitblas.Graph.from_edges([("a", "b", 2.0)])
    calls = {
        "pandas": (graph.to_dataframe, graph.bfs("a").to_dataframe, lambda: bitblas.io.to_pandas(graph)),
        "networkx": (graph.to_networkx, lambda: bitblas.io.to_networkx(graph.matrix)),
        "igraph": (graph.to_igraph,),
        "polars": (lambda: bitblas.io.to_polars(graph),),
        "graphblas": (lambda: bitblas.io.to_graphblas(graph.matrix),),
    }
    for module, given in calls.items():
        monkeypatch.setitem(sys.modules, module, None)
        for call in given:
            with pytest.raises(ImportError, match=rf"^to_\w+ needs .*: pip install (python-)?{module}$"):
                call()


FOREIGN = ["bitblas-0.1.0.dist-info", "bitblas-0.0.1.dev15+cu121.egg-info"]
OTHERS = ["bit_graphblas-0.1.0.dev0.dist-info", "bitblas", "bitblas_tools-1.0.dist-info", "numpy-2.0.0.dist-info"]


@pytest.mark.parametrize("name", FOREIGN)
def test_another_package_in_the_folder_is_said(tmp_path, name):
    for one in OTHERS:
        (tmp_path / one).mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        extras.check_name(str(tmp_path / "bitblas"))
        extras.check_name(str(tmp_path / "none" / "bitblas"))
    (tmp_path / name).mkdir()
    with pytest.warns(RuntimeWarning, match=r"bitblas-0\.[01].* \(Microsoft's BitBLAS\?\) .* Uninstall both"):
        extras.check_name(str(tmp_path / "bitblas"))


def test_the_import_says_it(tmp_path):
    (tmp_path / "bitblas").symlink_to(Path(bitblas.__file__).parent)
    (tmp_path / FOREIGN[0]).mkdir()
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import bitblas; print(bitblas.Matrix(int, 2, 2).nvals)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "0\n" and "RuntimeWarning: the distribution bitblas-0.1.0 (Microsoft's BitBLAS?)" in run.stderr
