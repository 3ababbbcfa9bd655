"""Parquet files read by ranks: row groups of any sizes, fewer than ranks, none; errors on every rank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from distributed_programs import N, operands, same

import bitblas as gb
import bitblas.distributed as gd
from bitblas.distributed import reading as module
from bitblas.exceptions import DistributedError, GraphblasException


def tables(g, folder):
    import pyarrow
    from pyarrow import parquet

    folder, x = Path(folder), operands(gb)
    i, j, values = map(g.device.to_host, x.A.to_coo())
    table = pyarrow.table({"more": np.zeros(len(i)), "source": i, "to": j.astype(np.int32), "w": values})
    short = table.slice(0, 2)
    if g.rank == 0:
        for name, part, rows in (("one", table, None), ("many", table, 100), ("short", short, 1)):
            parquet.write_table(part, folder / f"{name}.parquet", **({} if rows is None else {"row_group_size": rows}))
        parquet.write_table(table.slice(0, 0), folder / "none.parquet")
        (folder / "parts").mkdir(exist_ok=True)
        for k, (low, high) in enumerate(((0, 1), (1, 1), (1, 900), (900, len(i)))):
            parquet.write_table(table.slice(low, high - low), folder / "parts" / f"{k}.parquet")
        missing = table.set_column(3, "w", pyarrow.array([None, *values[1:].tolist()]))
        parquet.write_table(missing, folder / "missing.parquet")
        half = table.set_column(3, "w", pyarrow.array((np.arange(len(i)) % 7).astype(np.float16)))
        parquet.write_table(half, folder / "half.parquet")
        far = table.set_column(1, "source", pyarrow.array(np.r_[i[:-1].astype(np.int64), -1]))
        parquet.write_table(far, folder / "far.parquet")
        named = table.set_column(1, "source", pyarrow.array(i.astype(str)))
        parquet.write_table(named, folder / "named.parquet")
        (folder / "bad.parquet").write_text("no table")
        ways = {"source": [0, 1, 1], "to": [1, 0, 2], "w": [5, 2, 4]}
        parquet.write_table(pyarrow.table(ways), folder / "both.parquet")
        (folder / "both.csv").write_text("0,1,5\n1,0,2\n1,2,4\n")
    g.barrier()
    how = {"target": "to", "weight": "w", "size": N}
    for name in ("one.parquet", "many.parquet", "parts"):
        for share in (True, False):
            assert same(x.A, gd.read(folder / name, share=share, **how)), name
    halves = gb.Matrix.from_coo(i, j, (np.arange(len(i)) % 7).astype(np.float64), nrows=N, ncols=N)
    for share in (True, False):
        assert same(halves, gd.read(folder / "half.parquet", share=share, **how))
    pattern = gb.unary.one[gb.dtypes.BOOL](x.A).new()
    assert same(pattern, gd.read(folder / "many.parquet", target="to", size=N))
    found = gd.read(folder / "short.parquet", target="to", weight="w", directed=False, dup_op="any")
    n = 1 + int(max(i[:2].max(), j[:2].max()))
    wanted = gb.Matrix.from_coo(
        np.r_[i[:2], j[:2]], np.r_[j[:2], i[:2]], np.r_[values[:2], values[:2]], nrows=n, ncols=n, dup_op="any"
    )
    assert same(wanted, found)
    for dup_op, least in ((None, 2), ("plus", 7)):  # both ways in the file, with other weights
        wanted = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [least, least, 4, 4], nrows=3, ncols=3)
        for share in (True, False):
            options = {"directed": False, "dup_op": dup_op, "share": share}
            assert same(wanted, gd.read(folder / "both.csv", **options))
            assert same(wanted, gd.read(folder / "both.parquet", target="to", weight="w", **options))
    assert same(wanted, gd.read(folder / "both.csv", directed=False, dup_op="plus", format="csr"))
    none = gd.read(folder / "none.parquet", **how)
    assert none.nvals == 0 and none.shape == (N, N)
    rows = [len(module._read_parquet(folder / "many.parquet", True, ["source", "to"], N)[0])]
    assert abs(int(g.gather_host(np.array(rows)).max()) - len(i) / g.size) < 1  # even, whatever the groups
    for name, options, text in (
        ("missing.parquet", {}, "empty rows, first: row 0"), ("far.parquet", {}, "expected vertices from 0"),
        ("named.parquet", {}, "expected integers"), ("bad.parquet", {}, "expected a Parquet file"),
        ("one.parquet", {"weight": "x"}, "expected one of 'more'"), ("one.parquet", {"size": 5}, "from 0 to 4"),
        ("gone.parquet", {}, "gone.parquet"),
    ):  # fmt: skip
        try:
            gd.read(folder / name, **(how | options))
        except (GraphblasException, DistributedError, ValueError, OSError) as error:
            assert text in str(error), (name, error)
        else:
            raise AssertionError(name)
    assert same(x.A, gd.read(folder / "one.parquet", **how))  # and later calls work
