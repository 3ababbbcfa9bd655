"""Packed numbers: every width, sizes around the words, numbers at the very edge of their bits."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas
from bitblas import device as devices
from bitblas import tuning
from bitblas.formats import packing


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("width", range(1, 33))
def test_packed_numbers_come_back(device, width, dtype):
    d, rng = devices.get(bitblas.config.device), np.random.default_rng(width)
    top = min((1 << width) - 1, np.iinfo(dtype).max)
    for size in (0, 1, 2, 31, 32, 33, 1000):
        numbers = rng.integers(0, top, size, dtype=dtype, endpoint=True)
        numbers[-1:] = top
        string = packing.pack(d, d.asarray(numbers), width)
        assert string.dtype == np.uint32 and len(string) == packing.packed_words(size, width)
        flat = sum(int(x) << (k * width) for k, x in enumerate(numbers))  # the definition
        assert int.from_bytes(d.to_host(string).tobytes(), "little") == flat
        assert (d.to_host(packing.unpack(d, string, size, width, dtype)) == numbers).all()


def test_many_numbers_are_packed_in_parallel():
    d, numbers = devices.get("cpu"), np.arange(tuning.count("packing.parallel_numbers") + 5)
    string = packing.pack(d, numbers, 17)
    assert (packing.unpack(d, string, len(numbers), 17, np.int32) == numbers).all()


def test_widths():
    assert [packing.width_of(limit) for limit in (0, 1, 2, 3, 4, 5, 1 << 31, 1 << 32)] == [1, 1, 1, 2, 2, 3, 31, 32]
    assert packing.packed_words(1 << 31, 32) == (1 << 31) + 1  # beyond 32 bits, computed without such an array
    with pytest.raises(ValueError, match="limit"):
        packing.width_of((1 << 32) + 1)
