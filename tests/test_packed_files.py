"""Files of matrices with packed values: loaded unchanged and mapped; damaged or inconsistent files are rejected."""

from __future__ import annotations

import numpy as np
import pytest
from battery import FORMS
from test_damage import refused
from test_packed_values import SOME, host, raw, uneven

import bitblas as gb
from bitblas import device as devices
from bitblas.cli import main
from bitblas.formats.container import Container, Section, write
from bitblas.formats.packing import PackedValues


@pytest.mark.parametrize("form", SOME)
def test_files(device, tmp_path, form):
    A, path = uneven(**FORMS[form], packed=True), tmp_path / "a.bitblas"
    A.T.new()
    A.save(path, forms=True)
    for how in ({}, {"verify": True}):
        B = gb.load(path, **how)
        assert isinstance(raw(B), PackedValues) and B.format == A.format
        assert host(raw(B).string).tobytes() == host(raw(A).string).tobytes() and B.isequal(A)
        assert (raw(B).base, raw(B).width, raw(B).dtype) == (raw(A).base, raw(A).width, raw(A).dtype)
    u = gb.Vector.from_coo(np.arange(0, A.nrows, 2), np.arange(A.nrows // 2), size=A.nrows)
    assert B.mxv(u, "min_plus").new().isequal(A.mxv(u, "min_plus").new())
    C = gb.load(path, packed=False)
    assert not isinstance(raw(C), PackedValues) and C.isequal(A)
    C.save(path)
    assert isinstance(raw(gb.load(path, packed=True)), PackedValues)
    with gb.config.set(prefer="memory"):
        assert not isinstance(raw(gb.load(path)), PackedValues)  # loading reads nothing


@pytest.fixture
def small(tmp_path):
    with gb.config.set(device="cpu"):
        A = gb.Matrix.from_coo([0, 1, 2, 4], [1, 2, 0, 4], np.array([100, 90, 127, 95], np.int8), packed=True, name="A")
        A.save(tmp_path / "small.bitblas")
        yield tmp_path / "small.bitblas", A


def test_damaged_files(small):
    path, _ = small
    data = path.read_bytes()
    place = Container(path).sections[0].arrays["values"]
    for k in (*range(0, len(data) // 2, 7), *range(place.offset, place.offset + place.nbytes)):
        if k >= place.offset or k < 64:
            refused(path, data[:k] + bytes([data[k] ^ 16]) + data[k + 1 :])
    for length in (0, 63, place.offset, place.offset + 3, len(data) - 1):
        refused(path, data[:length])


@pytest.mark.parametrize(
    ("lie", "match"),
    [
        ({"packed": {"base": 90, "width": 33}}, "1 to 32 bits, got 33"),
        ({"packed": {"base": 90, "width": 0}}, "1 to 32 bits, got 0"),
        ({"packed": {"base": 90, "width": True}}, "1 to 32 bits, got True"),
        ({"packed": {"base": 90.0, "width": 6}}, "a base of INT8, got 90.0"),
        ({"packed": {"base": -129, "width": 6}}, "a base of INT8, got -129"),
        ({"packed": {"base": 100, "width": 6}}, "expected INT8, got 137"),
        ({"packed": {"base": 90, "width": 16}}, "values: expected 3 of UINT32, got 2"),
        ({"packed": {"base": 90}}, "no 'width'"),
        ({"packed": None}, "values: expected 4 of INT8, got 2 of uint32"),
        ({"iso": True}, "one for all entries or packed ones, got both"),
        ({"dtype": "FP32", "packed": {"base": (1 << 24) + 1, "width": 6}}, "a base that FP32 holds"),
        ({"dtype": "FP64", "packed": {"base": 1 << 53, "width": 6}}, "expected FP64, got"),
    ],
)
def test_files_that_lie(small, lie, match):
    path, _ = small
    file = Container(path)
    cpu = devices.get("cpu")
    sections = [
        Section(s.name, s.facts | (lie if s.name == "matrix" else {}), file.load(s, cpu, True), s.required)
        for s in file.sections
    ]
    write(path, sections, cpu)
    refused(path, path.read_bytes(), match)


def test_readers_and_the_command_line(tmp_path, capsys):
    """Every reader of files passes it on; `convert --packed` writes it."""
    A, path = uneven(50, device="cpu"), tmp_path / "a.mtx"
    gb.io.mmwrite(path, A)
    gb.io.write(tmp_path / "a.tsv", A)
    gb.io.write(tmp_path / "a.npz", A)
    with gb.config.set(device="cpu"):
        found = [
            gb.io.mmread(path, packed=True), gb.io.mmread(path, packed=True, chunked=True),
            gb.io.read_npz(tmp_path / "a.npz", packed=True),
            gb.io.read(tmp_path / "a.tsv", size=50, packed=True).matrix,
            gb.io.from_scipy_sparse(gb.io.to_scipy_sparse(A), packed=True),
        ]  # fmt: skip
        assert main(["convert", str(path), "--out", str(tmp_path / "a.bitblas"), "--packed"]) == 0
        found.append(gb.load(tmp_path / "a.bitblas"))
        assert all(isinstance(raw(B), PackedValues) and B.isequal(A) for B in found)
        gb.io.mmwrite(path, (A / 7).new())
        assert main(["convert", str(path), "--out", str(tmp_path / "b.bitblas"), "--packed"]) != 0
    assert "packed: expected integers less than 2**32 apart, got" in capsys.readouterr().err
