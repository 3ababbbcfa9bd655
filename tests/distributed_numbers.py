"""Text files with weights and vertices near the limits of 64 bits, read in shares: as one process reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import bitblas as gb
import bitblas.distributed as gd
from bitblas.exceptions import DistributedError, InvalidValue

TOP = 2**64 - 1
HEAD = "%%MatrixMarket matrix coordinate "


def numbers(g, folder):
    """Ranks have lines with different kinds of weights; errors are raised on every rank."""
    folder = Path(folder)
    lines = [f"{k},{k + 1},{k}\n" for k in range(300)]
    files = {
        "wide.csv": [*lines, f"7,9,{TOP}\n"],
        "mixed.csv": ["7,9,-4\n", *lines, f"9,7,{TOP}\n"],
        "beyond.csv": [f"7,9,{TOP + 1}\n", *lines],
        "real.csv": [f"7,9,{TOP}\n", *lines, "9,7,0.5\n"],
        "small.mtx": [f"{HEAD}unsigned-integer general\n9 9 3\n", "1 2 3\n", "3 4 5\n", "5 6 7\n"],
        "wide.mtx": [f"{HEAD}integer general\n9 9 3\n", "1 2 3\n", "3 4 5\n", f"5 6 {TOP}\n"],
    }
    if g.rank == 0:
        for name, text in files.items():
            (folder / name).write_text("".join(text))
    g.barrier()
    for name, dtype in (("wide.csv", "UINT64"), ("real.csv", "FP64"), ("small.mtx", "UINT64"), ("wide.mtx", "UINT64")):
        for asked in (None, "FP32"):
            expected = gb.io.read(folder / name, dtype=asked).matrix
            found = gd.read(folder / name, dtype=asked)
            assert str(found.dtype) == (asked or dtype), name
            assert found.gathered().isequal(expected, check_dtype=True), (name, asked)
    for name in ("mixed.csv", "beyond.csv"):
        refused(name, lambda name=name: gd.read(folder / name), "2^64")
        found = gd.read(folder / name, dtype="FP64").gathered()
        assert found.isequal(gb.io.read(folder / name, dtype="FP64").matrix), name
    for name, dtype in (("wide.csv", "INT64"), ("real.csv", "UINT64"), ("wide.mtx", "UINT8")):
        refused((name, dtype), lambda name=name, dtype=dtype: gd.read(folder / name, dtype=dtype), f"dtype {dtype}")
    far = 10**12
    if g.rank == 0:
        (folder / "far.csv").write_text(f"{far},1\n5,{far + 1}\n")
    g.barrier()
    A = gd.read(folder / "far.csv")
    assert A.nrows == far + 2 and A.nvals == 2
    assert int(g.gather_host(np.array([A.memory().total])).max()) < 1 << 24


def refused(what, call, said):
    try:
        call()
    except (InvalidValue, DistributedError) as error:
        assert said in str(error), (what, error)
    else:
        raise AssertionError(what)
