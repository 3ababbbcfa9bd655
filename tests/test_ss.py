"""`A.ss`, `v.ss` and `gb.ss`: against python-graphblas, and beyond it."""

import sys

import numpy as np
import pytest
from both_libraries import both, each, operands

import bitblas
from bitblas import Matrix, Vector, agg, binary
from bitblas.exceptions import DimensionMismatch, InvalidObject, InvalidValue

oracle = pytest.importorskip("graphblas")

CHOOSING = """
A.ss.selectk("first", 2); A.ss.selectk("last", 3); A.ss.selectk("first", 1, order="col"); R.ss.selectk("last", 2, "F");
v.ss.selectk("first", 4); v.ss.selectk("last", 4); i.ss.selectk("first", 3); E.ss.selectk("first", 2);
v.reduce(monoid.max), v.ss.selectk("largest", 1).nvals; v.ss.selectk("smallest", 1).nvals; v.ss.selectk("first", 99);
A.ss.compactify(); A.ss.compactify("last"); A.ss.compactify("first", 3); A.ss.compactify("last", 3, reverse=True);
A.ss.compactify("smallest", order="columnwise"); A.ss.compactify("largest", 2, reverse=True);
A.ss.compactify("largest"); R.ss.compactify(asindex=True); R.ss.compactify("last", asindex=True, order="col");
L.ss.compactify("smallest"); I.ss.compactify("first"); I.ss.compactify("last", asindex=True); E.ss.compactify();
v.ss.compactify(); v.ss.compactify("largest", 6); v.ss.compactify("smallest", reverse=True);
v.ss.compactify("last", 7, asindex=True); v.ss.compactify("first", 7, reverse=True); e.ss.compactify();
list(A.ss.sort()); list(A.ss.sort(">", order="col")); list(v.ss.sort()); list(v.ss.sort(binary.gt, permutation=False));
list(R.ss.sort(values=False)); list(I.ss.sort()); list(L.ss.sort()); list(E.ss.sort()); list(e.ss.sort(nthreads=2));
list(A.ss.sort(permutation=False, values=False)); list(v.ss.sort(lambda x, y: y < x));
A.ss.scan(); A.ss.scan(order="col"); R.ss.scan(monoid.max); A.ss.scan(binary.plus); v.ss.scan(); v.ss.scan("min");
v.ss.scan(monoid.times); L.ss.scan(monoid.lxor); E.ss.scan(); A.T.new().ss.scan("max", order="F");
v.ss.scan(monoid.lor), [x.ss.scan(monoid.lor) for x in (e, E, I, I[:1, :].new(), v.diag(), Vector("FP32", 1))];
[x.ss.scan(monoid.plus["FP64"]) for x in (e, v, v.diag())]; A[:, 0].new().diag().ss.scan(monoid.land, order="F");
v.ss.head(5, sort=True); v.ss.head(200, sort=True); A.ss.head(7, sort=True); A.ss.head(3, float, sort=True)
"""

TILES = """
A.ss.flatten(); A.ss.flatten("columnwise"); R.ss.flatten(order="F"); E.ss.flatten(); I.ss.flatten();
A.ss.reshape(n // 2, n * 2); A.ss.reshape((n * 2, -1), order="col"); A.ss.reshape(-1, n * n); R.ss.reshape(m, n);
R.ss.flatten().ss.reshape(R.shape); v.ss.reshape(1, -1); v.ss.reshape(n // 2, 2); v.ss.reshape((2, -1), order="F");
gb.ss.concat([[A, B], [B, A]]); gb.ss.concat([[A, R]]); gb.ss.concat([[A], [L]]); gb.ss.concat([v, w, Scalar(int), e]);
gb.ss.concat([v, Scalar.from_value(7)], dtype=float); gb.ss.concat([[v, w]]); gb.ss.concat([[A, v]]);
gb.ss.concat([[A.T, A]]); gb.ss.concat([[L, A]]);
gb.ss.concat([b, v]); gb.ss.concat([[I, I]]); gb.ss.concat([[E, E]]); gb.ss.concat((v, v), "INT8");
A.ss.split(30); A.ss.split((None, [5, None, 7])); R.ss.split([[1, n - 1], 3]); v.ss.split(33); v.ss.split([4, None]);
[x.name for x in v.ss.split(33, name="x")]; [x.name for row in A.ss.split(50, name="t") for x in row];
gb.ss.concat(A.ss.split((7, 13))); gb.ss.concat(v.ss.split(9)); gb.ss.diag(v, 2); gb.ss.diag(A, -1);
gb.ss.diag(A, n + 5); gb.ss.diag(v, -1, float)
"""

ERRORS = """
A.ss.selectk("best", 1); A.ss.selectk("first", -1); v.ss.selectk("last", -2); A.ss.selectk("first", 1, order="x");
A.ss.compactify("none"); v.ss.compactify("none"); A.ss.sort("+"); v.ss.sort(binary.plus); v.ss.scan(binary.first);
A.ss.reshape(7, 7); A.ss.reshape((1, 2, 3)); A.ss.reshape(4); A.ss.reshape(4, 4, "x");
v.ss.reshape(7); v.ss.reshape(3, 7); gb.ss.concat([]); gb.ss.concat([[]]); gb.ss.concat(3); gb.ss.concat([A]);
gb.ss.concat([[A], [A, A]]); gb.ss.concat([v, A]); gb.ss.concat([v, [v]]); gb.ss.concat([[v], v]);
gb.ss.concat([[A, s]]); A.ss.concat([[A, A]]); v.ss.concat([v, v]);
A.ss.split([5]); A.ss.split((5, [3, 4])); v.ss.split([1, 2]); v.ss.split("x"); v.ss.split([None, None]);
gb.ss.diag(3); A.ss.build_scalar([5], [2], 3); E.ss.build_scalar([0, 6], [0, 1, 2], 1);
E.ss.build_scalar([0], [0], None)
"""


@pytest.mark.in_turn
@pytest.mark.parametrize("text", each(CHOOSING) + each(TILES))
def test_result(device, text):
    both(f"r = {text}", "r")


@pytest.mark.parametrize("text", each(ERRORS))
def test_error(device, text):
    both(text, "v, A, E")


def test_into_objects(device):
    both("A.ss.concat(B.ss.split(17))", "A")
    scope = operands(bitblas, 0, "INT64")  # the oracle writes where it should not
    scope["v"].ss.concat(scope["w"].ss.split(10))
    assert scope["v"].isequal(scope["w"])
    both("assert R.ss.reshape(m, n, inplace=True) is None", "R")
    both("A.ss.build_diag(v); v.ss.build_diag(B)", "A, v")


@pytest.mark.parametrize("op", [binary.le, binary.ge, lambda x, y: (x & 3) < (y & 3)])
def test_sort_by_any_comparison(device, op):
    A = operands(bitblas, 2, "INT64")["A"]
    values, where = A.ss.sort(op)
    key = (lambda x: x & 3) if callable(op) and not hasattr(op, "name") else (lambda x: -x if op is binary.ge else x)
    dicts, found, places = A.to_dicts(), values.to_dicts(), where.to_dicts()
    assert dicts.keys() == found.keys() == places.keys()
    for i, row in dicts.items():
        assert list(found[i]) == list(places[i]) == list(range(len(row)))
        assert [row[j] for j in places[i].values()] == list(found[i].values())
        assert [key(x) for x in found[i].values()] == sorted(key(x) for x in row.values())
        assert sorted(places[i].values()) == list(row)


def test_nan_is_the_largest(device):
    v = Vector.from_coo([0, 1, 2, 3], [1.0, np.nan, -np.inf, 5.0])
    assert list(v.ss.sort()[1].to_dict().values()) == [2, 0, 3, 1]
    assert list(v.ss.selectk("largest", 2).to_dict()) == [1, 3]


def test_one_value_is_scanned_as_many(device):
    I = operands(bitblas, 0, "INT64")["I"]  # the oracle gives back the value itself
    many = Matrix.from_coo(*I.to_coo(), nrows=I.nrows, ncols=I.ncols, dup_op=binary.plus)  # possibly several
    assert I.ss.is_iso and not many.ss.is_iso and I.ss.scan().isequal(many.ss.scan())
    assert I.ss.scan().reduce_rowwise("max").new().isequal(I.reduce_rowwise().new())


def test_ties_of_the_largest(device):
    v = Vector.from_coo([1, 3, 4, 6], [2, 1, 2, 2])
    assert [list(v.ss.selectk(how, 2).to_dict()) for how in ("largest", "smallest")] == [[4, 6], [1, 3]]
    assert v.ss.compactify("largest", asindex=True).to_dict() == {0: 6, 1: 4, 2: 1, 3: 3}


def test_random_entries(device):
    A = operands(bitblas, 3, "INT64")["A"]
    counts = A.reduce_rowwise(agg.count).new().to_dict()
    for order in ("rowwise", "columnwise"):
        k = A.ss.selectk("random", 2, order, seed=5)
        assert k.isequal(A.ss.selectk("random", 2, order, seed=5))
        assert k.isequal(A.dup(mask=k.S)) and not k.isequal(A.ss.selectk("random", 2, order, seed=6))
    found = A.ss.selectk("random", 2, seed=5)
    assert found.reduce_rowwise(agg.count).new().to_dict() == {i: min(2, c) for i, c in counts.items()}
    packed = A.ss.compactify("random", 2, asindex=True, seed=5)
    assert {(i, j) for i, row in packed.to_dicts().items() for j in row.values()} == set(found)
    v = Vector.from_coo(range(4), range(4))
    drawn = [next(iter(v.ss.selectk("random", 1, seed=s))) for s in range(400)]
    assert min(drawn.count(i) for i in range(4)) > 60  # of 100


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("raw", [False, True])
def test_there_and_back(device, iso, raw):
    scope = operands(bitblas, 4, "INT32")
    for x in (scope["R"], scope["v"], Matrix.from_scalar(1, 3, 4).select("rowle", 9).new(), Vector.from_scalar(2, 5)):
        if iso:
            x(x.S) << 1
        assert x.ss.is_iso is iso or x.nvals in (12, 5)
        full = x.nvals == np.prod(x.shape)
        for form in [form for form in x.ss._forms if full or not form.startswith("full")] + [None]:
            d = x.ss.export(form, raw=raw)
            made = type(x).ss.import_any(**d)
            assert made.isequal(x, check_dtype=True) and made.ss.is_iso is x.ss.is_iso, (form, d)
            y = x.dup()
            named = y.ss.unpack(form, raw=raw)
            assert y.nvals == 0 and y.shape == x.shape
            getattr(y.ss, f"pack_{named['format']}")(**named)
            assert y.isequal(x, check_dtype=True) and y.ss.is_iso is x.ss.is_iso
            with pytest.raises(ValueError, match="Invalid format"):
                type(x).ss.import_any(**d | {"format": "other"})
    with pytest.raises(InvalidValue, match="an entry at every position"):
        scope["R"].ss.export("fullr")
    with pytest.raises(ValueError, match="Invalid format"):
        scope["v"].ss.export("csr")


def test_forms_are_those_of_the_oracle():
    for seed, dense in ((0, False), (1, True)):
        theirs, ours = (operands(gb, seed, "INT64") for gb in (oracle, bitblas))
        for name in ("A", "v", "R", "e", "E"):
            a, b = theirs[name], ours[name]
            if dense:
                (a << 1), (b << 1)
            assert b.ss.export()["format"] == a.ss.export()["format"]
    x, y = (gb.Matrix.from_coo([5, 900], [3, 2], [1, 2], nrows=1000, ncols=1000) for gb in (oracle, bitblas))
    assert y.ss.export()["format"] == x.ss.export()["format"] == "hypercsr"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"bitmap": [1], "rows": [1]}, TypeError), ({"indptr": [0]}, TypeError), ({"rows": [1]}, ValueError),
        ({"indptr": [0, 1], "col_indices": [0], "cols": [0]}, TypeError), ({"bitmap": [1, 1]}, ValueError),
        ({"bitmap": [[1, 1]]}, InvalidValue), ({"values": [1, 2, 3], "nrows": 2, "ncols": 2}, InvalidValue),
        ({"rows": [0], "cols": [0], "other": 1}, ValueError),
    ],
)  # fmt: skip
def test_arrays_that_make_no_matrix(wrong, error):
    with pytest.raises(error):
        Matrix.ss.import_any(**{"values": [1], **wrong})


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_bytes(device, dtype):
    scope = operands(bitblas, 1, dtype)
    for name in ("A", "R", "v", "i", "e", "E"):
        x = scope[name]
        for how in (("default",), (None,), ("zstd", 3), ("lz4hc", 9)):
            data = x.ss.serialize(*how)
            assert data.dtype == np.uint8
            for given in (data, data.tobytes(), memoryview(data)):
                made = type(x).ss.deserialize(given, name="made")
                assert made.isequal(x, check_dtype=True) and made.ss.is_iso is x.ss.is_iso and made.name == "made"
        with pytest.raises(InvalidObject, match="dtype"):
            type(x).ss.deserialize(data, "INT16")
        with pytest.raises(InvalidObject):
            (Vector if type(x) is Matrix else Matrix).ss.deserialize(data)


def test_damaged_bytes():
    data = operands(bitblas, 1, "INT64")["v"].ss.serialize()
    for k in range(0, len(data), 7):
        broken = data.copy()
        broken[k] ^= 0x41
        with pytest.raises(InvalidObject):
            Vector.ss.deserialize(broken)
        with pytest.raises(InvalidObject):
            Vector.ss.deserialize(data[:k])
    for args, error in ((("bad",), ValueError), (("lz4", 3), TypeError), (("zstd", 0), ValueError)):
        with pytest.raises(error):
            operands(bitblas, 1, "INT64")["v"].ss.serialize(*args)


def test_one_value_written_to_all_entries_is_one_value(device):
    scope = operands(bitblas, 0, "INT64")
    for name in ("A", "v"):
        x = scope[name]
        before = x.dup()
        x(x.S) << 7
        assert x.ss.is_iso and x.ss.iso_value == 7
        assert x.S.new().isequal(before.S.new())
        x(~x.S) << 8
        assert not x.ss.is_iso and x.nvals == np.prod(x.shape)


def test_what_objects_hold_counts():
    A = operands(bitblas, 0, "INT64")["A"]
    assert sys.getsizeof(A) > A.memory().total > 16 * A.nvals - 8 * A.nvals


def test_options():
    A = operands(bitblas, 0, "INT64")["A"]
    assert A.dup(NThreads=4, AxB_method="dot", sort=True).isequal(A)
    A.__setitem__((0, 0), 1, nthreads=4)
    for wrong in ({"bad": 1}, {"nthreads": 1, "NTHREADS": 2}, {"sort": "hi"}, {"axb_method": "bad"}):
        with pytest.raises(ValueError):
            A.dup(**wrong)
        with pytest.raises(ValueError):
            A.__setitem__((0, 0), 1, **wrong)
    with pytest.raises(DimensionMismatch):
        A.ss.concat([[A, A]])


def test_settings():
    config = bitblas.ss.config
    try:
        A = Matrix.from_coo([0, 1, 5], [3, 2, 900], [1, 2, 3], nrows=1000, ncols=1000)
        assert A.ss.export()["format"] == "hypercsr"
        config["hyper_switch"] = 0
        assert A.ss.export()["format"] == "csr"
        config["format"] = "by_col"
        assert A.ss.export()["format"] == "csc"
        config["bitmap_switch"] = 0
        assert A[:9, :9].new().ss.export()["format"] == "bitmapc"
        config["nthreads"], config["burble"] = 2, True
        assert dict(config)["nthreads"] == 2 and "burble = True" in repr(config)
        for name, value, error in (
            ("bad", 1, KeyError), ("format", "bad", KeyError), ("hyper_switch", "x", ValueError),
            ("bitmap_switch", [1, 2], ValueError),
        ):  # fmt: skip
            before = dict(config)
            with pytest.raises(error):
                config[name] = value
            assert dict(config) == before
        with pytest.raises(TypeError):
            del config["format"]
    finally:
        for name in config:
            config[name] = None
    assert dict(config)["format"] == "by_row" and A.ss.export()["format"] == "hypercsr"
    assert bitblas.ss.about["library_name"] == "bitblas" and bitblas.ss.about["api_version"] == (2, 1, 0)
