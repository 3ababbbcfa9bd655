# Gamma and zeta codes of CGR. CPU twin of code.cuh.
IN_WORD = 32
LEAST = 4
# include: formats/blocks.cpu.py
# include: kernels/views.cpu.py


@njit(**FUNCTION)
def gamma_at(words, place):
    """The gamma-coded number at bit `place`, and the position of the bit after it."""
    bits = window(words, place)
    twice = leading_zeros(bits) << np.uint64(1)
    return np.int64(bits >> (np.uint64(63) - twice)) - 1, place + np.int64(twice) + 1


@njit(**FUNCTION)
def open_kind(words, place):
    """Number of segments after the first, start of the first, its number of codes, and the bit before these: two gamma
    codes, the second of which is mostly in the loaded bits."""
    bits = window(words, place)
    twice = leading_zeros(bits) << np.uint64(1)
    more = np.int64(bits >> (np.uint64(63) - twice)) - 1
    area = place + np.int64(twice) + 1
    bits = bits << twice << np.uint64(1) if twice < np.uint64(32) else window(words, area)
    if bits >> np.uint64(48) == 0:
        bits = window(words, area)
    twice = leading_zeros(bits) << np.uint64(1)
    return more, area, np.int64(bits >> (np.uint64(63) - twice)) - 1, area + np.int64(twice) + 1


@njit(**FUNCTION)
def zeta_at(words, place):
    """The same for zeta_3."""
    bits = window(words, place)
    more = leading_zeros(bits) + np.uint64(1)
    return np.int64(bits << more >> (np.uint64(64) - np.uint64(3) * more)) - 1, place + 4 * np.int64(more)


@njit(**FUNCTION)
def unfolded(value):
    """The signed distance of a segment's first value from the row."""
    return value >> 1 ^ -(value & 1)


# ---- A range of positions of a bitset. ----


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
