"""Numbers of entries and words that need 64 bits: a matrix whose arrays begin 2^33 elements before their memory, like
the last rows of a graph of ten billion entries. Kernels that truncate an offset to 32 bits read elsewhere, which is a
fault in the emulator. And numbers that just fit 32 bits: kernels that step beyond the end of a row pass 2^31 there,
which is a fault too."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bitblas as gb
from bitblas.algorithms import bfs_levels
from bitblas.formats import Structure
from bitblas.formats.catalog import FORMATS
from bitblas.formats.coded import HEAD_BITS
from bitblas.formats.csr.kernels import STRIDE, index_type, pointer_type
from bitblas.kernels.variant import COUNT, VALUES, WORDS
from bitblas.store import MatrixStore

N, FAR = 600, 1 << 33
ROOM = 4096  # for its entries
LAST = (1 << 31) - STRIDE - ROOM  # where a matrix begins whose pointers have the most entries that fit 32 bits


def entries() -> tuple[np.ndarray, np.ndarray]:
    """A symmetric graph with a hub, whose row, the last one, is cut into segments."""
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, N, 700), rng.integers(0, N, 700)
    hub = np.arange(N - 1)
    i, j = np.concatenate([i, np.full(N - 1, N - 1)]), np.concatenate([j, hub])
    return np.concatenate([i, j]), np.concatenate([j, i])


def made(key: str, begin: int) -> tuple[gb.Matrix, gb.Matrix]:
    """The graph, and the same from entry `begin` on."""
    from emulator.emu import Far

    near = gb.Matrix.from_coo(*entries(), True, nrows=N, ncols=N, format=key)
    form = near._store.structure.primary
    arrays, numbers = dict(form.arrays()), form.numbers()
    if key == "nib":
        arrays["heads"] = arrays["heads"] + (begin << HEAD_BITS)
        arrays["words"] = Far.of(arrays["words"].copy(), begin)
    else:
        per = 1 if key == "csr" else form.width  # words for 32 numbers, of which a whole group begins with a word
        arrays["ptr"] = (arrays["ptr"].astype(np.int64) + begin).astype(pointer_type(begin + form.nvals))
        arrays["col"] = Far.of(arrays["col"].copy(), begin if key == "csr" else begin // 32 * per)
    moved = type(form).restored(form.device, numbers, arrays)
    structure = Structure(moved)
    structure._symmetric = True  # reading by entry number 0 is a fault
    store = near._store
    return near, gb.Matrix._from_store(MatrixStore(structure, store.dtype, store.raw))


def least(A: gb.Matrix, source: int) -> gb.Vector:
    """The least of numbers that spread, from the hub too: a loop that pushes, along segments of its row."""
    v, q = (gb.Vector.from_coo([source, N - 1], [2, 1], "INT64", size=N) for _ in (0, 1))

    def body(_: object) -> None:
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.min_first["INT64"])
        v(gb.binary.min) << q

    gb.loop.repeat(body, while_=q, limit=3)
    return v


@pytest.mark.parametrize(
    ("key", "begin"),
    [
        ("nib", FAR),
        *(pytest.param(*which, marks=pytest.mark.slow) for which in (("csr", FAR), ("mplg", FAR), ("mplg", LAST))),
        ("csr", LAST),
    ],
)
@pytest.mark.usefixtures("emulator")
def test_offsets_beyond_32_bits(key, begin):
    with gb.config.set(device="emulator"):
        near, far = made(key, begin)
        few = gb.Vector.from_coo([3, N - 1], True, size=N)
        some = gb.Vector.from_coo(np.arange(0, N, 3), np.arange(0, N, 3, dtype=np.int64), size=N)
        for v, op in ((few, "lor_land"), (some, "plus_second")):
            op = getattr(gb.semiring, op)
            assert far.mxv(v, op).new().isequal(near.mxv(v, op).new(), check_dtype=True)
            assert v.vxm(far, op).new().isequal(v.vxm(near, op).new(), check_dtype=True)
        for run in (bfs_levels, least):
            assert run(far, 3).isequal(run(near, 3))
        if key == "nib":
            assert far._store.structure.primary.is_symmetric() and far.isequal(near)
            C, D = (gb.Matrix(gb.dtypes.INT64, N, N) for _ in (0, 1))
            C(near.S) << far.mxm(far.T, gb.semiring.plus_pair)
            D(near.S) << near.mxm(near.T, gb.semiring.plus_pair)
            assert C.isequal(D) and C.nvals


def test_pointers_have_room_for_the_steps_of_kernels():
    """The bound at which 64 bits are chosen; the longest rows and segments of forms; what kernels load at once."""
    assert [pointer_type(n).itemsize for n in (0, LAST + ROOM - 1, LAST + ROOM)] == [4, 4, 8]
    assert [index_type(n).itemsize for n in ((1 << 31) - 1, 1 << 31)] == [4, 8]
    for form in FORMATS.values():
        if form.by_rows:
            push, pull = form.kernels["mxv.push"], form.kernels["mxv.pull"]
            kinds = itertools.product((WORDS, COUNT, VALUES), (1, 32))
            steps = [length for kind, lanes in kinds for length in (pull.longest(kind, lanes), push.longest(lanes))]
            assert 2 * max(*steps, pull.segment(), 32 * 4) < STRIDE
