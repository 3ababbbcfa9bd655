"""Choice of the stored format and order: the rules, and the choices by the bundled constants."""

import dataclasses

import numpy as np
import pytest
from battery import generator

import bitblas
from bitblas import tuning
from bitblas.calibrate.matrices import grid, shuffled
from bitblas.config import config
from bitblas.device import memory
from bitblas.formats import format_of
from bitblas.formats.b2sr.cost import TILES
from bitblas.formats.sampling import BYTES, SAMPLES, SIZES
from bitblas.formats.split.cost import Parts
from bitblas.plan import cost_model
from bitblas.plan import facts as plan_facts
from bitblas.plan import format_choice as plan_forms
from bitblas.plan import profile as plan_profile
from bitblas.plan.facts import Facts, facts, levels_of


def test_what_promises_most_is_chosen(device):
    """Full tiles against one entry a tile, by the constants that come with bitblas."""
    n = 1 << 12
    near = np.arange(n)[:, None] // 8 * 8 + np.arange(8)  # full 8x8 tiles on the diagonal
    full = bitblas.Matrix.from_coo(np.repeat(np.arange(n), 8), near.ravel(), True, nrows=n, ncols=n)
    far = generator("far").integers(0, n, (n, 8))
    scattered = bitblas.Matrix.from_coo(np.repeat(np.arange(n), 8), far.ravel(), True, nrows=n, ncols=n)
    seen = [facts(A._store.structure) for A in (full, scattered)]
    assert seen[0].fill == 64 and dict(seen[0].tiles)[64] == n / 64
    for A, of in zip((full, scattered), seen):
        best = plan_forms.best_form(of, A.profile().costs, "time", iso=True, kind=A.device.kind)
        assert A.profile().chosen == best and of.bytes_of(best) <= of.bytes_of("csr"), "never more bytes than plain CSR"
    small = bitblas.Matrix.from_coo(near[:8].ravel() // 8, near[:8].ravel() % 8, True, nrows=n, ncols=n)
    assert small.nvals < tuning.count("format.sampled_entries") and small.profile().chosen == "csr"
    with config.set(prefer="memory"):
        of = facts(small._store.structure)
        forms = [key for key in of.forms if format_of(key).cost.may_be_smallest(of)]
        assert small.dup().profile().chosen == min(forms, key=of.bytes_of) != "csr", "small ones too"
        for A, of in zip((full, scattered), seen):
            least = A.dup().profile()
            assert least.chosen == min(of.forms, key=of.bytes_of) != "csr"
            assert least.facts.bytes_of(least.chosen) < of.bytes_of("csr")


def test_a_small_dense_pattern_is_a_bitmap_where_bytes_count(device):
    """Not with values, because it stores one for each position, and not if its rows would matter."""
    full = lambda n, values: bitblas.Matrix.from_coo(*np.indices((n, n)).reshape(2, -1), values, nrows=n, ncols=n)
    with config.set(prefer="memory"):
        assert full(7, True).format == "bitmap" and full(7, np.arange(49.0)).format != "bitmap"
        large = full(100, True)
        assert large.format != "bitmap" and "bitmap" in large.profile().facts.forms
    assert full(7, True).format == "csr"


FORMS = ("csr", "mplg", *(f"b2sr{t}" for t in (4, 8, 16, 32, 64)), "split4", "split8", "split16")


def flat(**us):
    """Costs that are the same for any matrix: microseconds by format, for all verbs or each; 100 by default."""
    made = {}
    for key in FORMS:
        each = us.get(key, 100.0)
        for verb in cost_model.VERBS:
            constant = each.get(verb, 100.0) if isinstance(each, dict) else each
            made[f"{key} {verb}"] = constant, *[0.0] * (cost_model.COUNTS[verb] - 1)
    return cost_model.Costs("a test", "made up", made)


def some_facts(nrows=1 << 16, ncols=1 << 16, nvals=1 << 20, fill=8.0):
    """Facts of a matrix with that many entries in each tile of 8 x 8."""
    tiles = tuple((t, nvals / max(1.0, fill * t / 8)) for t in (4, 8, 16, 32, 64))
    parts = tuple((f"split{t}", Parts(nvals / fill, nvals / 10)) for t in (4, 8, 16))
    return Facts(nrows, ncols, nvals, tiles, parts, 10.0 if nrows == ncols else 0.0)


BITS, NUMBERS, BFS = cost_model.BITS, cost_model.NUMBERS, cost_model.BFS
# Facts, costs and the choice for time: all other formats take 100 us.
CHOICES = {
    "all alike: rows": ({}, {}, "csr"),
    "faster tiles": ({}, {"b2sr8": 50}, "b2sr8"),
    "tiles of more bytes than CSR": ({"fill": 1.0}, {"b2sr8": 50}, "csr"),
    "a gain of three times, a loss of two": ({}, {"b2sr8": {BITS: 33, NUMBERS: 200}}, "b2sr8"),
    "a gain of two times, a loss of three": ({}, {"b2sr8": {BITS: 50, NUMBERS: 300}}, "csr"),
    "searches count": ({}, {"b2sr8": {BITS: 50, BFS: 300}}, "csr"),
    "searches do not, of a rectangular matrix": ({"ncols": 1 << 15}, {"b2sr8": {BITS: 50, BFS: 300}}, "b2sr8"),
    "two that win a verb each, and one between": (
        {}, {"csr": {NUMBERS: 50}, "b2sr8": {BITS: 50}, "b2sr4": {BITS: 60, NUMBERS: 60}}, "b2sr4"),
    "tiles must gain something": ({}, {"b2sr8": 97}, "csr"),
    "tiles that do": ({}, {"b2sr8": 94}, "b2sr8"),
    "a compact form must gain more": ({}, {"mplg": 94}, "csr"),
    "a compact form that does": ({}, {"mplg": 85}, "mplg"),
    "parts": ({}, {"split8": 50, "b2sr8": 60}, "split8"),
    "below the floor all are alike": ({}, {**dict.fromkeys(FORMS, 4.9), "b2sr8": 2.0, "mplg": 1.0}, "csr"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_the_form_nearest_to_the_best_for_every_verb_is_chosen(name):
    of, us, chosen = CHOICES[name]
    assert plan_forms.best_form(some_facts(**of), flat(**us), "time", iso=True, kind="gpu") == chosen


def test_values_stay_by_rows():
    seen, best = some_facts(), plan_forms.best_form
    assert best(seen, flat(b2sr8=1, split8=1), "time", iso=False, kind="cpu") == "csr"
    assert best(seen, flat(mplg=50), "time", iso=False, kind="cpu") == "mplg"
    assert best(seen, flat(), "memory", iso=False, kind="cpu") == "mplg"
    assert best(seen, flat(), "memory", iso=True, kind="cpu") == min(seen.forms, key=seen.bytes_of)


def test_the_floor_of_a_cpu_is_higher():
    us = {**dict.fromkeys(FORMS, 19.0), "b2sr8": 6.0}
    assert plan_forms.best_form(some_facts(), flat(**us), "time", iso=True, kind="cpu") == "csr"
    assert plan_forms.best_form(some_facts(), flat(**us), "time", iso=True, kind="gpu") == "b2sr8"


def test_ratios_are_those_of_the_worst_verb():
    us = {"csr": {BITS: 10.0, NUMBERS: 10.0}, "b2sr8": {BITS: 5.0, NUMBERS: 30.0}, "mplg": {BITS: 1.0, NUMBERS: 40.0}}
    assert plan_forms.worst_ratios(us, 0.5) == {"csr": 10.0, "b2sr8": 5.0, "mplg": 4.0}
    assert plan_forms.worst_ratios(us, 5.0) == {"csr": 2.0, "b2sr8": 3.0, "mplg": 4.0}


def test_what_is_small_or_short_is_not_looked_at():
    small = tuning.count("format.sampled_entries")
    assert plan_forms.without_facts(10, small - 1, "time") and not plan_forms.without_facts(10, small, "time")
    assert plan_forms.without_facts(small, small, "time") and not plan_forms.without_facts(small, small - 1, "memory")


@pytest.mark.parametrize("near", [0.0, 0.7])
def test_tiles_of_which_a_sample_is_not_sure_are_counted(monkeypatch, near):
    """Full tiles and scattered entries, estimated too low: never more bytes than plain CSR."""
    n, rng = 1 << 14, np.random.default_rng(5)
    full = int(near * n) // 8 * 8
    i = np.append(np.arange(full).repeat(8), rng.integers(0, n, 8 * (n - full)))
    j = np.append((np.arange(full)[:, None] // 8 * 8 + np.arange(8)).ravel(), rng.integers(0, n, 8 * (n - full)))
    A = bitblas.Matrix.from_coo(i, j, True, nrows=n, ncols=n, device="cpu", format="csr")
    structure, quick = A._store.structure, flat(b2sr8=50.0)
    seen, rows = plan_facts.estimates(structure), facts(structure).bytes_of("csr")
    told = (rows - n) / 12  # a little less than rows
    structure.primary.cache["estimates"] = seen._replace(tiles=seen.tiles | {8: told}, errors={8: told / 50})
    monkeypatch.setattr(plan_forms, "costs_of", lambda device: quick)
    assert plan_forms.best_form(facts(structure), quick, "time", iso=True, kind="cpu") == "b2sr8"
    built = structure.layout("b2sr8")
    assert plan_forms.choose_form(structure) == ("csr" if built.nbytes > rows else "b2sr8")
    assert dict(facts(structure).tiles)[8] == built.tiles, "and is known from now on"


def test_facts_come_in_stages(tune):
    """A choice for time estimates only the facts of candidate formats: with hubs those by rows; no Split if tiles pay
    for no entries or nearly all; and never those that matter for bytes only."""
    n, at, rng = 1 << 13, np.arange(1 << 13), np.random.default_rng(2)
    band = [(i, j) for i in (at,) for j in (at, (at + 1) % n, (at + 2) % n)]
    hub = [*band, (np.zeros(n, int), at)]
    scattered = [(at, rng.permutation(n)) for _ in range(3)]
    asked = {}
    for name, parts in {"hub": hub, "scattered": scattered, "band": band, "both": [*band, *scattered]}.items():
        i, j = (np.concatenate(x) for x in zip(*parts))
        A = bitblas.Matrix.from_coo(i, j, True, nrows=n, ncols=n, device="cpu", format="csr")
        structure = A._store.structure
        tune({"format.hubs.cpu": 8})
        plan_forms.choose_form(structure)
        asked[name] = set(plan_facts.estimates(structure).own)
        assert asked[name] < set(dict(facts(structure).own)), "the others when somebody asks"
    assert not asked["hub"] and not asked["scattered"] and not asked["band"] and {"split4", "split8"} <= asked["both"]


def scrambled(x):
    """kernels/views.cuh."""
    x = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sampled(true):
    """What formats count themselves that a sample estimates too."""
    return [(name, parts) for name, parts in true.own if format_of(name).cost.counts == "own"]


@pytest.mark.in_turn
@pytest.mark.parametrize("key", ["csr", "mplg"])
@pytest.mark.parametrize("shape", [(6000, 6000), (200, 50_000), (50_000, 70), (900, 1 << 40)], ids=str)
def test_a_look_estimates_what_is_there(device, key, shape):
    """Full tiles, bands and scattered entries; square, wide, high, with columns of 64 bits. The sample is the one that
    NumPy takes, so that a CPU and a GPU see the same."""
    (n, m), rng = shape, generator(str(shape))
    if m > 1 << 32 and key == "mplg":
        return
    at = np.arange(20_000)
    i = np.concatenate([at % min(n, 400), at % n, rng.integers(0, n, 5000)])
    j = np.concatenate([at // 400 % m, (at % n * 3 + at % 7) % m, rng.integers(0, m, 5000)])
    structure = bitblas.Matrix.from_coo(i, j, True, nrows=n, ncols=m, format=key)._store.structure
    seen, true = plan_facts.estimates(structure), facts(structure, exact=True)
    assert structure.nvals > SAMPLES and seen.heads == true.heads and seen.longest == true.longest
    assert structure.primary.cache["estimates"] is seen, "kept with the structure"
    for tile, number in true.tiles:
        assert abs(seen.tiles[tile] - number) <= 4 * seen.errors[tile] < 0.3 * number
    for name, parts in sampled(true):
        told = (dataclasses.replace(true, own=((name, found),)) for found in (seen.own[name], parts))
        sizes = [format_of(name).cost.predict_bytes(of) for of in told]
        assert sizes[0] == pytest.approx(sizes[1], rel=0.1 if name in ("nib", "cgr") else 0.05), name
    limits = np.arange(SAMPLES + 1) * structure.nvals // SAMPLES
    at = limits[:-1] + (scrambled(np.arange(SAMPLES)) % np.diff(limits).astype(np.uint64)).astype(np.int64)
    i, j = (bitblas.device.get(device).to_host(x) for x in structure.coo())
    lengths = np.bincount(i)
    assert seen.heads == np.minimum(lengths, 32).sum() and seen.longest == lengths.max()
    for tile in (4, 8, 16, 32, 64):
        _, which, number = np.unique(i // tile * m + j // tile, return_inverse=True, return_counts=True)
        assert seen.tiles[tile] == pytest.approx(structure.nvals * (1 / number[which[at]]).mean())


def test_few_entries_are_all_looked_at(device):
    for nrows, ncols in ((100, 100), (1, 3000), (3000, 1), (65, 63)):
        i, j = np.divmod(np.arange(0, nrows * ncols, 7), ncols)
        A = bitblas.Matrix.from_coo(i, j, True, nrows=nrows, ncols=ncols, format="csr")
        seen, true = plan_facts.estimates(A._store.structure), facts(A._store.structure, exact=True)
        assert A.nvals <= SAMPLES and not any(seen.errors.values())
        assert seen.tiles == pytest.approx(dict(true.tiles))
        for name, parts in sampled(true):
            if name not in ("nib", "cgr"):  # of gaps it sees the sizes, not whose they are
                assert tuple(seen.own[name]) == pytest.approx(tuple(parts))
        assert "(sampled)" not in str(A.profile())
    n = 1 << 14
    large = bitblas.Matrix.from_coo(np.arange(5 * n) % n, np.arange(5 * n) // n * 3000, True, nrows=n, ncols=n)
    assert large.nvals > tuning.count("facts.counted_entries")
    assert ("(sampled)" in str(large.profile())) == (device == "cpu")
    assert SIZES == TILES and BYTES <= memory.READBACK_BYTES, "written into memory of the host"


# ---- the levels of a search -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "balls", "ended", "low", "high"),
    [
        (1000, [1, 3, 5, 7, 9, 11, 13, 15, 17], False, 300, 600),  # a path, from its middle: 500
        (10_000, [1, 5, 13, 25, 41, 61, 85, 113, 145], False, 50, 110),  # a grid of 100 x 100, also: 100
        (1 << 20, [1, 60, 9000], False, 2, 4),  # a power-law graph
        (100, [1, 40, 100, 100], True, 4, 4),  # everything was read
        (100, [1], False, 1, 1),  # one row has too many to read
    ],
)
def test_the_levels_are_told_by_the_growth_of_balls(n, balls, ended, low, high):
    assert low <= levels_of(n, list(map(float, balls)), ended) <= high


def test_balls_are_counted(device):
    """A ring, whose balls are known; stars; and a matrix that is no graph."""
    n = 200
    at = np.arange(n)
    ring = bitblas.Matrix.from_coo([*at, *at], [*(at + 1) % n, *(at - 1) % n], True, nrows=n, ncols=n, format="csr")
    seen = facts(ring._store.structure)
    assert seen.levels == pytest.approx(8 * n / 17, rel=0.1) and seen.heads == seen.nvals == 2 * n
    assert seen.longest == 2 and not seen.uneven
    star = bitblas.Matrix.from_coo([0] * (n - 1), at[1:], True, nrows=n, ncols=n, format="csr")
    seen = facts(star._store.structure)
    assert seen.levels == 3, "a hop, and one that finds nothing more"
    assert seen.heads == 32 < seen.nvals == seen.longest and seen.uneven
    wide = bitblas.Matrix.from_coo([0], [n], True, nrows=n, ncols=n + 1)
    assert facts(wide._store.structure).levels == 0 and "levels" not in str(wide.profile())


# ---- orders ---------------------------------------------------------------------------------------------------------


@pytest.mark.in_turn
def test_orders_are_compared(device):
    """A grid whose vertices are shuffled: it has a better order, and the table shows it."""
    i, j = shuffled(1 << 12, grid(1 << 12))
    A = bitblas.Matrix.from_coo(i, j, True, nrows=1 << 12, ncols=1 << 12)
    before = [key for key, _, _, _ in A._store.structure.forms()]
    with config.set(prefer="memory"):
        found = A.profile(orders=["degree", "rcm", "community"])
    assert list(found.profiles) == ["as it is", "degree", "rcm", "community"]
    assert found.profiles["rcm"].facts.fill > 2 * found.profiles["as it is"].facts.fill
    assert found.profiles["as it is"].permutation == 0 and found.profiles["rcm"].permutation == 4 * (12 * 128 + 1)
    order, key = found.best
    size = lambda order, key: found.profiles[order].facts.bytes_of(key) + found.profiles[order].permutation
    assert size(order, key) == min(size(o, k) for o, seen in found.profiles.items() for k in seen.facts.forms)
    lines = str(found).splitlines()
    assert sum("<- best" in line and line.startswith(order) for line in lines) == str(found).count("<- best") == 1
    assert str(found).count("<- auto") == 4 and len(lines) == 2 + 4 * len(found.profiles["rcm"].facts.forms) + 3
    assert found.savings[order] == (key, size(order, key), 1 - size(order, key) / found.savings["as it is"].nbytes)
    assert found.saved("rcm", "nib") == 1 - size("rcm", "nib") / size("as it is", "nib") > 0.2
    assert list(found.seconds) == ["degree", "rcm", "community"] and lines[-1].startswith("community: found in ")
    assert A.order is None and before == [key for key, _, _, _ in A._store.structure.forms()], "A stays as it is"
    assert list(A.profile(orders=["bfs"]).profiles) == ["as it is", "bfs"]
    with pytest.raises(bitblas.exceptions.DimensionMismatch, match="profile: expected a square matrix"):
        bitblas.Matrix(bool, 2, 3).profile(orders=True)


def test_the_best_pair_is_no_larger_than_plain_rows():
    seen = {name: dataclasses.replace(PROFILE, facts=some_facts(fill=fill), permutation=p) for name, fill, p in
            (("as it is", 1.0, 0), ("rcm", 8.0, 1 << 10), ("degree", 8.0, 1 << 40))}  # fmt: skip
    assert plan_profile.best_pair(seen, "time", iso=True, kind="gpu") == ("rcm", "b2sr8")
    assert plan_profile.best_pair(seen, "memory", iso=True, kind="gpu")[0] == "rcm"
    del seen["rcm"]
    assert plan_profile.best_pair(seen, "time", iso=True, kind="gpu") == ("as it is", "csr")


PROFILE = plan_profile.Profile(some_facts(), flat(b2sr8=50), "csr", ("csr",), plan_forms.verbs_of(True, True))
