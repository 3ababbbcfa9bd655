"""Numbers of entries and words that need 64 bits: a matrix whose arrays begin 2^33 elements further on than they are,
as the last rows of a graph of ten billion entries do. Kernels that cut an offset to 32 bits read elsewhere, which is a
fault in the emulator."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb
from bitblas.algorithms import bfs_levels
from bitblas.formats import Structure
from bitblas.formats.blocks import HEAD_BITS
from bitblas.store import MatrixStore

N, FAR = 300, 1 << 33


def entries() -> tuple[np.ndarray, np.ndarray]:
    """A symmetric graph with a hub, whose row is cut into segments."""
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, N, 700), rng.integers(0, N, 700)
    hub = np.delete(np.arange(N), 7)
    i, j = np.concatenate([i, np.full(N - 1, 7)]), np.concatenate([j, hub])
    return np.concatenate([i, j]), np.concatenate([j, i])


def made(key: str) -> tuple[gb.Matrix, gb.Matrix]:
    """The graph as it is, and far away."""
    from emulator.guarded import Far

    near = gb.Matrix.from_coo(*entries(), True, nrows=N, ncols=N, format=key)
    form = near._store.structure.primary
    arrays, numbers = dict(form.arrays()), form.numbers()
    if key == "nib":
        arrays["heads"] = arrays["heads"] + (FAR << HEAD_BITS)
        arrays["words"] = Far.of(arrays["words"].copy(), FAR)
    else:
        per = 1 if key == "csr" else form.width  # words for 32 numbers, of which a whole group begins with a word
        arrays["ptr"] = arrays["ptr"].astype(np.int64) + FAR
        arrays["col"] = Far.of(arrays["col"].copy(), FAR if key == "csr" else FAR // 32 * per)
    moved = type(form).restored(form.device, numbers, arrays)
    structure = Structure(moved)
    structure._symmetric = True  # what is looked for by entry number 0 is not there
    store = near._store
    return near, gb.Matrix._from_store(MatrixStore(structure, store.dtype, store.raw))


@pytest.mark.parametrize("key", ["nib", *(pytest.param(key, marks=pytest.mark.slow) for key in ("csr", "mplg"))])
@pytest.mark.usefixtures("emulator")
def test_offsets_beyond_32_bits(key):
    import emulator.device  # noqa: F401 - registers it

    with gb.config.set(device="emulator"):
        near, far = made(key)
        few = gb.Vector.from_coo([3, 7], True, size=N)
        some = gb.Vector.from_coo(np.arange(0, N, 3), np.arange(0, N, 3, dtype=np.int64), size=N)
        for v, op in ((few, "lor_land"), (some, "plus_second")):
            op = getattr(gb.semiring, op)
            assert far.mxv(v, op).new().isequal(near.mxv(v, op).new(), check_dtype=True)
            assert v.vxm(far, op).new().isequal(v.vxm(near, op).new(), check_dtype=True)
        assert bfs_levels(far, 3).isequal(bfs_levels(near, 3))
        if key == "nib":
            assert far._store.structure.primary.is_symmetric() and far.isequal(near)
            C, D = (gb.Matrix(gb.dtypes.INT64, N, N) for _ in (0, 1))
            C(near.S) << far.mxm(far.T, gb.semiring.plus_pair)
            D(near.S) << near.mxm(near.T, gb.semiring.plus_pair)
            assert C.isequal(D) and C.nvals
