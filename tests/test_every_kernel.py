"""The two checks of every kernel. It compiles for every supported architecture, with no GPU, no warning and no spilled
register (`make kernels`). `make every-kernel` runs it and compares its arguments with those of its twin.

Results are tested through the public operations, on the device `emulator`.
"""

import pickle

import every_kernel
import pytest

import semirings
from bitblas.device import Cluster, jit
from bitblas.kernels.variant import Variant, sum_of
from bitblas.registry import check
from semirings.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT8, UINT64

ALL = [Variant(kernel) for kernel in every_kernel.KERNELS]


def reduce(name, u, z):
    monoid = semirings.monoid[name]
    functions, values, _ = sum_of(monoid, z)
    return Variant("kernels/reduce", (("U", u), ("Z", z)), (), values, functions, f"{monoid!r}")


VARIANTS = [
    reduce("plus", INT64, INT64), reduce("plus", INT8, INT8), reduce("min", FP32, FP32), reduce("lor", BOOL, BOOL),
    reduce("lxor", UINT64, BOOL), reduce("times", FP64, FP64), reduce("max", UINT8, UINT8), reduce("any", FP64, FP64),
]  # fmt: skip


@pytest.fixture
def nvrtc():
    pytest.importorskip("cuda.core", reason="compiling CUDA kernels needs cuda-core and NVRTC")


@pytest.mark.parametrize("arch", check.ARCHITECTURES)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_variant_compiles(nvrtc, variant, arch):
    report = check.check(variant, arch)
    assert (report.problem, report.spilled) == ("", 0)
    assert 0 < report.registers <= 255 and report.shared >= jit.BLOCK


@pytest.fixture
def text(nvrtc, monkeypatch):
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
    assert report.spilled > 0 and "spills" in report.problem


def test_an_error_is_a_failure(text):
    problem = check.check(text('extern "C" __global__ void odd(int* x) { x[0] = no_such_name; }'), "sm_80").problem
    assert 'identifier "no_such_name" is undefined' in problem and "kernels/odd" in problem


def test_the_command(nvrtc, tmp_path, capsys):
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


def test_architectures_take_turns():
    """Every kernel is compiled for each, every variant for one."""
    work = check.in_turn([*VARIANTS, Variant("kernels/gather")], check.ARCHITECTURES)
    assert {(v.kernel, a) for v, a in work} >= {("kernels/gather", "sm_80"), ("kernels/gather", "sm_90")}
    assert [v for v, a in work if v.kernel == "kernels/reduce"] == [VARIANTS[0], *VARIANTS]
    assert [a for v, a in work[2:5]] == ["sm_90", "sm_80", "sm_90"]


@pytest.mark.slow
def test_in_two_processes(nvrtc):
    reports = list(check.check_all([(v, "sm_90") for v in VARIANTS], processes=2))
    assert [r.variant for r in reports] == [str(v) for v in VARIANTS]
    assert not any(r.problem for r in reports)


# ---- make every-kernel ----------------------------------------------------------------------------------------------


def test_a_kernel_that_did_not_run_is_listed(capsys):
    assert every_kernel.missing(ALL) == 0 and "not run" not in capsys.readouterr().out
    left = [v for v in ALL if v.kernel != "kernels/gather"]
    assert every_kernel.missing(left) == 1 and "not run: kernels/gather" in capsys.readouterr().out


def test_parts_are_complete_together(tmp_path, monkeypatch, capsys):
    parts = [tmp_path / "0", tmp_path / "1"]
    for k, part in enumerate(parts):
        part.write_bytes(pickle.dumps(ALL[k::2]))
    for files, code in ((parts, 0), (parts[:1], 1)):
        monkeypatch.setattr("sys.argv", ["every_kernel.py", "--complete", *map(str, files)])
        assert every_kernel.main() == code
    assert "not run" in capsys.readouterr().out


def test_lanes_are_no_distinction():
    found = [Variant("kernels/reduce", (("U", t),), (("LANES", n),)) for t in (INT64, INT32) for n in (2, 1)]
    assert every_kernel.distinct(found) == every_kernel.distinct(found[::-1])
    assert [(dict(v.types)["U"], v.constant("LANES")) for v in every_kernel.distinct(found)] == [(INT32, 1), (INT64, 1)]


def test_clusters_are_those_of_gpus():
    """The emulator's have 4 blocks of 64 threads."""
    used = Cluster(4, 64, 1536, 64)
    sizes = {"LANES": 8, "CLUSTER": 4, "THREADS": 128, "QUEUE_BYTES": 1536}
    for shared, expected in ((64, 163840), (0, 0)):
        variant = Variant("formats/csr/rounds", (), tuple((sizes | {"SHARED_BYTES": shared}).items()))
        assert every_kernel.on_gpus(variant, None) is variant
        made = dict(every_kernel.on_gpus(variant, used).constants)
        assert made.pop("SHARED_BYTES") == expected
        assert made == {"LANES": 8, "CLUSTER": 16, "THREADS": 1024, "QUEUE_BYTES": 45056}
    assert every_kernel.on_gpus(ALL[0], used) is ALL[0]


def test_arguments_of_twins_are_compared(emulator):
    gather = Variant("kernels/gather", (("U", INT64),), (("LANES", 64), ("U_BOOL", 0), ("FULL", 0), ("DENSE", 1)))
    assert every_kernel.arguments(gather) > 3
    assert not list(every_kernel.odd_arguments([gather]))
    (fault,) = every_kernel.odd_arguments([gather], lambda variant: 3)
    assert fault.startswith("kernels/gather") and "[3," in fault


@pytest.mark.parametrize("masked", [0, 1])
def test_variants_of_a_kernel_take_the_same_arguments(masked):
    """But those with a mask, and generated ones."""
    found = [Variant("loop/gpu/enter", (), (("LANES", k), ("MASKED", k * masked))) for k in (0, 1)]
    count = lambda variant: 5 + 3 * found.index(variant)
    assert bool(list(every_kernel.odd_arguments(found, count))) is not bool(masked)
    assert not list(every_kernel.odd_arguments([*found, Variant("loop/gpu/enter", text="x")], lambda v: hash(v)))
