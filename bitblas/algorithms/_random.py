"""Counter-based random numbers: hashes of vertex numbers, identical in every library and on every device."""

MASK = 0xFFFFFFFF
# The two rounds of MurmurHash3's 32-bit finalizer, which is a bijection.
ROUNDS = (16, 0x85EBCA6B), (13, 0xC2B2AE35)


def random_hash(x, *keys):
    """A hash in [0, 2**32) of each integer of x (an INT64 array) and the keys."""
    return hash_more(_mixed(x & MASK), *keys)


def hash_more(x, *keys):
    """Hash more keys: drawn(x, a, b) is further(drawn(x, a), b). A key is an integer or an array as long as x."""
    for key in keys:
        x = _mixed(x ^ (key & MASK))
    return x


def _mixed(x):
    for shift, factor in ROUNDS:
        x = (x ^ x >> shift) * factor & MASK  # overflow only affects bits above the 32 that are kept
    return x ^ x >> 16


def random_vector(x, key, gb):
    """The same by GraphBLAS statements, usable in a loop's body: x is a Vector of INT64, key a Scalar or number, all in
    [0, 2**32). Distinct values of x give distinct results.
    """
    return _mix(_mix(x, gb).apply(gb.binary.bxor, right=key).new(), gb)


def _mix(x, gb):
    binary = gb.binary
    for shift, factor in ROUNDS:
        # x = (x ^ x >> shift) * factor mod 2^32
        x = binary.bxor(x & x.apply(binary.bshift, right=-shift).new()).new()
        x = x.apply(binary.times, right=factor).new().apply(binary.band, right=MASK).new()
    # x ^ x >> 16
    return binary.bxor(x & x.apply(binary.bshift, right=-16).new()).new()


def degree_vector(A, gb):
    """The number of entries of each row: a full Vector of INT64."""
    # d = 0; d += A plus.pair d
    degree = gb.Vector.from_scalar(0, A.nrows, dtype=gb.dtypes.INT64)
    degree(gb.monoid.plus) << A.mxv(degree, gb.semiring.plus_pair[gb.dtypes.INT64])
    return degree
