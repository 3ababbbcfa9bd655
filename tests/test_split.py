"""Split: tiles that pay and the rest: boundaries of both, hubs, the plan, and formats that are not cached with it."""

import hypothesis.strategies as st
import numpy as np
import pytest
from battery import MATRICES, generator, values
from hypothesis import given
from test_formats import assert_entries, assert_sound, host
from test_plan import assert_cut

import bitblas
from bitblas.exceptions import InvalidValue
from bitblas.formats.split import cost
from bitblas.plan.facts import best_known, facts
from bitblas.plan.product import VALUES, WORDS


def made(name: str, tile: int | None = 8, x=True, **options):
    p = MATRICES[name]()
    options = {"format": "split", "tile": tile} | options
    return bitblas.Matrix.from_coo(p.rows, p.cols, x, nrows=p.nrows, ncols=p.ncols, **options)


def numbers(name: str) -> np.ndarray:
    return values(generator(name), "INT64", len(MATRICES[name]().rows))


# ---- structure ------------------------------------------------------------------------------------------------------


def test_a_tile_pays_where_bits_are_fewer():
    for ncols in (1, 5, 64, 1000, 1 << 20, 1 << 28):
        for tile in cost.TILES:
            column, entry = cost.column_width(ncols, tile), cost.entry_width(ncols, tile)
            last = -(-ncols // tile) - 1
            assert last < 1 << column and (last + 1) * tile * tile <= 1 << entry
            for width in range(2 * cost.log_of(tile), entry):
                rule = cost.rule_of(ncols, tile, width)
                assert (rule.limit << 2 * cost.log_of(tile)) == 1 << width and rule.limit <= last
                for least, bits in ((rule.near, width), (rule.far, entry)):
                    assert tile * tile + column < least * bits and tile * tile + column >= (least - 1) * bits
            assert cost.rule_of(ncols, tile, 0)[0] == 0
    assert [cost.rule_of(1 << 20, tile, 0).far for tile in cost.TILES] == [2, 4, 12]


@pytest.mark.parametrize("least", [1, 1 << 30], ids=["all tiles", "all rest"])
def test_one_part_may_be_empty(device, least, monkeypatch):
    monkeypatch.setattr(cost, "least_entries", lambda ncols, tile, width: least)
    for name in ("gaps", "long hub", "wide", "all ones", "no entries", "1x1", "65x65"):
        x = numbers(name)
        A, plain = made(name, 8, x), made(name, None, x, format="csr")
        form = A._store.structure.primary
        assert (form.tiles, form.in_rest) == ((form.tiles, 0) if least == 1 else (0, A.nvals))
        assert_entries(A, MATRICES[name](), x)
        if A.ncols > 1:  # else the vector is full
            u = bitblas.Vector.from_coo(np.arange(0, A.ncols, 2), True, size=A.ncols)
            found, expected = (M.mxv(u, bitblas.semiring.any_pair).new() for M in (A, plain))
            assert found.isequal(expected), name


def with_near(monkeypatch, bits: int) -> None:
    """The limit of near tile columns is 2**bits wherever there are more."""

    def chosen(count, below, nrows, ncols, tile):
        width = bits + 2 * cost.log_of(tile)
        return count(width if width < cost.entry_width(ncols, tile) else 0)

    monkeypatch.setattr(cost, "best_parts", chosen)


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_near_entries_end_at_the_limit(device, bits, monkeypatch):
    """Also where all are near, all far, in tile rows of either kind, and with values."""
    with_near(monkeypatch, bits)
    for tile in cost.TILES:
        edge = tile << bits  # the first column that is not near
        for cols in ([edge - 1, edge], [0, edge - 1], [edge], [edge - 1], [edge + 5 * tile, 0]):
            i, j = np.array([0, 17, 34])[: len(cols) + 1], np.array([*cols, edge])[: len(cols) + 1]
            x, how = np.arange(len(i)) + 2.0, {"nrows": 35, "ncols": edge + 6 * tile}
            A, twin = (bitblas.Matrix.from_coo(i, j, x, **how, format="split", tile=tile) for _ in range(2))
            form = A._store.structure.primary
            near = int((j < edge).sum())
            assert (form.in_near, form.in_rest - form.in_near, form.parts) == (near, len(i) - near, 3)
            assert_sound(form)
            assert [host(a).tolist() for a in A.to_coo()] == [i.tolist(), j.tolist(), x.tolist()]
            B = bitblas.Matrix.from_coo(i, j, x, **how, format="csr")
            assert A.isequal(B) and A.T.new().isequal(B.T.new())
            assert form.equals(twin._store.structure.primary)


@given(st.sampled_from(cost.TILES), st.integers(0, 4), st.data())
def test_random_entries_around_the_limit(tile, bits, data):
    edge = tile << bits
    n = edge + data.draw(st.integers(1, 3 * tile), "columns beyond")
    col = st.sampled_from((0, tile - 1, tile, edge - tile, edge - 1, edge, n - 1)) | st.integers(0, n - 1)
    places = data.draw(st.sets(st.tuples(st.integers(0, 2 * tile), col), min_size=1, max_size=3 * tile), "places")
    i, j = np.array(sorted(places)).T
    x = np.arange(len(i))
    with pytest.MonkeyPatch.context() as patch, bitblas.config.set(device="cpu"):
        with_near(patch, bits)
        A = bitblas.Matrix.from_coo(i, j, x, nrows=2 * tile + 1, ncols=n, format="split", tile=tile)
        form = A._store.structure.primary
        assert form.near_width == bits + 2 * cost.log_of(tile)
        assert_sound(form)
        form.check()
        again = type(form).restored(form.device, form.numbers(), form.arrays())  # as from a file
        assert again.equals(form) and again.numbers() == form.numbers()
        assert [host(a).tolist() for a in A.to_coo()] == [i.tolist(), j.tolist(), x.tolist()]
        assert_sound(A.select("colle", edge).new()._store.structure.primary)


def test_the_limit_needs_the_fewest_bytes():
    """Among those that are tried; none where near entries do not pay for their pointers."""
    rng, n = generator("limit"), 1 << 13
    for power, tile in ((1, 8), (6, 4), (6, 8), (6, 16), (12, 8)):
        i, j = rng.integers(0, n, 40_000), (rng.random(40_000) ** power * n).astype(np.int64)
        with bitblas.config.set(device="cpu"):
            A = bitblas.Matrix.from_coo(i, j, True, nrows=n, ncols=n, format="csr")
        rows = A._store.structure.primary
        sizes = {}
        for width in (0, *range(2 * cost.log_of(tile), cost.entry_width(n, tile))):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(cost, "best_parts", lambda count, *_, w=width: count(w))
                parts = cost.counted(rows, tile)[0]
            sizes[width] = cost.predict_bytes(n, n, tile, parts)
        found = cost.counted(rows, tile)[0]
        size = cost.predict_bytes(n, n, tile, found)
        assert size == sizes[found.near_width] <= min(sizes[0], 1.01 * min(sizes.values())), (power, tile)
        assert tile == 4 or (found.near_width > 0) == (power > 1)
        assert cost.columns_below(rows) == [int((host(rows.col) < 1 << k).sum()) for k in range(14)]
        assert facts(A._store.structure, exact=True).bytes_of(f"split{tile}") == size


def test_products_with_near_entries(device, tune, monkeypatch):
    """In every kind of kernel, pulled and pushed, with tile rows that are cut into segments."""
    tune({"push_cost.cpu": 0.0, "push_cost.gpu": 0.0})
    tune({"rows.iterations": 1})
    for bits, name in ((2, "gaps"), (3, "long hub"), (2, "65x65")):
        with_near(monkeypatch, bits)
        x = values(generator(name), "FP32", len(MATRICES[name]().rows))
        lor_land, min_plus = bitblas.semiring.lor_land, bitblas.semiring.min_plus
        for ring, weights, one in ((lor_land, True, True), (min_plus, x, np.float32(2))):
            A, plain = made(name, 8, weights), made(name, x=weights, **CSR)
            form = A._store.structure.primary
            assert form.in_near and form.in_rest > form.in_near
            u = bitblas.Vector.from_coo(np.arange(0, A.ncols, 2), one, size=A.ncols)
            v = bitblas.Vector.from_coo(np.arange(0, A.nrows, 9), one, size=A.nrows)
            assert A.mxv(u, ring).new().isequal(plain.mxv(u, ring).new()), name
            assert v.vxm(A, ring).new().isequal(v.vxm(plain, ring).new()), name


def test_what_is_left_of_a_matrix_is_split_anew(device):
    """A tile that loses entries may not pay any more."""
    for name in ("gaps", "long hub", "all ones"):
        x = numbers(name)
        for text in ("select('tril', -1)", "select('>', 3)", "select('<', -99)", "select('colle', 20)"):
            found, expected = (eval(f"A.{text}.new()", {"A": made(name, **how)}) for how in ({"x": x}, {"x": x, **CSR}))
            assert found.isequal(expected) and found.format == "split8", text
            assert_sound(found._store.structure.primary)


CSR = {"format": "csr", "tile": None}


def test_the_last_column_that_32_bits_can_number(device):
    limit = (1 << 32) // 4
    A = bitblas.Matrix.from_coo([0, 1, 1], [3, 0, limit - 1], True, nrows=3, ncols=limit, format="split")
    assert A.format == "split4" and cost.entry_width(limit, 4) == 32
    assert host(A.to_coo()[1]).tolist() == [3, 0, limit - 1]
    assert_sound(A._store.structure.primary)
    for tile, ncols in ((None, limit + 1), (16, limit // 4 + 1)):
        with pytest.raises(InvalidValue, match="columns"):
            bitblas.Matrix.from_coo([0], [0], True, nrows=3, ncols=ncols, format="split", tile=tile)
    assert [key for key, _ in facts(A._store.structure, ()).own] == ["split4", "nib", "cgr"]


# ---- choosing -------------------------------------------------------------------------------------------------------


def test_the_tile_that_needs_the_fewest_bytes(device):
    for name in ("gaps", "wide", "all ones", "long hub", "127x127", "0x5", "no entries"):
        A = made(name, None)
        built = {tile: made(name, tile).memory().structure for tile in cost.TILES}
        assert A.memory().structure == min(built.values()), name
        seen = best_known(A._store.structure)
        assert {tile: seen.bytes_of(f"split{tile}") for tile in cost.TILES} == built


def test_a_push_needs_no_second_form(device, tune):
    """vxm pushes along the rows that are there; mxv does so only where those of the transpose are there too."""
    tune({"push_cost.cpu": 0.0, "push_cost.gpu": 0.0})
    A, u = made("gaps", 8), bitblas.Vector.from_coo([3, 70], True, size=140)
    pushed, pulled = u.vxm(A, bitblas.semiring.lor_land), A.mxv(u, bitblas.semiring.lor_land)
    assert bitblas.explain(pushed).direction == "push" and bitblas.explain(pulled).direction == "pull"
    reason = bitblas.explain(pulled).reason
    assert reason == "pushing needs split8 of the transpose, whose construction is not yet amortized"
    found = pushed.new(), pulled.new()
    assert list(A.memory().forms) == ["split8"]
    A.T.new()
    pulled = A.mxv(u, bitblas.semiring.lor_land)
    assert bitblas.explain(pulled).direction == "push"
    plain = made("gaps", **CSR)
    assert pulled.new().isequal(found[1]) and found[1].isequal(plain.mxv(u, bitblas.semiring.lor_land).new())
    assert found[0].isequal(u.vxm(plain, bitblas.semiring.lor_land).new())


def test_the_plan_says_what_is_made_and_nothing_of_it_is_kept(device):
    A = made("symmetric", 8, numbers("symmetric"))
    product = A.mxm(A, bitblas.semiring.plus_times)
    for mask in (None, A.S):
        assert "this statement converts split8 and split8" in bitblas.explain(product, mask=mask).reason
    C, L = product.new(), product.new(mask=A.S)
    A.ewise_add(A.T.new()).new(), A[3, :].new(), A[3, 3].new(), A[[1, 2], :].new(), A.reduce_scalar().new(), A.to_coo()
    assert set(A.memory().forms) <= {"split8", "split8.T"} and not A._store.copies.keys() - {("split8", True)}
    plain = made("symmetric", x=numbers("symmetric"), **CSR)
    assert C.isequal(plain.mxm(plain, bitblas.semiring.plus_times).new())
    assert L.isequal(plain.mxm(plain, bitblas.semiring.plus_times).new(mask=plain.S))


# ---- hubs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [WORDS, VALUES])
def test_segments_cover_each_hub_once(device, kind):
    for name in ("hub", "long hub", "dense row", "all ones", "wide", "no entries"):
        for tile in cost.TILES:
            form = made(name, tile)._store.structure.primary
            share = form.format.kernels["mxv.pull"].share(kind)
            for longest, part in ((1, 1), (64, 20), (200, 200), (3000, 512)):
                assert_cut(form, longest, part, share)
