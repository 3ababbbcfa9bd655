# The codes of CGR, the twin of code.cuh.
IN_WORD = 32
LEAST = 4
# include: formats/blocks.cpu.py


@njit(**FUNCTION)
def window(words, place):
    """The 64 bits from bit `place` on."""
    word = place >> 5
    shift = np.uint64(place & 31)
    pair = np.uint64(at(words, word)) << np.uint64(32) | np.uint64(at(words, word + 1))
    return pair << shift | np.uint64(at(words, word + 2)) >> (np.uint64(32) - shift)


@njit(**FUNCTION)
def gamma_at(words, place):
    """The number that stands there, and the bit after it."""
    bits = window(words, place)
    twice = leading_zeros(bits) << np.uint64(1)
    return np.int64(bits >> (np.uint64(63) - twice)) - 1, place + np.int64(twice) + 1


@njit(**FUNCTION)
def zeta_at(words, place):
    """The same in zeta_3."""
    bits = window(words, place)
    more = leading_zeros(bits) + np.uint64(1)
    return np.int64(bits << more >> (np.uint64(64) - np.uint64(3) * more)) - 1, place + 4 * np.int64(more)


@njit(**FUNCTION)
def unfolded(value):
    """How far the first value of a segment is from the row."""
    return value >> 1 ^ -(value & 1)
