"""Cubins: archives of a package, the cache, and compiling in threads."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import pytest
import record_variants
import test_jit
from emulator import emu

import bitblas
from bitblas.device import cubins, jit
from bitblas.registry import cubins as registry

pytest.importorskip("cuda.core", reason="compiling CUDA kernels needs cuda-core and NVRTC")
cache, fold = test_jit.cache, test_jit.fold  # a fixture, and a function that makes variants
FIRST, OTHER = fold("plus"), fold("times")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with an archive of one kernel for sm_90; nothing is compiled."""
    for function in (cubins.archive, cubins.not_used):
        function.cache_clear()
    registry.build(tmp_path, {0: [], 8: [FIRST], 16: [FIRST]}, ["sm_90"], 1)
    monkeypatch.syspath_prepend(str(tmp_path))

    def refuse(text, variant, arch):
        raise AssertionError(f"compiled {variant} for {arch}")

    monkeypatch.setattr(cubins, "compile_text", refuse)
    yield tmp_path / cubins.PACKAGE
    for function in (cubins.archive, cubins.not_used):
        function.cache_clear()
    sys.modules.pop(cubins.PACKAGE, None)


def test_a_shipped_cubin_is_found_without_compiling(cache, package):
    assert cubins.start(FIRST, "sm_90")().startswith(b"\x7fELF")
    assert not (cache / "cuda").exists()
    found = cubins.archive("sm_90")
    assert found.nvrtc == cubins.nvrtc_version() and len(found) == 8, "this kernel, and those of arrays"
    assert found.cubin("another key") is None
    with pytest.raises(AssertionError, match="compiled kernels/fold"):
        cubins.start(OTHER, "sm_90")()
    assert cubins.archive("sm_80") is None, "the package has none for it"


def test_the_package_is_a_project_of_the_same_version(package):
    text = (package.parent / "pyproject.toml").read_text()
    assert f'version = "{bitblas.__version__}"' in text and 'packages = ["bitblas_cubins"]' in text
    assert sorted(p.name for p in package.iterdir()) == ["__init__.py", "sm_90.cubins"]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: data[:-9], r"sm_90: damaged"),
        (lambda data: data.replace(b"cubins 1", b"cubins 9", 1), r"of another version of bitblas"),
        (lambda data: data[:200] + b"x" + data[201:], r"damaged, or of another version"),
        (lambda data: b"", r"sm_90.cubins"),
    ],
    ids=["cut", "version", "index", "empty"],
)
def test_a_damaged_archive_is_compiled_instead_with_one_warning(cache, package, monkeypatch, damage, why):
    path = package / "sm_90.cubins"
    path.write_bytes(damage(path.read_bytes()))
    called = []
    monkeypatch.setattr(cubins, "compile_text", lambda text, variant, arch: (called.append(arch) or b"code", ""))
    variants = [*registry.arrays.KERNELS.values(), FIRST]
    with pytest.warns(UserWarning, match=why) as seen:
        for variant in variants:
            assert cubins.start(variant, "sm_90")()
    assert len(seen) == 1 and called


def test_which_archive_a_gpu_reads():
    fits = {
        "sm_80": "sm_80",
        "sm_86": "sm_80",
        "sm_89": "sm_80",
        "sm_90": "sm_90",
        "sm_103": "sm_100",
        "sm_121": "sm_120",
    }
    assert {arch: cubins.shipped_for(arch) for arch in fits} == fits
    assert cubins.shipped_for("sm_130") == "compute_120" and cubins.shipped_for("sm_75") is None
    assert registry.clusters_of("sm_89") == (0,) and registry.clusters_of("compute_120") == (8, 16)


def test_the_newest_archives_are_one_compilation(tmp_path, monkeypatch):
    """PTX of "compute_120" is what NVRTC makes on the way to the cubin of sm_120, and is not compiled again."""
    text = jit.cuda_source(FIRST)
    cubin, ptx = cubins.compile_with_ptx(text, FIRST, "sm_120")
    alone = cubins.compile_text(text, FIRST, "compute_120")[0]
    of = lambda data: [line for line in data.split(b"\n") if line and not line.startswith(b"//")]
    assert cubin == cubins.compile_text(text, FIRST, "sm_120")[0] and of(ptx.strip(b"\0")) == of(alone.strip(b"\0"))
    registry.build(tmp_path, {0: [], 8: [FIRST], 16: []}, ["sm_120", "compute_120"], 1)
    for arch, begin in (("sm_120", b"\x7fELF"), ("compute_120", b"//")):
        archive = cubins.Archive((tmp_path / cubins.PACKAGE / f"{arch}.cubins").read_bytes())
        assert archive.cubin(cubins.key_of_text(text)).lstrip().startswith(begin) and len(archive) == 8


def test_the_program_builds_the_project_from_a_record(tmp_path):
    registry.Recorded({0: [FIRST], 8: [], 16: []}, {"first": [FIRST]}).write(tmp_path / "a.pickle")
    program = [sys.executable, "-m", "bitblas.registry.cubins", tmp_path / "b", tmp_path / "a.pickle"]
    subprocess.run([*program, "--arch", "sm_80", "-j", "1"], check=True, capture_output=True)
    archive = cubins.Archive((tmp_path / "b" / cubins.PACKAGE / "sm_80.cubins").read_bytes())
    assert archive.cubin(cubins.key_of_text(jit.cuda_source(FIRST))).startswith(b"\x7fELF")
    assert (tmp_path / "b" / "pyproject.toml").exists()


def test_variants_are_recorded_for_both_kinds_of_gpus(tmp_path, capsys):
    """A program without kernels for clusters is not run again for GPUs without them: it would load the same."""
    if not emu.have_compiler():
        pytest.skip(emu.NO_COMPILER)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # they register an emulator of their own
        (both, error), (without, other) = (
            pool.submit(function, *of).result()
            for function, of in (
                (record_variants.record_both, ("pagerank first",)),
                (record_variants.record, ("pagerank first", "sm_80")),
            )
        )
        searches, failed = pool.submit(record_variants.record_both, "bfs first").result()
    assert error == other == failed == ""
    assert both["sm_80"] == both["sm_90"] == without and without
    clusters = [v for v in searches["sm_90"] if v.constant("CLUSTER")]
    assert clusters and not {*clusters} & {*searches["sm_80"]}
    found = registry.Recorded({0: [], 8: without, 16: []}, {"pagerank": without, "bfs": []})
    found.write(tmp_path / "a.pickle")
    assert record_variants.listed(registry.Recorded.read(tmp_path / "a.pickle"), ["pagerank"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].split() == [str(len(without)), "pagerank"] and len(said) == len(without) + 2


def test_ptx_needs_no_driver():
    data, report = cubins.compile_text(jit.cuda_source(FIRST), FIRST, "compute_120")
    assert b".target sm_120" in data and report == ""
    with pytest.raises(jit.CompileError, match="no_such_type"):
        cubins.compile_text("no_such_type x;", FIRST, "compute_120")


def test_kernels_requested_together_are_compiled_together(cache, monkeypatch):
    both = threading.Barrier(2, timeout=20)  # passed only if two compilations run at once

    def compiled(text, variant, arch):
        both.wait()
        return variant.label.encode(), ""

    monkeypatch.setattr(cubins, "compile_text", compiled)
    before = cubins.requested
    first, second, again = (cubins.start(v, "sm_90") for v in (FIRST, OTHER, FIRST))
    assert (first(), second(), again()) == (b"monoid.plus", b"monoid.times", b"monoid.plus")
    assert cubins.requested == before + 2 == cubins.finished
    assert cubins.start(FIRST, "sm_90")() == b"monoid.plus", "from the cache"
    assert cubins.requested == before + 2


def test_an_error_of_a_thread_is_raised_where_the_kernel_is_needed(cache, monkeypatch):
    monkeypatch.setattr(jit, "cuda_source", lambda variant: "no_such_type x;")
    wait = cubins.start(FIRST, "sm_90")
    with pytest.raises(jit.CompileError, match="no_such_type"):
        wait()


def test_the_status_line_counts_compilations(cache, monkeypatch):
    shown, go = [], threading.Event()
    monkeypatch.setattr(cubins.sys, "stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(cubins.display, "show_status", lambda part, text: (shown.append(text), go.set()))
    monkeypatch.setattr(cubins.display, "clear_status", lambda part: shown.append(""))
    monkeypatch.setattr(cubins, "compile_text", lambda *a: (go.wait(20) and b"code", ""))
    cubins.start(FIRST, "sm_90")()
    number = cubins.requested
    assert shown[0] == f"bitblas: compiling kernel {number} of {number}, once for this machine" and shown[-1] == ""
