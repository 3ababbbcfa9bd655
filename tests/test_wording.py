"""Messages name Python's arguments in Python, and the command line's options there."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import bitblas
from bitblas import cli
from bitblas.cli import commands
from bitblas.cli.parser import parser

PACKAGE = Path(bitblas.__file__).parent


def texts(tree):
    """The strings of a module that are no docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    documented = [node for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node, False)]
    docs = {id(node.body[0].value) for node in documented}
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def test_the_library_names_no_options_of_the_command_line():
    for path in (*(PACKAGE / "io").glob("*.py"), *(PACKAGE / "graph").glob("*.py")):
        for line, text in texts(ast.parse(path.read_text())):
            assert not re.search(r"(?<![\w-])--[a-z][\w-]*", text), f"{path.name}:{line}"


def test_every_argument_has_an_option():
    """Those that the table has, and those of readers of edges that the command line has under another name."""
    choices = parser()._subparsers._group_actions[0].choices
    actions = [action for name in ("bfs", "convert", "katz") for action in choices[name]._actions]
    known = {flag for action in actions for flag in action.option_strings}
    assert {*commands.WHOLE.values(), *commands.VALUED.values(), *commands.NAMED.values()} <= known
    for name in inspect.signature(bitblas.io.read_edgelist).parameters:
        flag = f"--{name.replace('_', '-')}"
        if flag in known and name not in ("source", "format", "device", "tile", "packed"):
            assert name in commands.VALUED or any(name == argument for argument, _ in commands.WHOLE), name


@pytest.mark.parametrize(
    "text, words",
    {
        "pass base=1 or labels=True; base=0 if": "pass --base 1 or --labels; --base 0 if",
        "directed=False if undirected, directed=True if not": "--undirected if undirected, --directed if not",
        "header=True if so, header=False if not": "--header if so, --no-header if not",
        "weights=False ignores it, weight=None too": "--no-weights ignores it, --no-weights too",
        "size= if this is intended": "--size if this is intended",
        "columns=['a', 'b c', 2] takes 3": "columns 'a,b c,2' takes 3".replace("columns", "--columns"),
        "columns=[0, 2] takes": "--columns 0,2 takes",
        "delimiter=';' or delimiter='\\t', delimiter=' '": "--delimiter ';' or --delimiter tab, --delimiter space",
        "a comma? decimal=',' reads it": "a comma? --decimal , reads it",
        "dup_op says how: 'plus'; dup_op=\"max\"": "--dup-op says how: 'plus'; --dup-op max",
        "the format: file_format='edges', 'csv'": "the format: --input-format edges, 'csv'",
        "a.csv: columns: expected some": "a.csv: --columns: expected some",
        "precision: expected 1": "--precision: expected 1",
        "argument max_iter: expected 1": "--max-iter: expected 1",
        "argument A: expected a square": "the graph: expected a square",
        "argument frontier: expected": "argument frontier: expected",  # without an option
        "got /data/base=1/size=3.csv": "got /data/base=1/size=3.csv",  # a path
        "labels=7": "labels=7",
    }.items(),
)  # fmt: skip
def test_arguments_become_options(text, words):
    assert commands.as_options(text) == words


MISTAKES = {  # the file's contents, the options, the message
    "weights of text": ("a,b,EUR\nb,c,EUR\n", [], "--no-weights ignores it"),
    "many columns": ("id,payer,payee,sum\n1,a,b,3\n", [], "Hint: --columns payer,payee,sum selects 3 of"),
    "columns with blanks": ("id,city a,city b,km\n1,a,b,3\n", [], "Hint: --columns 'city a,city b,km' selects"),
    "another mark": ("a;b;2\n", [], "if ';' separates the columns, pass --delimiter ';'"),
    "a decimal comma": ("a;b;1,5\n", ["--delimiter", ";"], "pass --decimal , if this is a decimal comma"),
    "an edge twice": ("a,b,3\na,b,4\n", [], "--dup-op combines them"),
    "a first line": ("a,b,unknown\nb,c,3\n", [], "--header if line 1 names the columns"),
    "either": ("from,to,7\na,b,3\n", [], "--header if this line names the columns, --no-header if it is an edge"),
    "no such column": ("a,b\n0,1\n", ["--columns", "a,c"], "--columns: expected some of ['a', 'b'], got 'c'"),
    "no edges": ("# none\n", [], "--size sets the number of vertices"),
    "size of names": ("a,b\n", ["--labels", "--size", "3"], "--size: expected none together with --labels"),
    "not square": (
        "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n", ["--input-format", "mtx", "--undirected"],
        "--undirected: expected a square matrix, got 2 x 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text, options, said", MISTAKES.values(), ids=MISTAKES)
def test_commands_name_their_own_options(capsys, tmp_path, text, options, said):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert cli.main(["info", str(path), "--device", "cpu", *options]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert not re.search(r"\b(labels|header|weights|directed|columns|delimiter|base|size|decimal|dup_op)=", err)


@pytest.mark.filterwarnings("always")
def test_warnings_of_commands(capsys, tmp_path):
    path = tmp_path / "a.csv"
    for text, options, said in (
        ("7000001,7000002\n", [], "--labels if these are ids, --size if this is intended"),
        ("boss,clerk\nx,y\nz,w\n", [], "--header if it names the columns, --no-header if not"),
        ("0,1\n1,002\n", [], "have leading zeros: pass --labels if 007 is a name"),
        ("a;b,c\nd;e,f\n", [], "pass --delimiter ';' if it separates columns"),
        ("a,b,2\nb,a,2\n", ["--undirected", "--dup-op", "plus"], "omit --undirected or pass --dup-op max"),
        ("a,b,2\nb,a,3\n", ["--undirected"], "the smaller is kept. Hint: --dup-op combines them"),
    ):
        path.write_text(text)
        assert cli.main(["components", str(path), "--device", "cpu", *options]) == 0
        assert said in capsys.readouterr().err
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"n": [0, 1], "a": [1, 2], "b": [2, 3], "w": ["x", "y"]}).to_parquet(tmp_path / "a.parquet")
    for options, status, said in (
        (["--columns", "a,b,w"], 2, "the column holds text: --no-weights"),
        (["--columns", "a,b", "--base", "1"], 0, ""), (["--columns", "a,b,w", "--no-weights", "--base", "1"], 0, ""),
        (["--columns", "a,b"], 0, "pass --base 1 or --labels"), (["--header"], 2, "options of edge lists (--header)"),
    ):  # fmt: skip
        assert cli.main(["info", str(tmp_path / "a.parquet"), "--device", "cpu", *options]) == status
        err = capsys.readouterr().err
        assert said in err and (said or not err)
