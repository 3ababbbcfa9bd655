"""The contract of stored forms (bitblas/formats/contract.py): every form keeps all of it, in one shape."""

from __future__ import annotations

import inspect
import typing
from pathlib import Path

import numpy as np
import pytest
from battery import FORMS, MATRICES
from test_formats import assert_sound, host, make
from test_house import CPU_ONLY, KERNELS

from bitblas.exceptions import Panic
from bitblas.formats import FORMATS, NAMES, Layout, class_of, contract, format_of, forms


def assert_overrides(cls: type, base: type) -> None:
    """Public methods of a subclass take the same arguments, with the same defaults, as those of its base class."""
    for name, wanted in inspect.getmembers(base, inspect.isroutine):
        if not name.startswith("_"):
            given, expected = (inspect.signature(f).parameters.values() for f in (getattr(cls, name), wanted))
            assert [(p.name, p.default) for p in given] == [(p.name, p.default) for p in expected], (cls, name)


@pytest.mark.parametrize("kind", forms(), ids=lambda kind: kind.__name__)
def test_forms_keep_the_contract(kind):
    """Every member of the contract is there, and takes the same arguments."""
    members = [name for name in vars(Layout) if not name.startswith("_")]
    assert {"transpose", "equals", "filter", "ranks", "from_csr", "arrays"} <= set(members)
    format = next(format for format in FORMATS.values() if class_of(format.key) is kind)
    made = make(MATRICES["gaps"](), True, "BOOL", format.key)._store.structure.primary
    assert type(made) is kind and made.format is format
    for name in (*members, "device", "nrows", "ncols", "nvals", "ptr", "col", "cache"):
        assert hasattr(made, name), f"{kind.__name__}.{name}"
    assert_overrides(kind, Layout)
    for name in ("from_csr", "to_csr", "arrays", "restored", "check"):  # what each format has to write
        assert getattr(kind, name).__qualname__ != f"Layout.{name}"


@pytest.mark.parametrize("format", FORMATS.values(), ids=lambda format: format.key)
def test_formats_keep_the_contract(format):
    """The cost model, the view and each kernel of a format have the methods and signatures of the contract."""
    assert format_of(format.key) is format and format.units(65) == -(-65 // format.rows_per_unit)
    assert_overrides(type(format.cost), contract.Cost)
    assert_overrides(type(format.view), contract.View)
    hints = typing.get_type_hints(contract.Kernels, {**vars(contract), "Csr": object, "Array": object})
    assert {"mxv.pull", "mxv.push"} <= set(format.kernels) <= set(hints)
    for name, kernel in format.kernels.items():
        kind = hints[name]
        if inspect.isclass(kind) and kind.__module__ == contract.__name__:
            assert kind in type(kernel).__mro__
            assert_overrides(type(kernel), kind)
        elif kind is str and name != "mxv":
            assert kernel in KERNELS or kernel in CPU_ONLY


def test_a_question_that_a_format_does_not_answer():
    """The error names the format and the missing prediction; kernels that a format lacks are absent."""
    with pytest.raises(Panic, match=r"<cost of csr> does not implement `count`"):
        format_of("csr").cost.count(None)
    for format in FORMATS.values():
        for name, kinds in (("count", ("own", "exact")), ("sample", ("own",))):
            found = getattr(type(format.cost), name) is not getattr(contract.Cost, name)
            assert found == (format.cost.counts in kinds)
    assert format_of("split8").kernels.get("dot") is None is format_of("virtual").kernels.get("advance")


@pytest.mark.in_turn
@pytest.mark.parametrize("key", FORMS)
def test_filter(device, key):
    """The entries that are kept, and their values, of every form in one way."""
    for name in ("gaps", "wide", "no entries"):
        p = MATRICES[name]()
        A = make(p, np.arange(len(p.rows)), "INT64", key)._store
        keep = np.arange(A.nvals) % 3 != 1
        form, taken = A.structure.primary.filter(A.device.asarray(keep))
        place = {at: k for k, at in enumerate(zip(p.rows.tolist(), p.cols.tolist(), strict=True))}
        found = [place[at] for at in zip(*(host(x).tolist() for x in form.coo()), strict=True)]
        assert form.key == key and host(A.taken(taken)).tolist() == found
        assert sorted(found) == sorted(host(A.values)[keep].tolist())
        assert_sound(form)


def test_the_page_of_forms_has_them_all():
    text = (Path(__file__).parents[1] / "docs" / "formats.md").read_text()
    assert [name for name in NAMES if f'format="{name}"' not in text and f"`{name}" not in text] == []
