"""The cost model of products: features, the fit, files of constants, and a calibration on small samples."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import bitblas as gb
from bitblas import calibrate
from bitblas.calibrate import matrices as kinds
from bitblas.device.jit import cache_dir
from bitblas.exceptions import InvalidValue
from bitblas.formats.split.cost import Parts
from bitblas.plan import cost_model
from bitblas.plan.facts import Facts


def some_facts(nvals=1000.0, **more):
    tiles = tuple((t, nvals / t) for t in (4, 8, 16, 32, 64))
    return Facts(640, 320, int(nvals), tiles, (("split8", Parts(10.0, 20.0)),), **more)


def test_features_count_what_a_form_has():
    seen = some_facts(levels=7.0, heads=900.0)
    features, size = cost_model.features, seen.bytes_of("csr")
    bits = features(seen, "csr", cost_model.BITS)
    assert bits[2:] == (640, 0, 0, 1000, 1000 / 64, 1000 / 640, 0, 0, 900)
    assert bits[:2] == (1, size + (320 + 2 * 640) / 8)
    for longest, uneven in ((51.0, 125), (50.0, 0)):  # from 32 times the mean on
        assert features(some_facts(longest=longest), "b2sr8", cost_model.BITS)[9] == uneven
    weighted = features(seen, "csr", cost_model.WEIGHTS)
    assert weighted[1] == size + 4 * 1000 + 4.125 * 960 and weighted[6] == 1000 / 16
    assert features(seen, "b2sr8", cost_model.NUMBERS)[2:6] == (80, 125, 1000, 0)
    split = features(seen, "split8", cost_model.NUMBERS)
    assert split[2:6] == (80, 10, 980, 20) and split[7:9] == (30 / 80, 980 / 80)
    assert features(seen, "csr", cost_model.BFS) == (*bits[:10], 7, 7 * 640, 7 * size)
    assert {verb: len(features(seen, "csr", verb)) for verb in cost_model.VERBS} == cost_model.COUNTS


def test_facts_are_kept_as_json():
    seen = some_facts(levels=2.5, heads=99.0, longest=3.0)
    assert Facts.from_json(json.loads(json.dumps(dataclasses.asdict(seen)))) == seen
    with pytest.raises(TypeError):
        Facts.from_json(dataclasses.asdict(seen) | {"edges": 3})
    with pytest.raises(KeyError):
        Facts.from_json({name: x for name, x in dataclasses.asdict(seen).items() if name != "heads"})


def test_a_fit_finds_the_constants():
    rng = np.random.default_rng(0)
    truth = np.array([3.0, 1e-4, 0.0, 2e-3, 5e-2])
    features = [tuple(map(float, rng.integers(1, 1 << k, 5) * [1, 1000, 10, 10, 1])) for k in range(4, 16)]
    found = calibrate.fit([(f, float(truth @ f), 1.0) for f in features])
    np.testing.assert_allclose(found, truth, rtol=1e-6, atol=1e-12)
    never = calibrate.fit([((1.0, float(k), 0.0, 0.0, 0.0), 5.0 - 0.1 * k, 1.0) for k in range(5)])
    assert min(never) == 0, "no constant is below zero"
    heavy = calibrate.fit([((1.0,), 2.0, 100.0), ((1.0,), 1.0, 1.0)])
    assert heavy[0] == pytest.approx(2, abs=1e-3), "errors count by their weights"
    between = calibrate.fit([((1.0,), 1.0, 1.0), ((1.0,), 100.0, 1.0)])
    assert between[0] == pytest.approx(10, rel=1e-3), "ten times too much is as wrong as ten times too little"


def test_ratios_to_rows_are_fitted_where_times_cannot_be():
    """No constants explain CSR's times; MPLG takes twice as long on each matrix, as predicted."""
    seen = [some_facts(nvals) for nvals in (1000, 2000, 3000)]
    times = (7.0, 5.0, 9.0)
    samples = [calibrate.Sample("x", f, {"csr bits": t, "mplg bits": 2 * t}) for f, t in zip(seen, times)]
    made = calibrate.fitted(samples, "a device", "a test")
    assert made.errors["csr bits"][1] > 0.1
    for f in seen:
        rows = made.costs.predict(f, "csr", "bits")
        assert made.costs.predict(f, "mplg", "bits") == pytest.approx(2 * rows, rel=1e-6)


def test_shipped_constants_cover_every_form_and_verb():
    for kind in ("cpu", "gpu"):
        found = cost_model.shipped(kind)
        for key in ("csr", "mplg", "b2sr4", "b2sr8", "b2sr16", "b2sr32", "b2sr64", "split4", "split8", "split16"):
            for verb in cost_model.VERBS:
                assert found.predict(some_facts(), key, verb) > 0 if key[-1] == "8" else f"{key} {verb}" in found.us
        assert cost_model.Costs.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_no_prediction_is_below_what_moving_the_bytes_takes():
    """Ten gigabytes of tiles on the H200, for which a fit to megabytes alone would predict a quarter of that."""
    huge = Facts(1 << 24, 1 << 24, 1 << 30, ((64, 2e7),), levels=9.0, heads=1e8, longest=1e6)
    assert 1.0e10 < huge.bytes_of("b2sr64") < 1.1e10
    some = dataclasses.replace(huge, tiles=tuple((t, 2e7) for t in (4, 8, 16, 32, 64)))
    for kind, bandwidth in (("cpu", 35044.0), ("gpu", 4.2e6)):
        found = cost_model.shipped(kind)
        assert found.bandwidth == bandwidth
        for verb in cost_model.VERBS:
            least = (some.bytes_of("b2sr64") + 4 * some.nvals * (verb == cost_model.WEIGHTS)) / bandwidth
            assert found.predict(some, "b2sr64", verb) >= least
    us = {f"csr {verb}": (1.0, *[0.0] * 10) for verb in (cost_model.BITS, cost_model.NUMBERS)}
    told = cost_model.Costs("x", "y", us, 2.0)
    assert told.predict(some, "csr", cost_model.NUMBERS) == some.bytes_of("csr") / 2
    assert told.predict(some, "csr", cost_model.BITS) < some.bytes_of("csr") / 20, "rows end at their first hit"
    small = some_facts(heads=1000.0)
    assert told.predict(small, "csr", cost_model.BITS) == small.bytes_of("csr") / 2


def test_the_bandwidth_is_measured(device, tune):
    tune({"calibrate.copied_bytes.cpu": 1 << 20, "calibrate.copied_bytes.gpu": 1 << 20})
    found = calibrate.bandwidth(gb.device.get(gb.config.device))
    assert 1 < found < 1e9 and np.isfinite(found)


def test_a_calibration_is_kept_and_read(monkeypatch, tmp_path):
    cache_dir.cache_clear()
    monkeypatch.setenv("BITBLAS_CACHE", str(tmp_path))
    device = gb.device.get("cpu")
    try:
        cost_model.forget()
        assert cost_model.costs_of(device) == cost_model.shipped("cpu").shared(device.threads)
        made = cost_model.Costs("this", "a test", {"csr bits": (1.0, *[0.0] * 10)}, 1e6)
        calibrate.save(made, cost_model.path_of(device))
        cost_model.forget()
        assert cost_model.costs_of(device) == made and made.predict(some_facts(), "csr", cost_model.BITS) == 1
        match = r"no constants of b2sr8 bits for this \(a test\); run `bitblas calibrate`"
        with pytest.raises(InvalidValue, match=match):
            made.predict(some_facts(), "b2sr8", cost_model.BITS)
        wrong = ({"version": 2}, {"bandwidth": 0}, {"us": {"csr bits": [1, 2]}}, {"us": {"csr": [1]}})
        for bad in ("", "{}", '{"version": 0}', *(json.dumps(made.to_json() | x) for x in wrong)):
            cost_model.path_of(device).write_text(bad)
            cost_model.forget()
            with pytest.raises(InvalidValue, match=r"damaged.*another version.*bitblas calibrate"):
                cost_model.costs_of(device)
    finally:
        monkeypatch.undo()
        cache_dir.cache_clear()
        cost_model.forget()


def test_products_are_measured(monkeypatch):
    """Two samples, two formats: every pair of format and verb has constants and a reported error."""
    few = lambda n: [("near", n, kinds.near(n, 6, 40)), ("grid", 64, kinds.grid(64))]
    monkeypatch.setattr(kinds, "samples", few)
    monkeypatch.setattr(Facts, "forms", property(lambda self: ("csr", "b2sr8")))
    monkeypatch.setattr(calibrate, "measure", lambda A, verb, source: float(A.nvals))
    made = calibrate.calibrate(gb.device.get("cpu"), 10)
    assert set(made.costs.us) == {f"{key} {verb}" for key in ("csr", "b2sr8") for verb in cost_model.VERBS}
    assert all(worst < 1e-6 for name, (_, worst) in made.errors.items() if name.startswith("csr"))
    assert 1 < made.costs.bandwidth < np.inf and "csr bits" in str(made) and "csr bfs" in str(made)
    again = [calibrate.Sample.from_json(json.loads(json.dumps(sample.to_json()))) for sample in made.samples]
    assert again == list(made.samples) and calibrate.fitted(again, "x", "y").costs.us == made.costs.us


@pytest.mark.in_turn
def test_a_profile_with_measured_times(device, monkeypatch):
    monkeypatch.setattr(Facts, "forms", property(lambda self: ("csr", "b2sr8")))
    n = 1 << 10
    A = gb.Matrix.from_coo(*kinds.near(n, 4, n), True, nrows=n, ncols=n, format="csr")
    held = [key for key, _, _, _ in A._store.structure.forms()]
    table = A.profile(measure=True)
    assert {key for (key, _), us in table.measured if us > 0} == set(table.facts.forms)
    assert str(table).count(" measured") == len(table.verbs) == 3
    told = table.verdict()
    assert told.startswith(f"{table.chosen} takes ") and all(verb in told for verb in table.verbs)
    assert f"measured on {A.device.model}: {told}" in str(table) and "measured" not in str(A.profile())
    with pytest.raises(InvalidValue, match="measure or orders"):
        A.profile(measure=True, orders=True)
    assert held == [key for key, _, _, _ in A._store.structure.forms()], "nothing is kept"


def test_samples_are_matrices():
    found = list(kinds.samples(1 << 10))
    assert len({name for name, _, _ in found}) == len(found)
    for name, n, (i, j) in found:
        assert len(i) == len(j) >= n and min(i.min(), j.min()) >= 0 and max(i.max(), j.max()) < n, name
    for name, entries in (("mesh", kinds.mesh(1 << 11)), ("roads", kinds.mesh(1 << 11, 0.62))):
        edges = set(zip(*(x.tolist() for x in entries)))
        assert edges == {(b, a) for a, b in edges} and len(edges) == len(entries[0]), name
    rows, _ = kinds.mycielskian(5)
    assert len(rows) == 2 * 71 and rows.max() == 22, "23 vertices, 71 edges"
    assert len(kinds.mesh(1 << 11)[0]) == 2 * (31 * 64 + 32 * 63 + 31 * 63), "a square of triangles"
