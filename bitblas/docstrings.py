"""Docstrings in NumPy's style, from the dense form that sources have: `name: text.` for each parameter, `Returns ...`,
`Raises Error (reason), ...`.

Algorithms are converted when they are registered, so that `help` shows sections; the site converts everything else.
"""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Iterable
from typing import NamedTuple

TYPES = r"(?:an? )?(Matrix|Vector|Scalar|Graph|Values|int|float|bool|str)(?= >=| >|,|;|:|\.| of | in |$)"
ERROR = r"[A-Z][A-Za-z]*[a-z](?:Error|Bound|Value|Mismatch|Memory|NotEmpty|Type|Warning|Exception)?"
CASES = r"for|as|if|without|unless|when|out of|beyond|otherwise|below"
START = re.compile(r"(?:^|(?<=[.;] ))(?:(\w+(?:, \w+)*): |(Returns) |(Raises) )")
KNOWN = frozenset({name for name in vars(builtins) if name.endswith("Error")}) | {
    "DimensionMismatch", "DomainMismatch", "IndexOutOfBound", "InvalidValue", "OutOfMemory", "OutputNotEmpty",
    "CaptureError", "DeviceError", "EmptyObject", "UdfParseError", "GraphblasException",
}  # fmt: skip


class Parameter(NamedTuple):
    """names: one or several with one description. kind: a type, or empty."""

    names: str
    kind: str
    text: str


class Failure(NamedTuple):
    """An exception and when it is raised, or empty."""

    error: str
    text: str


class Parts(NamedTuple):
    """A docstring: paragraphs of prose, and what it states of the call."""

    prose: list[str]
    parameters: list[Parameter]
    returns: str
    raises: list[Failure]


def split(doc: str, parameters: Iterable[str]) -> Parts:
    """The parts of a docstring of a function with these parameters."""
    found = Parts([], [], "", [])
    names = set(parameters)
    returns = []
    for paragraph in inspect.cleandoc(doc).split("\n\n"):
        if re.search(r"^( {4}|- |\d\. |\| |```|>>> )", paragraph, re.M):
            found.prose.append(paragraph)
            continue
        text, prose = " ".join(paragraph.split()), []
        marks = [
            mark
            for mark in START.finditer(text)
            if (not mark[1] or names.issuperset(mark[1].split(", ")))
            and text.count("(", 0, mark.start()) == text.count(")", 0, mark.start())
        ]
        if not marks:
            left = _without_errors(text, found.raises)
            found.prose.append(paragraph if left == text else left)
            continue
        cuts = [0, *(mark.start() for mark in marks), len(text)]
        for mark, begin, end in zip([None, *marks], cuts, cuts[1:]):
            part = text[begin:end].strip()
            if mark is None:
                prose.append(part)
            elif mark[1]:
                found.parameters.append(_parameter(mark[1], text[mark.end() : end].strip()))
            elif mark[2]:
                returns.append(text[mark.end() : end].strip())
            else:
                failures, rest = _failures(text[mark.end() : end].strip())
                found.raises.extend(failures)
                prose.append(rest)
        found.prose.extend(filter(None, (_without_errors(part, found.raises) for part in prose)))
    return found._replace(returns=" ".join(returns))


def numpy_style(
    doc: str, parameters: Iterable[str], *, optional: Iterable[str] = (), returns: str = "", references: str = ""
) -> str:
    """The docstring with sections; unchanged if it has some. optional: names of parameters with a default. returns: the
    type of the result, if the text does not begin with it. references: lines of a section of that name."""
    if re.search(r"^-{4,}$", doc, re.M):
        return inspect.cleandoc(doc)
    names = list(parameters)
    return rendered(split(doc, names), names, optional=optional, returns=returns, references=references)


def optional_names(signature: inspect.Signature) -> list[str]:
    """The parameters that have a default."""
    return [name for name, p in signature.parameters.items() if p.default is not p.empty]


def rendered(
    parts: Parts, names: Iterable[str] = (), *, optional: Iterable[str] = (), returns: str = "", references: str = ""
) -> str:
    """The text of a docstring with these parts. names: of the parameters, which stay in lower case."""
    optional, names = set(optional), set(names)
    blocks = [part if len(part) <= 120 else _wrapped(part) for part in parts.prose[:1]]
    if parts.parameters:
        lines = []
        for p in parts.parameters:
            some = ["optional"] if optional & set(p.names.split(", ")) else []
            kinds = ", ".join([p.kind, *some] if p.kind else some)
            lines += [f"{p.names} : {kinds}" if kinds else p.names, _wrapped(_sentence(p.text, names), 4)]
        blocks.append(_section("Parameters", lines))
    if parts.returns:
        kind, text = _result(parts.returns, returns)
        blocks.append(_section("Returns", [kind, *([_wrapped(_sentence(text, names), 4)] if text else [])]))
    if parts.raises:
        lines = []
        for failure in parts.raises:
            lines += [failure.error, *([_wrapped(_sentence(failure.text, names), 4)] if failure.text else [])]
        blocks.append(_section("Raises", lines))
    notes = [_wrapped(part) for part in parts.prose[1:]]
    if notes and len(blocks) > 1:
        blocks.append(_section("Notes", ["\n\n".join(notes)]))
    else:
        blocks[1:1] = notes
    if references:
        blocks.append(_section("References", references.splitlines()))
    return "\n\n".join(blocks)


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, "-" * len(title), *lines])


def _parameter(names: str, text: str) -> Parameter:
    if kind := re.match(TYPES, text):
        return Parameter(names, kind[1], text[kind.end() :].lstrip(",;:. "))
    return Parameter(names, "", text)


def _result(text: str, kind: str) -> tuple[str, str]:
    """The type and the description of a result. kind: the type, if it is known."""
    head = re.match(r"(?:an? |the )?(Python int or float|Python int|Python float|Python bool|Matrix|Vector)\b", text)
    if kind and (kind.startswith("tuple") or not head):
        return kind, text
    if head:
        return kind or head[1].removeprefix("Python "), text[head.end() :].lstrip(",;:. ")
    return text.rstrip("."), ""


def _failures(text: str) -> tuple[list[Failure], str]:
    """Exceptions with their reasons at the beginning of a text, and the rest of it."""
    found: list[Failure] = []
    while match := re.match(rf"(?:and )?({ERROR})\b", text):
        if match[1] not in KNOWN:
            break
        rest, reason = text[match.end() :].lstrip(), ""
        if rest.startswith("("):
            end = _closing(rest)
            reason, rest = rest[1:end], rest[end + 1 :]
        elif case := re.match(rf"(?:{CASES})\b.*?(?=[,;] (?:and )?{ERROR}\b|\. |\.$|$)", rest):
            reason, rest = case[0], rest[case.end() :]
        elif case := re.match(r", with .*?(?=[;.]|$)", rest):
            reason, rest = case[0][2:], rest[case.end() :]
        found.append(Failure(match[1], reason))
        text = rest.lstrip()
        if text[:1] not in (",", ";"):
            return found, text.lstrip(".; ").strip()
        text = text[1:].lstrip()
    if not text:
        return found, ""
    also = "Also raises" if found and text.startswith(("and the", "the")) else "Raises"
    return found, f"{also} {text.removeprefix('and ')}"


def _without_errors(prose: str, raises: list[Failure]) -> str:
    """Prose without its last sentences that begin with an exception, which become failures."""
    while sentence := re.search(rf"(?:^|(?<=[.] ))({ERROR})(?: (?:{CASES})\b[^.]*|, with [^.]*)\.$", prose):
        if sentence[1] not in KNOWN or not sentence.start():
            break
        failures, rest = _failures(prose[sentence.start() :])
        if rest:
            break
        raises[:0], prose = failures, prose[: sentence.start()].strip()
    return prose


def _closing(text: str) -> int:
    """The position of the parenthesis that closes the first one."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return k
    return len(text)


def _sentence(text: str, names: set[str]) -> str:
    """With a period, and a capital letter unless it begins with a symbol or a parameter."""
    first = text.partition(" ")[0].rstrip(",;:")
    if first.isalpha() and first.islower() and (len(first) > 1 or first == "a") and first not in names:
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _wrapped(text: str, indent: int = 0, width: int = 100) -> str:
    """Lines of at most `width` characters. Lists, code and tables stay as they are."""
    space = " " * indent
    if "\n" in text:
        return "\n".join(space + line if line else "" for line in text.split("\n"))
    lines, line = [], space  # textwrap takes four times as long, and every algorithm is wrapped when it is loaded
    for word in text.split():
        if len(line) + len(word) > width and line != space:
            lines.append(line.rstrip())
            line = space
        line += word + " "
    return "\n".join([*lines, line.rstrip()])
