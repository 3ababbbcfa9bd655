"""Files of saved matrices that are damaged, truncated, of another kind, or malicious: rejected with name and reason;
and files that were not written completely."""

from __future__ import annotations

import functools
import itertools
import json
import operator
import struct
import zlib

import numpy as np
import pytest
from battery import FORMS, MATRICES

import bitblas as gb
from bitblas import atomic as whole
from bitblas.exceptions import InvalidValue
from bitblas.formats import container
from bitblas.formats.container import ALIGN, HEAD, Container


@pytest.fixture
def saved(tmp_path):
    """A small file and its matrix."""
    with gb.config.set(device="cpu"):
        A = gb.Matrix.from_coo([0, 1, 2, 4], [1, 2, 0, 4], [1.5, 2.5, 3.5, 4.5], nrows=5, ncols=5, name="x" * 64)
        path = tmp_path / "small.bitblas"
        A.save(path)
        yield path, path.read_bytes(), A


def refused(path, data: bytes, match: str = "") -> None:
    path.write_bytes(data)
    with pytest.raises(InvalidValue, match=f"small.bitblas: .*{match}"):
        gb.load(path, verify=True)


def sizes_of(data: bytes) -> tuple[int, int]:
    """Bytes of the text, and the number of sums."""
    return struct.unpack("=QQ", data[24:40])


def test_every_changed_byte_is_found(saved):
    path, data, A = saved
    holes = np.ones(len(data), bool)
    size, count = sizes_of(data)
    holes[: HEAD.size + size + 4 * count] = False
    for place in (place for section in Container(path).sections for place in section.arrays.values()):
        assert place.offset % ALIGN == 0
        holes[place.offset : place.offset + place.nbytes] = False
    assert holes.sum() < len(data) / 3
    for k in range(len(data)):
        changed = data[:k] + bytes([data[k] ^ 1 << k % 8]) + data[k + 1 :]
        if holes[k]:  # unused bytes change nothing
            path.write_bytes(changed)
            assert gb.load(path, verify=True).isequal(A)
        else:
            refused(path, changed)


def test_every_length_is_looked_at(saved):
    path, data, _ = saved
    sections = Container(path).sections
    for k in (0, 1, 8, 40, HEAD.size, HEAD.size + 9, len(data) // 2, len(data) - 1):
        refused(path, data[:k])
    refused(path, data + b"\0", "truncated or damaged")
    for place in (place for section in sections for place in section.arrays.values()):
        refused(path, data[: place.offset], "expected .* bytes")


def test_versions_and_byte_orders_are_told(saved):
    path, data, _ = saved
    head = list(HEAD.unpack(data[: HEAD.size]))
    refused(path, HEAD.pack(*head[:2], 1, *head[3:]) + data[HEAD.size :], "expected version 2 .* got version 1")
    refused(path, data[:8] + data[8:12][::-1] + data[12:], "the other byte order")
    refused(path, b"%%MatrixMarket matrix coordinate pattern", "begins with b'%%Matrix")
    refused(path, b"", "begins with b''")


def lied(data: bytes, change) -> bytes:
    """The file with another text, and a head that is right for it."""
    size, count = sizes_of(data)
    about = json.loads(data[HEAD.size : HEAD.size + size])
    about["sections"][0]["facts"]["name"] = "x"  # shorter, so that the wrong size fits
    text = json.dumps(change(about) or about).encode().ljust(size)
    assert len(text) == size, "so that all stands where it stood"
    body = text + data[HEAD.size + size : HEAD.size + size + 4 * count]
    head = list(HEAD.unpack(data[: HEAD.size]))
    check = zlib.crc32(body, zlib.crc32(HEAD.pack(*head[:6], 0)))
    return HEAD.pack(*head[:6], check) + body + data[HEAD.size + len(body) :]


LIES = {
    "shape": (lambda t: t["sections"][0]["facts"].update(nrows=4), "expected .4, 5, 4."),
    "nvals": (lambda t: t["sections"][0]["facts"].update(nvals=3), "expected"),
    "negative": (lambda t: t["sections"][1]["facts"]["numbers"].update(nrows=-1), "nrows: expected an integer"),
    "dtype": (lambda t: t["sections"][0]["facts"].update(dtype="INT8"), "values: expected 4 of INT8"),
    "no dtype": (lambda t: t["sections"][0]["facts"].update(dtype="X"), "dtype"),
    "iso": (lambda t: t["sections"][0]["facts"].update(iso=True), "values: expected"),
    "form": (lambda t: t["sections"][1]["facts"].update(key="b2"), "no 'b2'"),
    "kind of array": (lambda t: t["sections"][1]["arrays"][0].__setitem__(1, "O"), "numbers of 'O'"),
    "wrong type": (
        lambda t: t["sections"][1]["arrays"][0].__setitem__(1, "uint32"),
        "ptr: expected 6 numbers of int32",
    ),
    "length": (lambda t: t["sections"][1]["arrays"][0].__setitem__(2, 5), "ptr of section"),
    "long": (lambda t: t["sections"][1]["arrays"][0].__setitem__(2, 1 << 60), "according to the lengths of its arrays"),
    "text for a length": (lambda t: t["sections"][1]["arrays"][0].__setitem__(2, "6"), "of 'int32'"),
    "primary": (lambda t: t["sections"][1]["facts"].update(transposed=1), "a primary format that is a transpose"),
    "no form": (lambda t: t["sections"][1].update(name="y", required=False), "index out of range"),
    "newer": (lambda t: t["sections"][1].update(name="y"), "got 'y', which a newer bitblas may support"),
    "no sections": (lambda t: {"sections": []}, "bytes"),
    "no list": (lambda t: {"sections": 3}, "description"),
    "no matrix": (lambda t: t["sections"][0].update(name="form"), "nrows|no matrix"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_head_that_lies_is_refused(saved, lie):
    path, data, _ = saved
    change, match = LIES[lie]
    refused(path, lied(data, change), match)


NASTY = (None, True, -1, 0, 1, 3, 1 << 62, 2.5, "", "csr", "x", [], [1], {}, {"x": 1})


def leaves(x, path=()):
    """The places of all parts of a text."""
    yield path
    inside = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, part in inside:
        yield from leaves(part, (*path, key))


def test_whatever_the_head_says_is_refused_or_a_matrix(saved):
    """Every part of the header is replaced, with a right checksum: no other error is raised."""
    path, data, A = saved
    places = list(leaves(json.loads(data[HEAD.size : HEAD.size + sizes_of(data)[0]])))
    read = 0
    for place, nasty in itertools.product(places[1:], NASTY):

        def change(text, place=place, nasty=nasty):
            functools.reduce(operator.getitem, place[:-1], text)[place[-1]] = nasty

        path.write_bytes(lied(data, change))
        try:
            found = gb.load(path, verify=True, device="cpu")
        except InvalidValue as error:
            assert str(error).startswith(str(path))
            continue
        read += 1
        assert found.shape == A.shape and found.nvals == A.nvals
    assert len(places) > 30 and 0 < read < len(places) * len(NASTY) / 10


def refused_when_saved(A, folder, match: str, **how) -> None:
    path = folder / "small.bitblas"
    A.save(path, **how)
    refused(path, path.read_bytes(), match)


def test_arrays_that_lie_are_refused(tmp_path):
    """Sound checksums over nonsense: `verify` looks at the contents."""
    for key, name, value, match in (
        ("csr", "ptr", [0, 2, 1, 1, 1, 2], "do not decrease"),
        ("csr", "col", [4, 3], "col: expected numbers from 0 to 4"),
        ("csr", "col", [5], "col: expected numbers from 0 to 4"),
        ("csr", "col", [-1], "col: expected numbers from 0 to 4"),
        ("b2sr4", "bits", [1 << 15, 0], "at least one in each"),
        ("b2sr4", "bits", [3, 1 << 4], "none beyond the last row"),
        ("b2sr4", "bits", [3, 2], "none beyond the last row"),
    ):
        with gb.config.set(device="cpu"):
            A = gb.Matrix.from_coo([0, 0, 4], [1, 3, 4], True, nrows=5, ncols=5, **FORMS[key])
            getattr(A._store.structure.primary, name)[: len(value)] = value
            refused_when_saved(A, tmp_path, match)


def test_splits_that_lie_are_refused(tmp_path, on_the_cpu):
    p = MATRICES["wide"]()
    make = lambda: gb.Matrix.from_coo(p.rows, p.cols, True, nrows=33, ncols=200, **FORMS["split8"])
    for name, at, value, match in (
        ("starts", 4, 1 << 30, "do not decrease"),
        ("starts", 5, -1, "do not decrease"),
        ("col", slice(None), 0xFFFFFFFF, "col: expected numbers"),
        ("rest", slice(0, 3), 0, "expected numbers from 0 on that ascend"),
        ("rest", slice(-9, None), 0, "expected numbers from 1024 on that ascend"),
        ("rest", slice(-3, None), 0xFFFFFFFF, "entries of a matrix of 33 x 200|ascend"),
    ):
        A = make()
        getattr(A._store.structure.primary, name)[at] = value
        refused_when_saved(A, tmp_path, match)
    form = make()._store.structure.primary
    numbers = form.numbers()
    assert form.near_width == 10
    for change, match in (
        ({"near_width": 0}, "near_width: expected 0, or 6 to 10 bits, got 0 for"),
        ({"near_width": 11}, "near_width"),
        ({"near_width": 5}, "near_width"),
        ({"in_near": form.nvals}, "near"),
        ({"in_near": form.in_near - 40}, "rest: expected [0-9]+ numbers"),
        ({"tile": 32}, "a tile of 32"),
    ):
        with pytest.raises(ValueError, match=match):
            type(form).restored(form.device, numbers | change, form.arrays())
    # Saved before near entries were stored separately.
    old = {name: numbers[name] for name in ("nrows", "ncols", "nvals", "tile", "tiles", "in_tiles")}
    arrays = {{"starts": "pairs"}.get(name, name): array for name, array in form.arrays().items()}
    for some, others in ((old, arrays), (numbers, arrays)):
        with pytest.raises(ValueError, match=r"numbers: expected|arrays: expected"):
            type(form).restored(form.device, some, others)


def test_places_and_bools_are_looked_at(tmp_path, on_the_cpu):
    A = gb.Matrix.from_coo([0, 0, 4], [1, 3, 4], [1.0, 2, 3], nrows=5, ncols=5, format="csr")
    A._store.structure.order("csr", transposed=True)[:] = [0, 0, 2]
    refused_when_saved(A, tmp_path, "places: expected every integer once", forms=True)
    B = gb.Matrix.from_coo([0, 1], [1, 1], [True, False], format="csr")
    B._store.values.view(np.uint8)[0] = 7
    refused_when_saved(B, tmp_path, "bytes of 0 and 1")


def test_a_gpu_checks_what_it_copies(saved, emulator):
    path, data, _ = saved
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert gb.load(path, device="cpu").nvals == 4, "not read"
    with pytest.raises(InvalidValue, match="damaged: bytes"):
        gb.load(path, device="emulator")


def test_an_interrupted_save_leaves_the_old_file(saved, monkeypatch):
    path, data, A = saved
    B = gb.Matrix.from_coo([0], [1], True, device="cpu")

    for target, name in ((container.zlib, "crc32"), (whole.os, "fsync"), (whole.os, "replace")):
        with monkeypatch.context() as m, pytest.raises(ZeroDivisionError):
            m.setattr(target, name, lambda *args: 1 / 0)
            B.save(path)
        assert path.read_bytes() == data and list(path.parent.iterdir()) == [path]
    assert gb.load(path, verify=True, device="cpu").isequal(A)
    for call in (lambda: B.save(path.parent / "none" / "x.bitblas"), lambda: gb.load(path.parent / "none.bitblas")):
        with pytest.raises(FileNotFoundError):
            call()
