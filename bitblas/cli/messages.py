"""Translate library messages for the command line: Python arguments become options.

The library names its arguments (`labels=True`); every message that the command line prints passes through `as_options`.
"""

from __future__ import annotations

import ast
import re
import shlex

from .commands import FLAGS

# Arguments whose values have options of their own.
WHOLE = {
    ("directed", "False"): "--undirected", ("directed", "True"): "--directed", ("labels", "True"): "--labels",
    ("header", "False"): "--no-header", ("header", "True"): "--header",
    ("weight", "None"): "--no-weights", ("weights", "False"): "--no-weights",
}  # fmt: skip
# Arguments whose value follows the option.
VALUED = {name: f"--{name.replace('_', '-')}" for name in "base columns decimal delimiter dtype dup_op".split()}
VALUED |= {"file_format": "--input-format", "max_iter": "--max-iter", "size": "--size", "tol": "--tol"}
# Arguments that begin a message.
NAMED = VALUED | {name: f"--{name}" for name in ("field", "layout", "precision", "symmetry")}
MARKS = {"\t": "tab", " ": "space"}
# Hints that apply only to Python, and their replacements.
CLI_HINTS = {
    "if the encoding differs, pass open(path, encoding='cp1252')": "iconv -f cp1252 -t utf-8 converts it to UTF-8",
}
_VALUE = r"""\[[^\]]*\]|'[^']*'|"[^"]*"|True|False|None|\d+(?:\.\d+)?"""
_ARGUMENT = re.compile(rf"(?<![\w./\\-])({'|'.join({name for name, _ in WHOLE} | set(VALUED))})=({_VALUE})?(?![\w/\\])")
_FIRST = re.compile(rf"(?:(?<=^)|(?<=: ))({'|'.join(NAMED)})(?=: expected)")
_OF_ALGORITHM = re.compile(r"\bargument (\w+)(?=: expected)")
_DUP_OP = re.compile(r"(?<![\w./\\-])dup_op(?![\w/\\=])")


def as_options(text: str) -> str:
    """Replace Python arguments in a message by command-line options."""
    text = _OF_ALGORITHM.sub(_named, text)
    for words, instead in CLI_HINTS.items():
        text = text.replace(words, instead)
    text = _FIRST.sub(lambda found: NAMED[found[1]], text)
    return _DUP_OP.sub("--dup-op", _ARGUMENT.sub(_option, text))


def _named(found: re.Match[str]) -> str:
    """The beginning of a message about an argument of an algorithm."""
    flag = f"--{found[1].replace('_', '-')}"
    return "the graph" if found[1] == "A" else flag if flag in FLAGS else found[0]


def _option(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    if (name, value) in WHOLE:
        return WHOLE[name, value]
    if name not in VALUED:
        return found[0]
    return VALUED[name] if value is None else f"{VALUED[name]} {_value(value)}"


def _value(text: str) -> str:
    """A Python literal quoted for the shell."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    if isinstance(value, list):
        return shlex.quote(",".join(map(str, value)))
    return MARKS.get(value, shlex.quote(str(value)))
