"""Errors on ranks: bad input, errors that one rank finds, ranks that end, are late or run something else."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from distributed_programs import N, assert_refused, error_of, operands, same, whole

import bitblas as gb
import bitblas.distributed as gd
from bitblas import exceptions as ex
from bitblas import tuning
from bitblas.distributed import work_sharing
from bitblas.exceptions import DistributedError, IndexOutOfBound, InvalidValue, OutOfMemory, OutputNotEmpty


def refusals(g):
    """Bad input raises errors on every rank, and later calls work."""
    y = operands(gd)
    before = y.u.dup()
    for run, kind in (
        (lambda: y.A.mxv(y.w), ex.DimensionMismatch), (lambda: y.w.vxm(y.A), ex.DimensionMismatch),
        (lambda: y.A.mxm(y.R.T), ex.DimensionMismatch), (lambda: y.u.ewise_add(y.w), ex.DimensionMismatch),
        (lambda: y.u << y.w, ex.DimensionMismatch), (lambda: y.u(y.w.S) << 1, ex.DimensionMismatch),
        (lambda: y.A.mxv(y.u, gb.semiring.min_firsti), ex.NotImplementedException),
        (lambda: y.u.ewise_add(gb.Vector(int, N)), TypeError), (lambda: y.u << gb.Vector(int, N), TypeError),
        (lambda: gb.Matrix(int, N, N).mxv(y.u), TypeError), (lambda: y.u[N].new(), IndexError),
        (lambda: gd.Vector.from_coo([N], [1], size=N), ex.IndexOutOfBound),
        (lambda: gd.Vector.from_coo([], [], share=True), ValueError),
        (lambda: y.A.mxv(y.A), TypeError), (lambda: y.u.reduce("nothing"), ValueError),
        (lambda: gd.Matrix.from_coo([0], [1], nrows=N, ncols=N, symmetric=True), ex.InvalidValue),
        (lambda: gd.Matrix(int, N, N, device="cuda:63"), ex.InvalidValue),
        (lambda: gd.Vector.from_scalar(1, N, device="nowhere"), ValueError),
        (lambda: gd.Matrix.from_coo([0], [1], nrows=N, ncols=N, device=["cpu", "cpu"]), TypeError),
    ):  # fmt: skip
        assert_refused(kind, run)
    assert y.u.isequal(before) and g.allreduce(np.array([1]))[0] == g.size
    assert gd.Vector(int, N, device=g.device.name).device is g.device


def fails(g, how):
    """One rank does not come: the others say which, and in what statement."""
    y = operands(gd)
    g.barrier()
    if how == "sizes":
        more = 64 * (g.rank == 1)
        y.A = gd.Matrix.from_coo([0], [1], 1, nrows=N, ncols=N + more)
        y.u = gd.Vector.from_coo([1, 2], [1, 2], size=N + more)
    if g.rank == 1:
        if how == "killed":
            os.kill(os.getpid(), 9)
        if how == "ends":
            sys.exit(7)
        if how == "late":
            time.sleep(1.5)
            sys.exit(0)
        if how == "differs":
            y.A.mxv(y.v).new(name="other")
    w = gd.Vector(int, N, name="w")
    begin = time.monotonic()
    try:
        w << y.A.mxv(y.u)
    except DistributedError as error:
        seconds = time.monotonic() - begin
        print(f"rank {g.rank} after {'more' if seconds > 0.4 else 'less'} than 0.4 s: {error}", flush=True)
        try:
            w.nvals
        except DistributedError as again:
            assert "broken" in str(again) or how == "differs"
        sys.exit(3)


# ---- statements in which one rank's entries could change types, errors or collectives ------------------------------

SIZE = 200  # of several ranks, the first has positions 0 to 63, the last 150 and 190
STATEMENTS = """
v = gb.Vector.from_dense([6, 1, 2147483647])
v = gb.Vector.from_dense([True, False, True])
v = gb.Vector.from_dense([1] * 150 + [2.5] * 50)
v = gb.Vector.from_dense([1] * 150 + [2**63] * 50)
v = gb.Vector.from_dense([1] * 150 + [2**63] * 50, dtype="INT64")
v = gb.Vector.from_dense([1] * 150 + [3] * 50, 3)
v = gb.Vector.from_dense([[1, 2]])
v = gb.Vector.from_coo([1, 150], [1, 2.5], size=N)
A = gb.Matrix.from_dense([[1, 2], [3, 4.5]])
A = gb.Matrix.from_chunks([([1], [2], [3]), ([150], [2], [2.5])], nrows=N, ncols=N)
v[[0, 1]] << u.reduce()
v[[0, 1]](m.S) << u.reduce()
v(v.S)[[0, 1]] << u[190]
v[150](gb.binary.plus) << u.reduce()
v[0] << u
v[150] << u + v
v[[0, 150]] << [2**63, 7]
A[[0, 1], [0, 1]] << u.reduce()
A(A.S, gb.replace)[[0, 1], [0, 1]] << u.reduce()
A[[0, 1], :](A[[0, 1], :].new().S) << u.reduce()
A[150, [1, 2]] << u[2]
A[[0, 150], [0, 1]] << [[1, 2], [3, 2.5]]
A[[0, 150], [0, 1]] << [[1, 2**60 + 1], [3, 2.5]]
A[[0, 150], [0, 1]] << [[1, 2], [3, 2**63]]
v << u.select(">", u[2])
v << u.apply("plus", right=(u + v).reduce())
v << v.ewise_union(u, "minus", u[2], v.reduce())
v << A.mxv(gb.binary.plus(u | v))
i, x = v.to_coo(); v = gb.Vector.from_coo(i, x, size=N, dup_op="plus")
i, x = v.to_coo(); v = gb.Vector.from_coo(x, i, size=N, dup_op="plus")
i, x = u.to_coo(); v = gb.Vector.from_coo(v.to_coo()[0], x, size=N, dup_op="plus")
i, x = t.to_coo(); v = gb.Vector.from_coo(i, np.ones(2), size=N, dup_op="plus")
i, x = t.to_coo(); v = gb.Vector.from_coo(v.to_coo()[0], x, size=N, dup_op="plus")
i, x = h.to_coo(); v = gb.Vector.from_coo(x, i, size=N, dup_op="plus")
""".strip().splitlines()


def few_entries(lib):
    vector = lambda indices, values, size=N: lib.Vector.from_coo(indices, values, size=size)
    return {
        "gb": lib, "np": np, "N": SIZE, "v": vector([1, 5, 150], [1, 2, 3]), "u": vector([2, 150, 190], [4, 5, 6]),
        "t": vector([1, 2], [1, 2]), "h": vector([1, 150], [1, 500]), "m": vector([0, 1], [True, True], 2),
        "A": lib.Matrix.from_coo([0, 3, 150, 199], [1, 2, 3, 4], [1, 2, 3, 4], nrows=SIZE, ncols=SIZE),
    }  # fmt: skip


def alike(g):
    """Each statement runs on one device and on the ranks. All ranks find the same, or the same type of error."""
    for text in STATEMENTS:
        ours, shared = few_entries(gb), few_entries(gd)
        wanted, found = (error_of(exec, text, scope) for scope in (ours, shared))
        assert not isinstance(found, DistributedError), (text, found)
        wanted, found = (None if x is None else type(x) for x in (wanted, found))
        each = g.texts(str(found))
        assert found == wanted and len(set(each)) == 1, f"{text}: {wanted}, {each}"
        for name in "vA" if found is None else "":
            a, b = ours[name], shared[name]
            assert same(a, b) and a.dtype == b.dtype, f"{text}: {a!r} {whole(b)!r}"


if __name__ == "__main__":
    group = gd.init()
    alike(group)
    print(f"rank {group.rank} of {group.size} done", flush=True)


# ---- errors that one rank finds --------------------------------------------------------------------------------


def refused(group, own, call, *args, everywhere=False, **options):
    """The call fails with `own` on the rank that finds the fault (the last one), or everywhere; with DistributedError
    that names it on all others. Later calls work on every rank."""
    last = group.size - 1
    found, what = error_of(call, *args, **options), (call, args, options)
    if everywhere or group.rank == last:
        assert isinstance(found, own), (what, found)
    else:
        assert type(found) is DistributedError and f"rank {last} failed: {own.__name__}" in str(found), (what, found)
    assert group.allreduce(np.array([1])).tolist() == [group.size], what


def parts_of_entries(group):
    """Each rank gives its own."""
    last, i = group.rank == group.size - 1, np.arange(group.rank, N, group.size)
    matrix, vector = {"nrows": N, "ncols": N, "share": True}, {"size": N, "share": True}
    for at in (N, -1):
        bad = np.r_[i, at] if last else i
        good = np.zeros(len(bad), int)
        for ends in ((bad, good), (good, bad)):
            refused(group, IndexOutOfBound, gd.Matrix.from_coo, *ends, **matrix)
            chunks = lambda ends=ends: zip(*([x[:50], x[50:]] for x in ends))
            refused(group, IndexOutOfBound, gd.Matrix.from_chunks, chunks, **matrix)
        refused(group, IndexOutOfBound, gd.Vector.from_coo, bad, 1, **vector)
    for values in ([1, 2, 3] if last else np.ones(len(i), int), "x" if last else 1):  # of a wrong length, or text
        refused(group, ValueError, gd.Vector.from_coo, i, values, **vector)

    def broken():
        yield i[:10], i[:10]
        if last:
            raise OSError("a disk")
        yield i[10:], i[10:]

    refused(group, OSError, gd.Matrix.from_chunks, broken, **matrix)
    # The same place twice, on the rank that has its row: known after the entries were dealt out.
    refused(group, ValueError, gd.Matrix.from_coo, [N - 1], [5], [group.rank], **matrix)


def memory(group):
    """Too little on one rank alone."""
    mine = slice(group.rank, None, group.size)
    i, j = np.repeat(np.arange(N), 300)[mine], np.tile(np.arange(300), N)[mine]
    matrix = {"nrows": N, "ncols": N, "share": True}
    with gb.config.set(**({"memory_limit": 10_000} if group.rank == group.size - 1 else {})):
        refused(group, OutOfMemory, gd.Matrix.from_coo, i, j, np.arange(N * 300)[mine], **matrix)
        refused(group, OutOfMemory, gd.Matrix.from_chunks, lambda: iter([(i, j)]), **matrix)


def values_of_ranks(group):
    """Types and values that differ from rank to rank are not mixed up."""
    ranks, r = range(group.size), group.rank
    v = gd.Vector.from_coo([r, 100 + r, 200 + r], 5 * (r + 1), size=N, share=True)  # one value for each rank
    assert v.gathered().to_dict() == {at + k: 5 * (k + 1) for at in (0, 100, 200) for k in ranks}
    A = gd.Matrix.from_coo([r, 200 + r], [7, 8], r + 1, nrows=N, ncols=N, share=True)
    expected = [k + 1 for at in (0, 200) for k in ranks]
    assert A.gathered().to_coo()[2].tolist() == expected
    some = r == 0  # the others give nothing, and no type: a list of floats for NumPy
    v = gd.Vector.from_coo([250] if some else [], [3] if some else [], size=N, share=True)
    assert v.dtype == gd.dtypes.INT64 and v.gathered().to_dict() == {250: 3}
    assert gd.Vector.from_coo([r], [1], share=True).size == group.size  # one more than the largest index of all
    same = gd.Matrix.from_coo([r], [r], 4, nrows=N, ncols=N, share=True)
    assert same._part._stored.iso
    kinds = [np.array([r], np.int64), np.array([r], np.int32)][r % 2]  # indices of other types
    assert gd.Vector.from_coo(kinds, r, size=N, share=True).nvals == group.size
    said = "INT64 on rank 0, FP64 on rank 1"
    assert_refused(InvalidValue, gd.Vector.from_coo, [r], [1.5 if r else 1], size=N, share=True, said=said)
    assert gd.Vector.from_coo([r], [1.5 if r else 1], "FP64", size=N, share=True).nvals == group.size


def same_faults(group):
    """What all ranks give alike, and one of them finds: the same type of error on all."""
    v, n = gd.Vector.from_coo([0], [1], size=N), N - 1
    A = gd.Matrix.from_coo([0], [1], [1], nrows=N, ncols=N)
    for kind, call, *args in (
        (ValueError, lambda: gd.Vector.from_coo([n, n], [1, 2], size=N)),
        (ValueError, lambda: gd.Matrix.from_coo([n, n], [1, 1], [1, 2], nrows=N, ncols=N)),
        (TypeError, v.__setitem__, n, "x"), (TypeError, v.__setitem__, [0, 1], "x"),
        (OutputNotEmpty, v.build, [1], [1]),
        *((TypeError, A.__setitem__, key, "x") for key in ((n, 0), ([0, 1], [2, 3]), (slice(0, 3), 0))),
    ):  # fmt: skip
        refused(group, kind, call, *args, everywhere=True)
    assert v.gathered().to_dict() == {0: 1} and A.nvals == 1
    A[[0, N - 1], [2, 3]] = [[1, 2], [3, 4]]  # an array, whose rows different ranks have
    assert A[N - 1, 3].new().value == 4 and A[0, 2].new().value == 1 and A.nvals == 5


def indices(group):
    """A vector's values as indices: out of range on one rank alone."""
    p = gd.Vector.from_dense(np.arange(N))
    x = gd.Vector.from_dense(np.r_[np.arange(N - 1), -1])
    with gb.loop.program.one_by_one:
        assert p[x.to_dense()].new().gathered().to_coo()[1].tolist() == [*range(N - 1), N - 1]
        x[N - 1] = N
        assert_refused(IndexOutOfBound, lambda: p[x.to_dense()].new())
    assert p.nvals == N
    for thunk in (2**63 - 1, -(2**63)):  # which the first row of a rank is added to
        for name in ("indexle", "indexgt"):
            one = gb.Vector.from_dense(np.arange(N)).select(name, thunk).new()
            assert p.select(name, thunk).new().gathered().isequal(one), (name, thunk)


def broken_files(group, folder):
    """A fault in the rows of one rank, a folder that is not there."""
    rng = np.random.default_rng(1)
    i, j = np.unravel_index(np.unique(rng.integers(0, N * N, 2000)), (N, N))
    lines = [f"{a} {b} 1.5" for a, b in zip(i + 1, j + 1)]
    lines[-2] = "5 x 1.5"  # of the last rank
    head = "%%MatrixMarket matrix coordinate real general"
    if group.rank == 0:
        (folder / "bad.mtx").write_text("\n".join([head, f"{N} {N} {len(lines)}", *lines, ""]))
        (folder / "bad.csv").write_text("\n".join(line.replace(" ", ",") for line in [*lines, ""]))
        (folder / "few.mtx").write_text("\n".join([head, f"{N} {N} {len(lines)}", *lines[:-3], ""]))
    group.barrier()
    with tuning.override({"file.chunked_block": 1 << 12}):  # the first rank sends the columns to all ranks
        refused(group, InvalidValue, gd.read, folder / "bad.csv")
        for name, kind in (
            ("bad.mtx", InvalidValue),
            ("few.mtx", InvalidValue),
            ("none.mtx", FileNotFoundError),
            ("none.csv", FileNotFoundError),
        ):
            refused(group, kind, gd.read, folder / name, everywhere=True)
    A = gd.Matrix.from_coo(i, j, 1, nrows=N, ncols=N)
    if group.rank == 0:
        (folder / "taken").write_text("a file")
    group.barrier()
    refused(group, OSError, A.save, folder / "taken", everywhere=True)
    A.save(folder / "A")
    if group.rank == 0:
        last = sorted((folder / "A").glob("rows-*"))[-1]
        last.write_bytes(last.read_bytes()[:100])
    group.barrier()
    refused(group, InvalidValue, gd.Matrix.load, folder / "A", verify=True)
    assert type(error_of(gd.Matrix.load, folder / "none")) is FileNotFoundError


def passes(group):
    """Ranks have different numbers of chunks, and read theirs again as often as their formats need."""
    r = group.rank
    i, j = np.divmod(np.arange(r, N * N, group.size), N)
    for layout in ({}, {"format": "nib"}, {"format": "nib"} if r == 0 else {}):
        chunks = lambda: iter([(i[k::5], j[k::5]) for k in range(5 + r)])
        A = gd.Matrix.from_chunks(chunks, nrows=N, ncols=N, share=True, **layout)
        assert A.nvals == N * N and A.is_symmetric(), layout


def without_positions(group):
    """Of 40 vertices the last ranks have none: their vectors have a word of bits, which kernels read."""
    n = 40
    A = gd.Matrix.from_coo(range(n - 1), range(1, n), True, nrows=n, ncols=n)
    assert A.shares.mine == (n if group.rank == 0 else 0)
    whole = gb.Vector.from_dense(np.arange(n) % 5, device=group.device.name)  # an answer that every rank has found
    for found in (work_sharing.own_share(whole, A.shares), gb.algorithms.bfs_levels(A, 0)._part):
        assert len(found._stored.present) == 1 and found.nvals == A.shares.mine


def diverged(group):
    """A statement for which one rank has no memory: no other rank continues as if it had run."""
    i, j = np.divmod(np.arange(0, N * N, 3), N)
    A, B = (gd.Matrix.from_coo(i, j, 1, nrows=N, ncols=N, name=name) for name in "AB")
    with gb.config.set(**({"memory_limit": 10_000} if group.rank == 0 else {})):
        found = error_of(A.__lshift__, gb.binary.plus(A | B))
    assert isinstance(found, OutOfMemory if group.rank == 0 else type(None)), found
    assert_refused(DistributedError, lambda: A.nvals, said="rank 0 failed in `A << ")


def interrupted(group):
    """If a rank leaves a collective by an exception, the others raise an error at once."""
    x = group.device.asarray(np.zeros(group.size, int))
    if group.rank == 0:
        wait = group.wait
        group.wait = lambda done: (_ for _ in ()).throw(KeyboardInterrupt)
        try:
            group.alltoall(x, [1] * group.size, [1] * group.size)
        except KeyboardInterrupt:
            group.wait = wait
        found = error_of(group.barrier)
        assert "left" in str(found) and "by KeyboardInterrupt" in str(found), found
    else:
        twice = lambda: [group.alltoall(x, [1] * group.size, [1] * group.size) for _ in range(2)]
        assert_refused(DistributedError, twice, said="rank 0")


def uneven(group, folder, last):
    """Errors on one rank: all ranks raise them, and continue together, up to the last one."""
    for part in (parts_of_entries, memory, values_of_ranks, same_faults, indices, passes, without_positions):
        part(group)
    broken_files(group, Path(folder))
    (interrupted if last == "interrupted" else diverged)(group)  # after which the group is broken
