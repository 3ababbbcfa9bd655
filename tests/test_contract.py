"""The contract of stored forms (bitblas/formats/contract.py): every form keeps all of it, in one shape."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from battery import FORMS, MATRICES
from test_formats import assert_sound, host, make

from bitblas.exceptions import Panic
from bitblas.formats import FORMATS, NAMES, Format, Layout, format_of, forms


@pytest.mark.parametrize("kind", forms(), ids=lambda kind: kind.__name__)
def test_forms_keep_the_contract(kind):
    """Every member of the contract is there, and takes the same arguments."""
    members = [name for name in vars(Layout) if not name.startswith("_")]
    assert {"transpose", "equals", "filter", "ranks", "from_csr", "unit_contents"} <= set(members)
    made = make(MATRICES["gaps"](), True, "BOOL", kind.formats[0].key)._store.structure.primary
    assert type(made) is kind and made.format is kind.formats[0]
    for name in (*members, *Layout.__annotations__):
        assert hasattr(made, name), f"{kind.__name__}.{name}"
        wanted = getattr(Layout, name, None)
        if inspect.isfunction(wanted) or inspect.ismethod(wanted):
            given = inspect.signature(getattr(kind, name)).parameters
            expected = inspect.signature(wanted).parameters
            assert [(p.name, p.default) for p in given.values()] == [(p.name, p.default) for p in expected.values()], (
                name
            )


@pytest.mark.parametrize("format", FORMATS.values(), ids=lambda format: format.key)
def test_formats_keep_the_contract(format):
    """Attributes and methods of a format have the types and signatures of `Format`."""
    assert format_of(format.key) is format and format.units(65) == -(-65 // format.rows_per_unit)
    for name, wanted in inspect.getmembers(Format, inspect.isfunction):
        if not name.startswith("_"):
            given, expected = (inspect.signature(f).parameters.values() for f in (getattr(type(format), name), wanted))
            assert [(p.name, p.default) for p in given] == [(p.name, p.default) for p in expected], name


def test_a_question_that_a_format_does_not_answer():
    """The error names the format and the missing operation."""
    with pytest.raises(Panic, match=r"<format csr> does not implement `count`"):
        format_of("csr").count(None)
    for kind in forms():
        for format in kind.formats:
            assert format.counts != "own" or type(format).count is not Format.count
            assert not format.dot_indices or type(format).dot_constants is not Format.dot_constants
            assert not format.wide or type(format).wide_constants is not Format.wide_constants


@pytest.mark.parametrize("key", FORMS)
def test_filter(device, key):
    """The entries that are kept, and their values, of every form in one way."""
    for name in ("gaps", "wide", "no entries"):
        p = MATRICES[name]()
        A = make(p, np.arange(len(p.rows)), "INT64", key)._store
        keep = np.arange(A.nvals) % 3 != 1
        form, taken = A.structure.primary.filter(A.device.asarray(keep))
        rows, cols = map(host, form.coo())
        place = {at: k for k, at in enumerate(zip(p.rows.tolist(), p.cols.tolist(), strict=True))}
        found = [place[at] for at in zip(rows.tolist(), cols.tolist(), strict=True)]
        assert form.key == key and host(A.taken(taken)).tolist() == found
        assert sorted(found) == sorted(host(A.values)[keep].tolist())
        assert_sound(form)


def test_the_page_of_forms_has_them_all():
    text = (Path(__file__).parents[1] / "docs" / "formats.md").read_text()
    assert [name for name in NAMES if f'format="{name}"' not in text and f"`{name}" not in text] == []
