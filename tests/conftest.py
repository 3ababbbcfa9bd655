"""The devices of the tests, and settings of hypothesis.

pytest                    what takes the `device` fixture runs on the CPU and in the emulator (which needs g++)
pytest --device cuda      only what takes `device` or is marked `gpu` runs, on the GPU; it fails where there is none
pytest --all              more examples, other ones each time

While a test runs on a GPU or in the emulator, the CPU's kernels raise, so that nothing falls back to them unseen; a
test that compares devices is marked `uses_cpu`, one of what the CPU does not have `off_cpu`. Of a test that is marked
`in_turn`, `make test` runs each case on one of the two devices: the one that the case names, or one after the other; on
the other one it is slow.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

# Keeps compiled kernels between runs. Set before anything reads it, and inherited by subprocesses.
os.environ.setdefault("BITBLAS_CACHE", str(Path(__file__).parents[1] / ".cache" / "bitblas"))
os.environ.setdefault("NETWORKX_WARNINGS_TO_IGNORE", "cache")

import hypothesis
import pytest

from bitblas import tuning

# Shared modules of tests; without this a failing `assert` in one has no details.
pytest.register_assert_rewrite("algorithm_runs", "battery_runs", "both_libraries", "cli_runs", "mm_files")

DEVICES = ("cpu", "emulator")
# CPU kernels that run for every device: mining virtual nodes, which is documented to run on the host.
ON_HOST = tuple(f"formats/virtual/{name}" for name in ("minhash", "bicliques"))

# No deadlines: the first example compiles kernels.
COMMON = {"deadline": None, "print_blob": True}
hypothesis.settings.register_profile("few", max_examples=10, derandomize=True, database=None, **COMMON)
hypothesis.settings.register_profile("many", max_examples=200, **COMMON)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", help="run only tests that use a device, on this one (cpu, cuda, emulator)")
    parser.addoption("--all", action="store_true", help="more hypothesis examples, other ones each time")


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(__file__).parents[1] / ".cache"
    folder.mkdir(exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    config.addinivalue_line("markers", "uses_cpu: compares devices, so the CPU's kernels may run too")
    config.addinivalue_line("markers", "off_cpu: of what the CPU does not have")
    config.addinivalue_line("markers", "in_turn: each case on one device, and on the others where slow tests run")
    hypothesis.settings.load_profile("many" if config.getoption("--all") else "few")
    if os.environ.get("BITBLAS_VARIANTS"):  # `make test` sets it: the list of the compiled variants that ran
        from recorder import Recorder

        worker = getattr(config, "workerinput", {}).get("workerid")
        config.pluginmanager.register(Recorder(Path(os.environ["BITBLAS_VARIANTS"]).resolve(), worker))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--device")
        off_cpu = metafunc.definition.get_closest_marker("off_cpu") is not None
        named = [chosen] if chosen else DEVICES[1:] if off_cpu else DEVICES
        metafunc.parametrize("device", named, indirect=True)


def _uses(item: pytest.Item, device: str) -> bool:
    needs_gpu = item.get_closest_marker("gpu") is not None
    if device == "cpu" and item.get_closest_marker("off_cpu") is not None:
        return False
    return device == "cuda" if needs_gpu else "device" in getattr(item, "fixturenames", ())


def _in_turn(items: list[pytest.Item]) -> None:
    """Mark tests slow on devices that are not the turn of their case; cases of a test are numbered in source order."""
    seen: dict[str, dict[object, int]] = {}
    for item in items:
        called = getattr(item, "callspec", None)
        if item.get_closest_marker("in_turn") is None or called is None or "device" not in called.params:
            continue
        cases = seen.setdefault(item.nodeid.partition("[")[0], {})
        # By the values themselves: pytest numbers them on from device to device.
        case = tuple((name, id(value)) for name, value in called.params.items() if name != "device")
        number = cases.setdefault(case, len(cases))
        named = [x["device"] for x in called.params.values() if isinstance(x, dict) and "device" in x]
        # By the parity of the number's bits, so that a device meets every level of whatever varies fast.
        turn = named[0] if named else DEVICES[number.bit_count() % 2]
        if called.params["device"] != turn:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[object]:
    """The tests themselves are half a million objects that stay: Python's collector would look through them again and
    again, a fifth of the time in which kernels are compiled."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = config.getoption("--device")
    if not chosen:
        _in_turn(items)
    else:
        dropped = [item for item in items if not _uses(item, chosen)]
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if _uses(item, chosen)]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and item.config.getoption("--device") != "cuda":
        pytest.skip("needs a GPU: run with --device cuda")


@pytest.fixture
def tune():
    """Change rows of the tuning table until the test ends: `tune({"small_matrix.entries": 0})`."""
    with contextlib.ExitStack() as overrides:
        yield lambda changes: overrides.enter_context(tuning.override(changes))


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """A Matrix Market file for the command line."""
    from cli_runs import GRAPH, written

    return written(tmp_path / "graph.mtx", GRAPH)


@pytest.fixture
def names(tmp_path: Path) -> str:
    """A list of edges between vertices with names."""
    from cli_runs import EDGES, written

    return written(tmp_path / "names.edges", EDGES)


@pytest.fixture
def on_the_cpu() -> Iterator[None]:
    """Objects made without a device are on the CPU."""
    from bitblas.config import config

    with config.set(device="cpu"):
        yield


@pytest.fixture
def few_objects() -> None:
    """A memory limit looks through all objects of the process; not through those that other tests left behind."""
    gc.freeze()


@pytest.fixture(scope="session")
def emulator() -> None:
    """For tests that run kernels in the emulator; they are skipped without a compiler."""
    from emulator import emu

    if not emu.have_compiler():
        pytest.skip(emu.NO_COMPILER)
    importlib.import_module("emulator.device")  # registers it


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """The device of the test, by name; objects made without a device live there."""
    import bitblas.device
    from bitblas.config import config

    name = request.param
    if name == "emulator":
        request.getfixturevalue("emulator")
    name = bitblas.device.get(name).name  # DeviceError: no such device here, and that is a failure
    if name != "cpu" and request.node.get_closest_marker("uses_cpu") is None:
        kernel = bitblas.device.Cpu.kernel

        def refuse(self, variant):
            assert variant.kernel in ON_HOST, f"on {name}, but a CPU kernel was asked for: {variant}"
            return kernel(self, variant)

        monkeypatch.setattr(bitblas.device.Cpu, "kernel", refuse)
    with config.set(device=name):
        yield name


@pytest.fixture
def fake(monkeypatch):
    """Replace CuPy by a fake: fake(count=2, ..); all devices are created again."""
    import threading

    import fake_cupy

    from bitblas import device as devices
    from bitblas.config import config
    from bitblas.device import cuda

    def put(**how):
        cupy = fake_cupy.Cupy(**how)
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setitem(sys.modules, "cupy.cuda", cupy.cuda)
        monkeypatch.setattr(devices, "_devices", {})
        monkeypatch.setattr(devices, "several", False)
        monkeypatch.setattr(cuda, "_home", threading.local())
        cuda.import_cupy.cache_clear()
        return cupy

    monkeypatch.setattr(config, "_device", "cpu")
    yield put
    cuda.import_cupy.cache_clear()
