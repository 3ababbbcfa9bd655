"""Random numbers that are the same in every library and on every device: hashes of the vertex numbers."""

MASK = 0xFFFFFFFF


def hashes(A, seed, gb):
    """The out-degrees, and a different number in [0, 2**32) for each vertex: two arrays of INT64, on A's device.

    Two rounds of the finalizer of MurmurHash3, which maps 32 bits to 32 bits one to one.
    """
    INT64 = gb.dtypes.INT64
    # degree = 0; degree += A plus.pair degree
    degree = gb.Vector.from_scalar(0, A.nrows)
    degree(gb.monoid.plus) << A.mxv(degree, gb.semiring.plus_pair[INT64])
    index, degrees = degree.to_coo()
    return degrees, drawn(index.astype("int64"), seed)


def drawn(x, *keys):
    """A number in [0, 2**32) for each of the integers x (an array of INT64), another one for other keys."""
    x = _mixed(x & MASK)
    for key in keys:
        x = _mixed(x ^ (key & MASK))
    return x


def _mixed(x):
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = (x ^ x >> shift) * factor & MASK  # what overflows is above the 32 bits that are kept
    return x ^ x >> 16
