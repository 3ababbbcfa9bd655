"""`make every-kernel` runs each CUDA kernel and compares its arguments with those of its twin: what it reports.

Results are tested through the public operations, on the device `emulator`.
"""

from __future__ import annotations

import pickle

import every_kernel
import pytest

from bitblas.device import Cluster
from bitblas.kernels.variant import Variant
from semirings.dtypes import INT32, INT64

ALL = [Variant(kernel) for kernel in every_kernel.KERNELS]


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
    variant = Variant("formats/csr/rounds", (), (("LANES", 8), ("CLUSTER", 4), ("THREADS", 128), ("QUEUE_BYTES", 1536)))
    assert every_kernel.on_gpus(variant, None) is variant
    made = every_kernel.on_gpus(variant, Cluster(4, 64, 1536))
    assert dict(made.constants) == {"LANES": 8, "CLUSTER": 16, "THREADS": 1024, "QUEUE_BYTES": 45056}
    assert every_kernel.on_gpus(ALL[0], Cluster(4, 64, 1536)) is ALL[0]


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
