"""Counter-based random numbers: hashes of vertex numbers, identical in every library and on every device."""

MASK = 0xFFFFFFFF
# Two rounds of the finalizer of MurmurHash3, which maps 32 bits to 32 bits one to one.
ROUNDS = (16, 0x85EBCA6B), (13, 0xC2B2AE35)


def drawn(x, *keys):
    """A number in [0, 2**32) for each of the integers x (an array of INT64), another one for other keys."""
    return further(_mixed(x & MASK), *keys)


def further(x, *keys):
    """drawn(x, a, b) is further(drawn(x, a), b): a key is an integer, or an array of one for each x."""
    for key in keys:
        x = _mixed(x ^ (key & MASK))
    return x


def _mixed(x):
    for shift, factor in ROUNDS:
        x = (x ^ x >> shift) * factor & MASK  # what overflows is above the 32 bits that are kept
    return x ^ x >> 16


def random(x, key, gb):
    """The same for a Vector of INT64, all in [0, 2**32), and a key, a Scalar or a number there: by statements, which
    may stand in the body of a loop. Different numbers stay different."""
    return _mix(_mix(x, gb).apply(gb.binary.bxor, right=key).new(), gb)


def _mix(x, gb):
    binary = gb.binary
    for shift, factor in ROUNDS:
        # x = (x ^ x >> shift) * factor, 32 bits of it
        x = binary.bxor(x & x.apply(binary.bshift, right=-shift).new()).new()
        x = x.apply(binary.times, right=factor).new().apply(binary.band, right=MASK).new()
    return binary.bxor(x & x.apply(binary.bshift, right=-16).new()).new()


def degrees(A, gb):
    """The entries of each row: a full Vector of INT64."""
    degree = gb.Vector.from_scalar(0, A.nrows, dtype=gb.dtypes.INT64)
    degree(gb.monoid.plus) << A.mxv(degree, gb.semiring.plus_pair[gb.dtypes.INT64])
    return degree
