"""Files that ranks write and read: saved matrices, text in ranges of bytes, row groups of Parquet, checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from distributed_programs import N, assert_refused, operands, same

import bitblas as gb
import bitblas.distributed as gd
from bitblas.distributed import reading
from bitblas.exceptions import DistributedError, GraphblasException, InvalidValue

TOP = 2**64 - 1
HEAD = "%%MatrixMarket matrix coordinate "


def files(g, folder):
    """Saved by these ranks; text files read in ranges of bytes."""
    folder = Path(folder)
    x, y = operands(gb), operands(gd)
    for name in ("A", "S", "R"):
        getattr(y, name).save(folder / name)
        assert same(getattr(x, name), gd.Matrix.load(folder / name, verify=True))
    y.A.save(folder / "A")  # over existing files
    if g.rank == 0:
        assert len(list((folder / "A").iterdir())) == g.size + 1
        for name in ("A.mtx", "F.mtx.gz", "W.mtx", "S.mtx"):  # of those that are symmetric a triangle
            gb.io.mmwrite(folder / name, getattr(x, name[0]))
        gb.io.write_edgelist(folder / "W.csv", x.W, delimiter=",", header=True)
        gb.io.write_edgelist(folder / "W.tsv", x.W, delimiter="\t", decimal=",")
        gb.io.write_edgelist(folder / "S.edges", x.S, directed=False)
        (folder / "twice.csv").write_text("0,1,100\n0,1,100\n1,0,5\n")
        (folder / "large.csv").write_text(f"0,1,{2**62}\n0,1,{2**62}\n1,0,5\n")
        (folder / "bad.mtx").write_text((folder / "A.mtx").read_text().replace("\n299 ", "\n2x99 ", 1))
    g.barrier()
    for file, wanted, options in (
        ("A.mtx", x.A, {}), ("F.mtx.gz", x.F, {}), ("W.mtx", x.W, {}), ("S.mtx", x.S, {}),
        ("W.csv", x.W, {"size": N}), ("W.tsv", x.W, {"size": N, "decimal": ","}),
        ("S.edges", x.S, {"size": N, "directed": False}),
    ):  # fmt: skip
        for share in (True, False):
            assert same(wanted, gd.read(folder / file, share=share, **options)), file
    joined = gb.Matrix.from_coo([0, 1], [1, 0], [200, 5])
    assert same(joined, gd.read(folder / "twice.csv", dup_op="plus"))
    for file, dtype in (("twice.csv", "INT8"), ("large.csv", None)):  # sums that overflow the type
        assert_refused(GraphblasException, gd.read, folder / file, dup_op="plus", dtype=dtype)
    i, j, values = x.A.to_coo()
    mine = slice(g.rank, None, g.size)  # each rank some of the entries, of any rows
    shared = gd.Matrix.from_coo(i[mine], j[mine], values[mine], nrows=N, ncols=N, share=True)
    assert same(x.A, shared)
    chunks = lambda: ((i[k::7].astype(int), j[k::7].astype(int)) for k in range(g.rank, 7, g.size))
    assert same(gb.unary.one[gb.dtypes.BOOL](x.A).new(), gd.Matrix.from_chunks(chunks, nrows=N, ncols=N, share=True))
    with_values = [(i[k::3], j[k::3], values[k::3]) for k in range(3)]
    assert same(x.A, gd.Matrix.from_chunks(with_values, nrows=N, ncols=N))
    at, u = x.u.to_coo()
    assert same(x.u, gd.Vector.from_coo(at[mine], u[mine], size=N, share=True))


def opened(g, folder):
    """What another number of ranks saved; the manifest is written last."""
    x = operands(gb)
    for name in ("A", "S", "R"):
        assert same(getattr(x, name), gd.Matrix.load(Path(folder) / name))
    assert gd.Matrix.load(Path(folder) / "S")._part._stored.iso
    assert_refused(FileNotFoundError, gd.Matrix.load, Path(folder) / "none")


def restarts(g, folder, last):
    """A search that is stopped after some rounds and continued; with `last` to its end."""
    y = operands(gd)
    v, q, told = gd.Vector(int, N), gd.Vector(bool, N), []
    q[3] = True

    def body(level):
        if last == "no" and level == 2:
            raise KeyError
        told.append(level)
        v(q.S) << level
        q(~v.S, gd.replace) << q.vxm(y.A, gd.semiring.any_pair[gd.dtypes.BOOL])

    program = gb.loop.Program(body, while_=q).checkpoint(folder, state=[v], every=2)
    if last == "no":
        assert_refused(KeyError, program.run)
        assert told == [0, 1]
    else:
        assert program.run() == told[-1] + 1 and told[0] == 2
        assert same(gb.algorithms.bfs_levels(operands(gb).A, 3), v)


def tables(g, folder):
    import pyarrow
    from pyarrow import parquet

    folder, x = Path(folder), operands(gb)
    i, j, values = map(g.device.to_host, x.A.to_coo())
    table = pyarrow.table({"more": np.zeros(len(i)), "source": i, "to": j.astype(np.int32), "w": values})
    if g.rank == 0:
        ways = {"source": [0, 1, 1], "to": [1, 0, 2], "w": [5, 2, 4]}
        replaced = lambda at, name, column: table.set_column(at, name, pyarrow.array(column))
        (folder / "parts").mkdir(exist_ok=True)
        for name, part, rows in (
            ("one", table, None), ("many", table, 100), ("short", table.slice(0, 2), 1),
            ("none", table.slice(0, 0), None), ("parts/0", table.slice(0, 1), None),
            ("parts/1", table.slice(1, 0), None), ("parts/2", table.slice(1, 899), None),
            ("parts/3", table.slice(900), None),
            ("missing", replaced(3, "w", [None, *values[1:].tolist()]), None),
            ("half", replaced(3, "w", (np.arange(len(i)) % 7).astype(np.float16)), None),
            ("far", replaced(1, "source", np.r_[i[:-1].astype(np.int64), -1]), None),
            ("named", replaced(1, "source", i.astype(str)), None), ("both", pyarrow.table(ways), None),
        ):  # fmt: skip
            parquet.write_table(part, folder / f"{name}.parquet", row_group_size=rows)
        (folder / "bad.parquet").write_text("no table")
        (folder / "both.csv").write_text("0,1,5\n1,0,2\n1,2,4\n")
    g.barrier()
    how = {"target": "to", "weight": "w", "size": N}
    halves = gb.Matrix.from_coo(i, j, (np.arange(len(i)) % 7).astype(np.float64), nrows=N, ncols=N)
    for name, wanted in (("one.parquet", x.A), ("many.parquet", x.A), ("parts", x.A), ("half.parquet", halves)):
        for share in (True, False):
            assert same(wanted, gd.read(folder / name, share=share, **how)), name
    pattern = gb.unary.one[gb.dtypes.BOOL](x.A).new()
    assert same(pattern, gd.read(folder / "many.parquet", target="to", size=N))
    found = gd.read(folder / "short.parquet", target="to", weight="w", directed=False, dup_op="any")
    n = 1 + int(max(i[:2].max(), j[:2].max()))
    ends = np.r_[i[:2], j[:2]], np.r_[j[:2], i[:2]]
    assert same(gb.Matrix.from_coo(*ends, np.tile(values[:2], 2), nrows=n, ncols=n, dup_op="any"), found)
    for dup_op, least in ((None, 2), ("plus", 7)):  # both ways in the file, with other weights
        wanted = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [least, least, 4, 4], nrows=3, ncols=3)
        for share in (True, False):
            options = {"directed": False, "dup_op": dup_op, "share": share}
            assert same(wanted, gd.read(folder / "both.csv", **options))
            assert same(wanted, gd.read(folder / "both.parquet", target="to", weight="w", **options))
    assert same(wanted, gd.read(folder / "both.csv", directed=False, dup_op="plus", format="csr"))
    none = gd.read(folder / "none.parquet", **how)
    assert none.nvals == 0 and none.shape == (N, N)
    rows = [len(reading._read_parquet(folder / "many.parquet", True, ["source", "to"], N)[0])]
    assert abs(int(g.gather_host(np.array(rows)).max()) - len(i) / g.size) < 1  # even, whatever the groups
    for name, options, text in (
        ("missing.parquet", {}, "expected a value in every row"), ("far.parquet", {}, "expected vertices from 0"),
        ("named.parquet", {}, "expected integers"), ("bad.parquet", {}, "expected a Parquet file"),
        ("one.parquet", {"weight": "x"}, "column 'x': expected one of"), ("one.parquet", {"size": 5}, "from 0 to 4"),
        ("gone.parquet", {}, "gone.parquet"),
    ):  # fmt: skip
        assert_refused((GraphblasException, ValueError, OSError), gd.read, folder / name, said=text, **(how | options))
    assert same(x.A, gd.read(folder / "one.parquet", **how))  # and later calls work


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
    far = 10**12
    files["far.csv"] = [f"{far},1\n5,{far + 1}\n"]
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
    kinds = InvalidValue, DistributedError
    for name in ("mixed.csv", "beyond.csv"):
        assert_refused(kinds, gd.read, folder / name, said="2^64")
        found = gd.read(folder / name, dtype="FP64").gathered()
        assert found.isequal(gb.io.read(folder / name, dtype="FP64").matrix), name
    for name, dtype in (("wide.csv", "INT64"), ("real.csv", "UINT64"), ("wide.mtx", "UINT8")):
        assert_refused(kinds, gd.read, folder / name, said=f"dtype {dtype}", dtype=dtype)
    A = gd.read(folder / "far.csv")
    assert A.nrows == far + 2 and A.nvals == 2
    assert int(g.gather_host(np.array([A.memory().total])).max()) < 1 << 24
