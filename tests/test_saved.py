"""Saved matrices: every format and dtype is restored, mapped or copied, and can be computed with."""

import zlib

import numpy as np
import pytest
from battery import DTYPES, FORMS, MATRICES, generator, values

import bitblas as gb
from bitblas.exceptions import InvalidValue
from bitblas.formats import container
from bitblas.formats.container import Container

KEYS = tuple(FORMS)


def make(which: str, key: str, dtype: str | None = None, **how) -> gb.Matrix:
    p = MATRICES[which]()
    x = True if dtype is None else values(generator(which), dtype, len(p.rows))
    return gb.Matrix.from_coo(p.rows, p.cols, x, dtype, nrows=p.nrows, ncols=p.ncols, **FORMS[key], **how)


def assert_same(A, B) -> None:
    """The same forms, arrays and values, to the bit."""
    assert (A.format, A.dtype, A.shape, A.nvals, A.name) == (B.format, B.dtype, B.shape, B.nvals, B.name)
    a, b = A._store, B._store
    host = lambda d, x: np.asarray(d.to_host(x)).tobytes()
    for key, transposed, form, order in b.structure.forms():
        twin = a.structure.layout(key, transposed=transposed)
        assert twin.numbers() == form.numbers()
        for (name, x), (_, y) in zip(form.arrays().items(), twin.arrays().items(), strict=True):
            assert host(b.device, x) == host(a.device, y) and x.dtype == y.dtype, name
        if order is not None:
            assert host(b.device, order) == host(a.device, a.structure.order(key, transposed=transposed))
    assert a.iso == b.iso and host(a.device, a.values) == host(b.device, b.values)


@pytest.mark.in_turn
@pytest.mark.parametrize("key", KEYS)
def test_every_form_comes_back(device, key, tmp_path):
    for k, name in enumerate(("gaps", "symmetric", "no entries", "hub", "wide")):
        for dtype in (None, DTYPES[(k + KEYS.index(key)) % len(DTYPES)]):
            A = make(name, key, dtype, name="A")
            A.save(tmp_path / "a.bitblas")
            for verify in (False, True):
                B = gb.Matrix.load(tmp_path / "a.bitblas", verify=verify)
                assert_same(A, B)
                assert len(B.memory().forms) == 1
            assert gb.load(tmp_path / "a.bitblas", format="csr", name="C").format == "csr"


def test_all_forms_come_back(device, tmp_path):
    for name in ("gaps", "symmetric"):
        A = make(name, "b2sr8", "FP64")
        A.T.new()
        A._store.structure.order("csr")
        A.save(tmp_path / "a.bitblas", forms=True)
        B = gb.load(tmp_path / "a.bitblas", verify=True)
        assert B.memory().forms == A.memory().forms and len(B.memory().forms) == 3
        assert_same(A, B)
        assert B.T.new().isequal(A.T.new())


def test_a_mapped_matrix_computes_and_its_file_and_arrays_stay(device, tmp_path):
    for key, dtype in (("csr", "FP64"), ("b2sr8", None), ("b2sr8", "INT64")):
        A, path = make("gaps", key, dtype), tmp_path / f"{key}{dtype}.bitblas"
        A.save(path)
        before = path.read_bytes()
        B = gb.load(path)
        # NumPy could write into mapped arrays: operations that did would change their sums.
        mapped = not device.startswith("cuda")
        arrays = [*B._store.structure.primary.arrays().values(), B._store.values] if mapped else []
        sums = [zlib.crc32(np.ascontiguousarray(x)) for x in arrays]
        v = gb.Vector.from_dense(np.arange(A.ncols) % 3 + 0.5)
        ring = gb.semiring.plus_second if dtype is None else gb.semiring.plus_times
        assert B.mxv(v, ring).new().isequal(A.mxv(v, ring).new())
        assert B.T.new().isequal(A.T.new()) and B.dup().isequal(A)
        C = B.dup()
        v.vxm(B, ring).new()
        C(~C.S, gb.replace) << B.ewise_mult(B, gb.binary.times)
        C << B.T
        B(C.S) << B.select("tril")
        C[1, 1] = B[0, 0] = 7
        _ = C.nvals, B.nvals, B.T.new(), C.T.new(), B[::-1, :].new(), B.dup().resize(5, 5)
        assert path.read_bytes() == before and [zlib.crc32(np.ascontiguousarray(x)) for x in arrays] == sums
        A.save(path)  # replaces the file; mapped arrays stay valid
        del A
        assert gb.load(path, verify=True)._store.structure.primary.check() is None


def test_blocks(device, tmp_path, monkeypatch):
    """Arrays of several blocks, on all devices the same file."""
    monkeypatch.setattr(container, "BLOCK", 64)
    A, path = make("gaps", "b2sr16", "FP64"), tmp_path / "a.bitblas"
    A.save(path)
    file = Container(path)
    assert len(file.sums) > 20
    assert_same(A, gb.load(path, verify=True))
    data = bytearray(path.read_bytes())
    data[file.sections[1].arrays["bits"].offset + 70] ^= 4
    path.write_bytes(data)
    with pytest.raises(InvalidValue, match=r"bits of section 'form'"):
        gb.load(path, verify=True)


def test_pending_writes_are_saved_and_optional_sections_left_out(tmp_path):
    path = tmp_path / "small.bitblas"
    with gb.config.set(device="cpu"):
        A = gb.Matrix(int, 3, 3, name="A")
        A[1, 2] = 5
        A.save(path)
        assert gb.load(path).to_dicts() == {1: {2: 5}}
        file = Container(path)
        sections = [s._replace(arrays=file.load(s, A.device, True)) for s in file.sections]
        more = container.Section("pictures", {}, {"x": np.arange(3)}, required=False)
        container.write(path, [*sections, more], A.device)
        assert gb.load(path, verify=True).to_dicts() == {1: {2: 5}}


@pytest.mark.parametrize("names", [["Ulm", "", "Åbo \ud83d", "a\nb"], [7, -1, 1 << 62, 0], None])
def test_a_graph_keeps_its_names(device, tmp_path, names):
    """And whether it has directions; a reader of the matrix alone finds that, and so does one of before."""
    path, before = tmp_path / "a.bitblas", tmp_path / "before.bitblas"
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 0, 3, 2], [1.5, 1.5, 2.5, 2.5], nrows=4, ncols=4)
    for directed in (True, False, None):
        gb.Graph(A, names, directed=directed).write(path)
        found = gb.Graph.read(path)
        assert found.labels == (None if names is None else tuple(names)) and found.directed == bool(directed)
        assert found.matrix.isequal(A, check_dtype=True) and gb.load(path, verify=True).isequal(A)
    A.save(before)
    with pytest.warns(UserWarning, match="every edge is present in both directions"):
        found = gb.Graph.read(before)
    assert found.labels is None and found.directed and not gb.Graph.read(before, directed=False).directed


def test_names_that_no_file_holds_and_damage(tmp_path):
    """Names of other kinds are left out with a warning; every changed byte of names is found, and what does not fit."""
    path = tmp_path / "a.bitblas"
    with gb.config.set(device="cpu"):
        A = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2)
        with pytest.warns(UserWarning, match="cannot store the names of the vertices"):
            gb.Graph(A, [(1, 2), "b"]).write(path)
        with pytest.raises(InvalidValue, match="labels: expected all strings or all integers"):
            gb.io.write(path, A, labels=["a", 1])
        gb.io.write(path, A, labels=["Ulm", "Åbo"], forms=True)
        data, file = path.read_bytes(), Container(path)
        section = next(s for s in file.sections if s.name == "graph")
        for place in section.arrays.values():
            for k in range(place.offset, place.offset + place.nbytes):
                changed = bytearray(data)
                changed[k] ^= 1 << (k % 8)
                path.write_bytes(changed)
                with pytest.raises(InvalidValue, match=r"a\.bitblas: damaged: .*of section 'graph'"):
                    gb.Graph.read(path)
        path.write_bytes(data)
        others = [s._replace(arrays=file.load(s, A.device, True)) for s in file.sections if s is not section]
        text, ends = np.frombuffer(b"ab", np.uint8), np.array([1, 2])
        for facts, arrays, said in (
            ({"labels": "text"}, {"text": text, "ends": ends[::-1].copy()}, "ends that do not fit"),
            ({"labels": "text"}, {"text": text, "ends": ends - 1}, "ends that do not fit"),
            ({"labels": "text"}, {"text": text, "ends": ends[1:]}, "1 of 2"),
            ({"labels": "text"}, {"text": text + np.uint8(128), "ends": ends}, "expected vertex labels, got damaged"),
            ({"labels": "text"}, {"text": ends, "ends": ends}, "expected vertex labels, got damaged"),
            ({"labels": "text"}, {"ends": ends}, "expected vertex labels, got damaged"),
            ({"labels": "integers"}, {"numbers": ends * 0}, "got 0 at positions 0 and 1"),
            ({"labels": "integers"}, {"numbers": ends * 0.5}, "expected vertex labels, got damaged"),
            ({"labels": "dates"}, {}, "expected the facts of a graph"), ({"directed": 2}, {}, "expected the facts"),
        ):  # fmt: skip
            container.write(path, [*others, container.Section("graph", facts, arrays, required=False)], A.device)
            with pytest.raises(InvalidValue, match=rf"a\.bitblas: .*{said}"):
                gb.Graph.read(path)
            assert gb.load(path, verify=True).isequal(A)


def test_a_reordered_matrix_keeps_its_order(device, tmp_path):
    i, j = np.array([0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 0])
    A = gb.Matrix.from_coo(i, j, np.arange(5.0), nrows=5, ncols=5)
    B = A.reorder(np.array([4, 2, 0, 1, 3]))
    B.save(tmp_path / "a.bitblas")
    C = gb.load(tmp_path / "a.bitblas", verify=True)
    assert C.isequal(A) and C._stored.order is B._stored.order is not None
    assert C.mxv(gb.Vector.from_dense(np.ones(5)), gb.semiring.plus_times).new().to_dict() == dict(enumerate(range(5)))
