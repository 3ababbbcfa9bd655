"""The public surface of commit ffd8f61d still works: names, signatures, commands, variables, saved files.

That commit wrote the data in tests/public_surface (collect.py there says how). What it had must exist, be of the same
kind, and take the same arguments with the same defaults; new names and new optional arguments are allowed. An intended
change goes into CHANGED with its reason, not into the data.
"""

import json
import pickle
import re
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from public_surface import collect

import bitblas as gb

# Intended changes since ffd8f61d: text of the recorded entry as JSON, text of today ("null" for all of it: the name may
# be gone), and the reason from CHANGELOG.md.
DIRECTED = "directed=True", "directed=None", "graphs are directed unless directed=False; None also warns if in doubt"
CHANGED = {
    "Graph .from_edges": DIRECTED,
    "Graph .from_table": DIRECTED,
    "bitblas.io.from_table": DIRECTED,
    "bitblas.io.read_sif": DIRECTED,
    "bitblas.io.read_edgelist": ("base=0", "base=None", "None: 0, with a warning that names base=1 if in doubt"),
    "bitblas convert --precision": ('"type": "int"', "", "takes 1 to 17; other numbers wrote NUL bytes"),
}
RECORDED = {path.stem: json.loads(path.read_text()) for path in collect.HERE.glob("*.json")}
AT_LEAST = {"names": 3200, "commands": 1300, "variables": 8, "networkx": 280, "saved": 55}
SAVED = RECORDED["saved"]


def changes_of_signature(old: str, new: str) -> Iterator[str]:
    """Differences that break or change calls which `old` accepts."""
    before, now = collect.parameters(old), collect.parameters(new)
    in_order = [[p for p in found if p[1].startswith(("pos", "*")) and p[1] != "**"] for found in (before, now)]
    end = None if any(kind == "*" for _, kind, _ in before) else len(in_order[0])
    if in_order[0] != in_order[1][:end]:
        yield f"expected {old}, got {new}"
    for p in before:
        if p[1] in ("keyword-only", "**") and p not in now:
            yield f"expected {p[0]} ({p[1]}, default {p[2]}), got {new}"
    names = {name for name, _, _ in before}
    for name, kind, default in now:
        if name not in names and default is None and not kind.startswith("*"):
            yield f"{name} has no default, in {new}"


def changes_of_name(old: str, new: str | None) -> Iterator[str]:
    if new is None:
        yield "is gone"
        return
    (kind, _, before), (now, _, after) = old.partition("("), new.partition("(")
    if kind != now:
        yield f"was a {kind.strip()}, is a {now.strip()}"
    elif kind.startswith("exception"):
        if lost := {*re.findall(r"\w+", before)} - {*re.findall(r"\w+", after)}:
            yield f"has no base {lost}"
    elif before and not after:
        yield "has no signature"
    elif before:
        yield from changes_of_signature(f"({before}", f"({after}")


def changes_of_command(old: dict[str, Any], new: dict[str, Any] | None) -> Iterator[str]:
    if new is None:
        yield "is gone"
        return
    for key in ("default", "nargs", "type", "same as"):
        if old.get(key) != new.get(key):
            yield f"{key}: expected {old.get(key)!r}, got {new.get(key)!r}"
    if lost := {*old.get("flags", ())} - {*new.get("flags", ())}:
        yield f"has no {lost}"
    before, now = ({*map(repr, found.get("choices", ()))} for found in (old, new))
    if now and not (before and before <= now):
        yield f"choices: expected {before or 'any'}, got {now}"
    if new.get("required") and not old.get("required"):
        yield "is required"


def changed(path: str, recorded: Any) -> Any:
    """The recorded entry with the intended changes."""
    old, new, _ = CHANGED.get(path, ("", "", ""))
    text = json.dumps(recorded)
    assert old in text, f"CHANGED: {path} has no {old}"
    return json.loads(text.replace(old, new))


def check(kind: str, changes: Any) -> None:
    old, new = RECORDED[kind], getattr(collect, kind)()
    assert min(len(old), len(new)) >= AT_LEAST[kind]
    wanted = {path: was for path, recorded in old.items() if (was := changed(path, recorded)) is not None}
    found = {path: "; ".join(changes(was, new.get(path))) for path, was in wanted.items()}
    assert {path: text for path, text in found.items() if text} == {}


def needed_too(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Options and arguments that calls of the recorded commands do not give, but have to."""
    command = lambda path: re.split(r" (?=--?\w|argument )", path)[0]
    needed = lambda path: (
        new[path].get("required") or (" argument " in path and new[path].get("nargs") not in ("?", "*", "..."))
    )
    return [path for path in new if path not in old and command(path) in {"bitblas", *old} and needed(path)]


def test_names_and_signatures():
    assert {"bitblas.algorithms.pagerank", "Matrix .mxv", "Plan .key", "Graph .bfs"} <= {*RECORDED["names"]}
    check("names", changes_of_name)


def test_commands_and_options():
    assert {"bitblas bfs --source", "bitblas make rmat --seed", "bitblas info --forms"} <= {*RECORDED["commands"]}
    check("commands", changes_of_command)
    assert needed_too(RECORDED["commands"], collect.commands()) == []


def test_variables_are_read_and_networkx_functions_are_listed():
    text = collect.library_text()
    assert len(RECORDED["variables"]) >= AT_LEAST["variables"] and len(RECORDED["networkx"]) >= AT_LEAST["networkx"]
    assert [name for name in RECORDED["variables"] if not re.search(rf"\b{name}\b", text)] == []
    assert {*RECORDED["networkx"]} - {*collect.networkx()} == set()


def test_the_intended_changes_are_made():
    made = set()
    for kind, changes in (("names", changes_of_name), ("commands", changes_of_command)):
        old, new = RECORDED[kind], getattr(collect, kind)()
        made |= {path for path in CHANGED if path in old and list(changes(old[path], new.get(path)))}
    assert made == {*CHANGED}


@pytest.mark.parametrize(
    "old, new, same",
    [
        ("function (a, b=1, *, c=None)", "function (a, b=1, d=2, *, c=None, e=3)", True),
        ("function (a, b=1, *, c=None)", "function (a, b=2, *, c=None)", False),
        ("function (a, b=1, *, c=None)", "function (b=1, a=0, *, c=None)", False),
        ("function (a, b=1, *, c=None)", "function (a, b=1, *, d, c=None)", False),
        ("function (a, b=1, *, c=None)", "function (a, b=1)", False),
        ("function (a, *more, **others)", "function (a, b=1, *more, **others)", False),
        ("function (a, *more, **others)", "function (a, *more)", False),
        ("function (a, /)", "function (a)", False),
        ("function (a)", "value", False),
        ("function (a)", "class function (a)", False),
        ("exception (ValueError, Exception)", "exception (LookupError, ValueError, Exception)", True),
        ("exception (ValueError, Exception)", "exception (Exception)", False),
        ("function (a)", "function ", False),
        ("value", None, False),
    ],
)
def test_changes_of_names_are_seen(old, new, same):
    assert (not list(changes_of_name(old, new))) == same


@pytest.mark.parametrize(
    "how, same",
    [
        ({"choices": ["a", "b", "c"], "default": "a", "flags": ["--long", "--longer"]}, True),
        ({"choices": ["a"], "default": "a", "flags": ["--long"]}, False),
        ({"choices": ["a", "b"], "default": "b", "flags": ["--long"]}, False),
        ({"choices": ["a", "b"], "default": "a"}, False),
        ({"choices": ["a", "b"], "default": "a", "flags": ["--long"], "nargs": "+"}, False),
        ({"choices": ["a", "b"], "default": "a", "flags": ["--long"], "required": True}, False),
        (None, False),
    ],
)
def test_changes_of_options_are_seen(how, same):
    old = {"choices": ["a", "b"], "default": "a", "flags": ["--long"]}
    assert (not list(changes_of_command(old, how))) == same
    new = {"bitblas x": {}, "bitblas x -a": {}, "bitblas x -b": {"required": True}, "bitblas x argument 1": {}}
    assert needed_too({"bitblas x": {}}, new | {"bitblas y argument 1": {}}) == [*new][2:]


def entries(name: str) -> tuple[list[Any], Any]:
    """The recorded positions and values of a file."""
    places, values = (SAVED[name][key] for key in ("places", "values"))
    if isinstance(places, str):
        places = SAVED[places]["places"]
    values = values if isinstance(values, list) else [values] * len(places[0])
    return places, [complex(x) for x in values] if SAVED[name]["dtype"] == "FC64" else values


def assert_recorded(x: Any, name: str) -> None:
    host = lambda part: np.asarray(x.device.to_host(part)).tolist()
    *places, values = map(host, x.to_coo())
    assert [places, values] == [*entries(name)]
    assert [x.dtype.name, [*x.shape]] == [SAVED[name]["dtype"], SAVED[name]["shape"]]
    if name.endswith(".bitblas"):
        assert x.format == SAVED[name]["format"]


def files(suffix: str) -> list[str]:
    return [name for name in SAVED if name.endswith(suffix)]


def test_every_form_was_saved():
    """All formats of the recorded version: they stay. Later ones have no file of that version."""
    forms = {SAVED[name]["format"] for name in files(".bitblas")}
    assert len(SAVED) >= AT_LEAST["saved"] and {*gb.formats.FORMATS} >= forms and len(forms) == 15
    assert sum(len(entries(name)[1]) for name in files(".bitblas")) > 10_000
    assert {path.name for path in collect.SAVED.iterdir()} == {*SAVED, "checkpoint"}


@pytest.mark.parametrize("name", files(".bitblas"))
@pytest.mark.parametrize("verify", [False, True], ids=["mapped", "verified"])
def test_saved_matrices_load(name, verify, device):
    assert_recorded(gb.load(collect.SAVED / name, verify=verify, device=device), name)


def test_saved_graphs_have_their_names():
    g = gb.Graph.read(collect.SAVED / "graph.bitblas")
    assert list(g.labels) == SAVED["graph.bitblas"]["labels"] and g.directed is False
    assert_recorded(g.matrix, "graph.bitblas")


def test_other_files_load():
    assert_recorded(gb.io.read_npz(collect.SAVED / "matrix.npz"), "matrix.npz")
    for kind, name in ((gb.Matrix, "matrix.serialized"), (gb.Vector, "vector.serialized")):
        data = np.frombuffer((collect.SAVED / name).read_bytes(), np.uint8)
        assert_recorded(kind.ss.deserialize(data), name)


@pytest.mark.parametrize("file", files(".pickle"))
def test_pickles_load(file):
    name = file.removesuffix(".pickle")
    x = pickle.loads((collect.SAVED / file).read_bytes())
    if name == "scalar":
        assert x == collect.pickled(name)
    elif name in ("graph", "values"):
        assert list((x if name == "graph" else x.graph).labels) == SAVED["graph.bitblas"]["labels"]
        assert_recorded(x.matrix if name == "graph" else x.vector, file)
    elif hasattr(x, "to_coo"):
        assert_recorded(x, file)
    else:
        assert x is collect.pickled(name)


def test_a_checkpoint_goes_on(tmp_path):
    shutil.copytree(collect.SAVED / "checkpoint", tmp_path / "state")
    rounds: list[int] = []
    program, levels, half = collect.search(rounds)
    assert program.checkpoint(tmp_path / "state", state=[levels, half], every=10).run() == collect.N
    assert rounds == list(range(20, collect.N))
    assert levels.to_dense().tolist() == list(range(collect.N)) and half.value == (collect.N - 1) / 2
