# Read bits from a string of 32-bit words, most significant bit first.


@njit(**FUNCTION)
def window(words, place):
    """The 64 bits from bit `place` on."""
    word = place >> 5
    shift = np.uint64(place & 31)
    pair = np.uint64(at(words, word)) << np.uint64(32) | np.uint64(at(words, word + 1))
    return pair << shift | np.uint64(at(words, word + 2)) >> (np.uint64(32) - shift)
