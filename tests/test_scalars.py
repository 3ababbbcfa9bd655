"""Scalars, and operators and infix of Python's numbers, against python-graphblas."""

import pytest
from both_libraries import both, each
from object_programs import NUMBERS, SCALARS

import bitblas

pytest.importorskip("graphblas")


@pytest.mark.parametrize("text", each(SCALARS))
def test_scalar(device, text):
    both(f"r = {text}", "r")


NAMED = "x, y, t, f = (Scalar.from_value(k) for k in (3, 2.5, True, False)); z, o = Scalar(int), Scalar(bool); "


@pytest.mark.in_turn
@pytest.mark.parametrize("text", each(NUMBERS))
def test_operator_of_numbers(device, text):
    both(NAMED + (f"r = {text}" if "<<" not in text else f"{text}; r = x"), "r")


def test_masks_of_single_values():
    v = bitblas.Vector.from_coo([0, 1], [1, 2], device="cpu")
    s, of_matrix = bitblas.Scalar.from_value(1), bitblas.Matrix(int, 2, 2, device="cpu").S
    for call, error, match in (
        (lambda: v[0].new(mask=v.S), ValueError, "mask: not allowed"),
        (lambda: v[0].new(input_mask=v.S), ValueError, "input_mask: not allowed"),
        (lambda: v(input_mask=v), TypeError, "mask"),
        (lambda: v[[0, 1]].new(input_mask=of_matrix), TypeError, "input_mask: expected the mask of a Vector"),
        (lambda: s()[0], TypeError, "a Scalar has no positions"),
        (lambda: s().__setitem__(0, 1), TypeError, "a Scalar has no positions"),
        (lambda: s().__delitem__(0), TypeError, "a Scalar has no positions"),
    ):
        with pytest.raises(error, match=match):
            call()


def test_what_scalars_do_more(device):
    """python-graphblas turns `1 | s` round, has no default for `s | True`, and an AttributeError for range(2.5)."""
    x, t = bitblas.Scalar.from_value(3), bitblas.Scalar.from_value(True)
    assert bitblas.binary.minus(1 | x).new().value == -2
    assert (t & False).new().value is False and (True | t).new().value is True
    with pytest.raises(TypeError, match="integer Scalar"):
        range(x / 2)
    with pytest.raises(TypeError, match="scalar"):
        x | "a"
    with pytest.raises(bitblas.exceptions.EmptyObject, match="left_default"):
        x.ewise_union(x, "minus", bitblas.Scalar(int), 0)
