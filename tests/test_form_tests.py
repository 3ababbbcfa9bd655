"""No module outside bitblas/formats/ tests the class of a layout: it reads capabilities of the layout or its format.

Requesting a layout by its key is allowed, and so is comparing a key with CSR, the format of new matrices.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from test_house import MODULES

from bitblas.formats import NAMES, forms

CLASSES = {form.__name__ for form in forms()}
# Formats of other libraries, some with the same names.
OTHERS = ("bitblas.io", "bitblas.core.ss", "bitblas.core.matrix.build")


def is_key(x: object) -> bool:
    """Whether it is the key of a form, or the beginning of one."""
    return isinstance(x, str) and x.rstrip("0123456789") in NAMES


def constants(node: ast.expr) -> list[object]:
    """The constants that a comparison or a call is given, also in a tuple."""
    return [leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant)]


def names(node: ast.expr) -> set[str]:
    found = (getattr(leaf, "id", getattr(leaf, "attr", "")) for leaf in ast.walk(node))
    return {name for name in found if name}


def kind_tests(text: str) -> Iterator[str]:
    """The tests of the kind of a form in a module: by class, by a set of keys, by a key or by a part of one."""
    for node in ast.walk(ast.parse(text)):
        wrong = False
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called == "isinstance":
                wrong = bool(names(node.args[1]) & CLASSES)
            elif called in ("startswith", "endswith", "removeprefix"):
                wrong = any(is_key(x) for arg in node.args for x in constants(arg))
            elif called in ("rstrip", "strip"):
                wrong = any(x == "0123456789" for arg in node.args for x in constants(arg))
        elif isinstance(node, ast.Compare):
            parts = (node.left, *node.comparators)
            wrong = any(ast.unparse(part) in ("ROWS", "formats.ROWS") for part in parts)
            wrong = wrong or any(is_key(x) for part in parts if not isinstance(part, ast.Call) for x in constants(part))
        elif isinstance(node, ast.JoinedStr):  # keys are made by their format
            wrong = isinstance(node.values[0], ast.Constant) and is_key(node.values[0].value) and len(node.values) == 2
        elif isinstance(node, ast.Dict):  # a decision by key
            wrong = any(is_key(x) for key in node.keys if key is not None for x in constants(key))
        if wrong:
            yield f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("bitblas") and not m.startswith(OTHERS)])
def test_the_kind_of_a_form_is_not_tested(module):
    if not module.startswith("bitblas.formats"):
        assert list(kind_tests(MODULES[module].read_text())) == []


@pytest.mark.parametrize("text", [
    "isinstance(form, Split)", "isinstance(form, (Csr, mplg.Mplg))", "key in ROWS", "form.key not in formats.ROWS",
    "key.startswith('split')", "key.startswith(('b2sr', 'x'))", "key == 'b2sr8'", "x = 1 if key != 'mplg' else 2",
    "key in ('csr', 'mplg')", "f'b2sr{tile}'", "int(key[len(key.rstrip('0123456789')):])", "{'csr': 1}[key]",
])  # fmt: skip
def test_a_test_is_found(text):
    assert len(list(kind_tests(text))) == 1


@pytest.mark.parametrize("text", [
    "structure.layout(CSR)", "key == CSR", "structure.order('csr')", "isinstance(form, Form)", "format_of(key).by_rows",
    "Matrix.from_coo(i, j, True, format='csr')", "f'{name}{tile}'", "found is Ask.ROWS",
])  # fmt: skip
def test_asking_for_a_form_is_none(text):
    assert list(kind_tests(text)) == []
