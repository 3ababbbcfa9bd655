"""Kernels compile for every supported architecture, with no GPU, no warning and no spilled register."""

import pickle

import pytest

import semirings
from bitblas.device import jit
from bitblas.kernels.variant import Variant, sum_of
from bitblas.registry import check
from semirings.dtypes import BOOL, FP32, FP64, INT8, INT64, UINT8, UINT64

pytest.importorskip("cuda.core", reason="compiling CUDA kernels needs cuda-core and NVRTC")

every_arch = pytest.mark.parametrize("arch", check.ARCHITECTURES)


def reduce(name, u, z):
    monoid = semirings.monoid[name]
    functions, values, _ = sum_of(monoid, z)
    return Variant("kernels/reduce", (("U", u), ("Z", z)), (), values, functions, f"{monoid!r}")


VARIANTS = [
    reduce("plus", INT64, INT64), reduce("plus", INT8, INT8), reduce("min", FP32, FP32), reduce("lor", BOOL, BOOL),
    reduce("lxor", UINT64, BOOL), reduce("times", FP64, FP64), reduce("max", UINT8, UINT8), reduce("any", FP64, FP64),
]  # fmt: skip


@every_arch
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_variant_compiles(variant, arch):
    report = check.check(variant, arch)
    assert report.problem == ""
    assert 0 < report.registers <= 255
    assert report.shared >= jit.BLOCK
    assert report.spilled == 0


@pytest.fixture
def text(monkeypatch):
    """Compile this text instead of a variant's."""

    def use(source):
        monkeypatch.setattr(jit, "cuda_source", lambda variant: source)
        return Variant("kernels/odd")

    return use


def test_a_warning_is_a_failure(text):
    variant = text('extern "C" __global__ void odd(int* x) { int unused = 3; x[0] = 1; }')
    assert 'variable "unused" was declared but never referenced' in check.check(variant, "sm_90").problem


def test_a_spill_is_a_failure(text):
    # 200 live values in 32 registers: 2048 threads a block of an SM's 65536 registers leave no more.
    body = "".join(f"float v{k} = x[{k} * n];" for k in range(200))
    total = " + ".join(f"v{k} * v{199 - k}" for k in range(200))
    variant = text(
        'extern "C" __global__ void __launch_bounds__(1024, 2) odd(const volatile float* x, float* y, int n) {'
        f"{body} __syncthreads(); y[threadIdx.x] = {total}; }}"
    )
    report = check.check(variant, "sm_90")
    assert report.spilled > 0
    assert "spills" in report.problem


def test_an_error_is_a_failure(text):
    report = check.check(text('extern "C" __global__ void odd(int* x) { x[0] = no_such_name; }'), "sm_80")
    assert 'identifier "no_such_name" is undefined' in report.problem
    assert "kernels/odd" in report.problem


def test_the_command(tmp_path, capsys):
    record = tmp_path / "kernels"
    record.write_bytes(pickle.dumps(VARIANTS[:2]))
    assert check.main([str(record), "--arch", "sm_90", "--only", "INT8"]) == 0
    out = capsys.readouterr().out
    assert "kernels/reduce monoid.plus U=INT8 Z=INT8" in out
    assert "1 compiled" in out and "ms per compilation: median" in out
    assert check.main([str(record), "--list"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[:2] == [str(v) for v in VARIANTS[:2]] and out[-1].split() == ["2", "variants"]
    record.write_bytes(pickle.dumps([Variant("kernels/reduce")]))  # its types have no meaning
    assert check.main([str(record), "--arch", "sm_90"]) == 1
    assert "1 failed" in capsys.readouterr().out


@pytest.mark.slow
def test_in_two_processes():
    reports = list(check.check_all(VARIANTS, ["sm_90"], processes=2))
    assert [r.variant for r in reports] == [str(v) for v in VARIANTS]
    assert not any(r.problem for r in reports)
