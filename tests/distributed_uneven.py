"""Errors on one rank: all ranks raise them, and continue together. `distributed_uneven.py FOLDER LAST`."""

import sys
from pathlib import Path

import numpy as np

import bitblas as gb
import bitblas.distributed as gd
from bitblas import tuning
from bitblas.distributed import replicated
from bitblas.exceptions import DistributedError, IndexOutOfBound, InvalidValue, OutOfMemory, OutputNotEmpty

N = 300


def error_of(run):
    try:
        run()
    except Exception as error:
        return error
    return None


def refused(group, what, run, own, others=None, finder=-1):
    """run() fails with `own` on the rank that finds the fault (the last one), with `others` on all others, by default
    DistributedError that names it; and later calls work on every rank."""
    finder %= group.size
    found = error_of(run)
    if others is None and group.rank != finder:
        assert type(found) is DistributedError and f"rank {finder} failed: {own.__name__}" in str(found), (what, found)
    else:
        assert isinstance(found, own if group.rank == finder or others is None else others), (what, found)
    assert group.allreduce(np.array([1])).tolist() == [group.size], what


def parts_of_entries(group):
    """Each rank gives its own."""
    last, i = group.rank == group.size - 1, np.arange(group.rank, N, group.size)
    for at in (N, -1):
        bad = np.r_[i, at] if last else i
        good = np.zeros(len(bad), int)
        for rows, columns in ((bad, good), (good, bad)):
            make = lambda rows=rows, columns=columns: gd.Matrix.from_coo(rows, columns, nrows=N, ncols=N, share=True)
            refused(group, f"from_coo {at}", make, IndexOutOfBound)
            chunks = lambda rows=rows, columns=columns: iter([(rows[:50], columns[:50]), (rows[50:], columns[50:])])
            make = lambda chunks=chunks: gd.Matrix.from_chunks(chunks, nrows=N, ncols=N, share=True)
            refused(group, f"from_chunks {at}", make, IndexOutOfBound)
        refused(group, f"Vector {at}", lambda bad=bad: gd.Vector.from_coo(bad, 1, size=N, share=True), IndexOutOfBound)
    lengths = [1, 2, 3] if last else np.ones(len(i), int)
    refused(group, "lengths", lambda: gd.Vector.from_coo(i, lengths, size=N, share=True), ValueError)
    refused(group, "text", lambda: gd.Vector.from_coo(i, "x" if last else 1, size=N, share=True), ValueError)

    def broken():
        yield i[:10], i[:10]
        if last:
            raise OSError("a disk")
        yield i[10:], i[10:]

    refused(group, "a generator", lambda: gd.Matrix.from_chunks(broken, nrows=N, ncols=N, share=True), OSError)
    # The same place twice, on the rank that has its row: known after the entries were dealt out.
    twice = lambda: gd.Matrix.from_coo([N - 1], [5], [group.rank], nrows=N, ncols=N, share=True)
    refused(group, "twice", twice, ValueError)


def memory(group):
    """Too little on one rank alone."""
    i = np.repeat(np.arange(N), 300)
    j = np.tile(np.arange(300), N)
    mine = slice(group.rank, None, group.size)
    limit = {"memory_limit": 10_000} if group.rank == group.size - 1 else {}
    with gb.config.set(**limit):
        values = np.arange(len(i))
        make = lambda: gd.Matrix.from_coo(i[mine], j[mine], values[mine], nrows=N, ncols=N, share=True)
        refused(group, "memory of from_coo", make, OutOfMemory)
        chunks = lambda: iter([(i[mine], j[mine])])
        make = lambda: gd.Matrix.from_chunks(chunks, nrows=N, ncols=N, share=True)
        refused(group, "memory of from_chunks", make, OutOfMemory)


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
    same = gd.Matrix.from_coo([r], [r], 4, nrows=N, ncols=N, share=True)
    assert same._part._stored.iso
    kinds = [np.array([r], np.int64), np.array([r], np.int32)][r % 2]  # indices of other types
    assert gd.Vector.from_coo(kinds, r, size=N, share=True).nvals == group.size
    found = error_of(lambda: gd.Vector.from_coo([r], [1.5 if r else 1], size=N, share=True))
    assert isinstance(found, InvalidValue) and "INT64 on rank 0, FP64 on rank 1" in str(found), found
    assert gd.Vector.from_coo([r], [1.5 if r else 1], "FP64", size=N, share=True).nvals == group.size


def alike(group):
    """What all ranks give alike, and one of them finds: the same type of error on all."""
    v, n = gd.Vector.from_coo([0], [1], size=N), N - 1
    for what, run, kind in (
        ("duplicates of a vector", lambda: gd.Vector.from_coo([N - 1, N - 1], [1, 2], size=N), ValueError),
        ("duplicates of a matrix", lambda: gd.Matrix.from_coo([n, n], [1, 1], [1, 2], nrows=N, ncols=N), ValueError),
        ("a bad element", lambda: v.__setitem__(N - 1, "x"), TypeError),
        ("bad elements", lambda: v.__setitem__([0, 1], "x"), TypeError),
        ("build", lambda: v.build([1], [1]), OutputNotEmpty),
    ):  # fmt: skip
        found = error_of(run)
        assert isinstance(found, kind), (what, found)
        assert group.allreduce(np.array([1])).tolist() == [group.size], what
    A = gd.Matrix.from_coo([0], [1], [1], nrows=N, ncols=N)
    for key in ((N - 1, 0), ([0, 1], [2, 3]), (slice(0, 3), 0)):
        found = error_of(lambda key=key: A.__setitem__(key, "x"))
        assert isinstance(found, TypeError), (key, found)
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
        found = error_of(lambda: p[x.to_dense()].new())
    assert isinstance(found, IndexOutOfBound), found
    assert p.nvals == N
    for thunk in (2**63 - 1, -(2**63)):  # which the first row of a rank is added to
        for name in ("indexle", "indexgt"):
            one = gb.Vector.from_dense(np.arange(N)).select(name, thunk).new()
            assert p.select(name, thunk).new().gathered().isequal(one), (name, thunk)


def files(group, folder):
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
        for name in ("bad.mtx", "bad.csv"):
            refused(group, name, lambda name=name: gd.read(folder / name), InvalidValue)
        for name, kind in (("few.mtx", InvalidValue), ("none.mtx", FileNotFoundError), ("none.csv", FileNotFoundError)):
            refused(group, name, lambda name=name: gd.read(folder / name), kind, kind)
    A = gd.Matrix.from_coo(i, j, 1, nrows=N, ncols=N)
    if group.rank == 0:
        (folder / "taken").write_text("a file")
    group.barrier()
    refused(group, "save", lambda: A.save(folder / "taken"), OSError, OSError)
    A.save(folder / "A")
    if group.rank == 0:
        last = sorted((folder / "A").glob("rows-*"))[-1]
        last.write_bytes(last.read_bytes()[:100])
    group.barrier()
    refused(group, "load", lambda: gd.Matrix.load(folder / "A", verify=True), InvalidValue)
    assert type(error_of(lambda: gd.Matrix.load(folder / "none"))) is FileNotFoundError


def passes(group):
    """Chunks are gone through as often as the rank needs that does so most often."""
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
    for found in (replicated._scatter(whole, A.shares), gb.algorithms.bfs_levels(A, 0)._part):
        assert len(found._stored.present) == 1 and found.nvals == A.shares.mine


def diverged(group):
    """A statement for which one rank has no memory: no other rank continues as if it had run."""
    i, j = np.divmod(np.arange(0, N * N, 3), N)
    A, B = (gd.Matrix.from_coo(i, j, 1, nrows=N, ncols=N, name=name) for name in "AB")
    limit = {"memory_limit": 10_000} if group.rank == 0 else {}
    with gb.config.set(**limit):
        found = error_of(lambda: A.__lshift__(gb.binary.plus(A | B)))
    assert isinstance(found, OutOfMemory if group.rank == 0 else type(None)), found
    after = error_of(lambda: A.nvals)
    assert isinstance(after, DistributedError) and "rank 0 failed in `A << " in str(after), after


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
        found = error_of(lambda: [group.alltoall(x, [1] * group.size) for _ in range(2)])
        assert isinstance(found, DistributedError) and "rank 0" in str(found), found


if __name__ == "__main__":
    group = gd.init()
    for part in (parts_of_entries, memory, values_of_ranks, alike, indices, passes, without_positions):
        part(group)
    files(group, Path(sys.argv[1]))
    (interrupted if sys.argv[2] == "interrupted" else diverged)(group)  # after which the group is broken
    print(f"rank {group.rank} of {group.size} done", flush=True)
