# Read a range of positions from a bitset. CPU twin of range.cuh.
@njit(**FUNCTION)
def range_in(word, low, high):
    """The bits of a bitset's word within a range of positions."""
    bits = ~np.uint64(0)
    if word == low >> 6:
        bits &= ~np.uint64(0) << np.uint64(low & 63)
    if word == high - 1 >> 6:
        bits &= ~np.uint64(0) >> np.uint64(63 - (high - 1 & 63))
    return bits


@njit(**FUNCTION)
def count_in(bits, low, length):
    found = np.int64(0)
    for word in range(low >> 6, (low + length - 1 >> 6) + 1):
        found += np.int64(popcount(at(bits, word) & range_in(word, low, low + length)))
    return found
