# Decode the values in a row's nibbles. CPU twin of walk.cuh.
IN_WORD = 8
STOPS = np.uint64(0x8888888888888888)
# include: formats/blocks.cpu.py


@njit(**FUNCTION)
def nibbles_at(words, place, stop):
    """The sixteen nibbles from `place` on (fifteen if it is odd) up to `stop`; others are zero. A value ends among
    them."""
    found = word_at(words, place >> 1) >> np.uint64((place & 1) << 2)
    left = min(stop - place, 16)
    return found & ~np.uint64(0) >> np.uint64(64 - (left << 2))


@njit(**FUNCTION)
def without_stops(x):
    """The 3 low bits of each of sixteen nibbles, concatenated."""
    x = (x & np.uint64(0x0707070707070707)) | (x & np.uint64(0x7070707070707070)) >> np.uint64(1)
    x = (x & np.uint64(0x003F003F003F003F)) | (x & np.uint64(0x3F003F003F003F00)) >> np.uint64(2)
    x = (x & np.uint64(0x00000FFF00000FFF)) | (x & np.uint64(0x0FFF00000FFF0000)) >> np.uint64(4)
    return (x & np.uint64(0xFFFFFF)) | (x >> np.uint64(8) & np.uint64(0xFFFFFF000000))


@njit(**FUNCTION)
def unfolded(value):
    """The signed distance of a row's first column from the row."""
    return np.int64(value >> np.uint64(1)) ^ -np.int64(value & np.uint64(1))


@njit(**FUNCTION)
def read_window(words, place, stop, first, j):
    """The nibbles of a row from `place` on, as many as one read gives: the ends of values, and their bits. In the first
    window of a row, column j is shifted so that the row's first value is decoded like the others."""
    nibbles = nibbles_at(words, place, stop)
    ends = nibbles & STOPS
    threes = without_stops(nibbles)
    if first:
        last = (trailing_zeros(ends) >> np.uint64(2)) * np.uint64(3)
        code = threes & ((np.uint64(8) << last) - np.uint64(1))
        j += unfolded(code) - np.int64(code) - 1
    return ends, threes, j


@njit(**FUNCTION)
def next_column(ends, threes, read, j):
    """Decode the column after j: the remaining ends of a window, the nibble at which the value ends, the bits read so
    far, and the column."""
    last = trailing_zeros(ends) >> np.uint64(2)
    upto = last * np.uint64(3) + np.uint64(3)
    j += np.int64(threes >> read & ((np.uint64(1) << upto - read) - np.uint64(1))) + 1
    return drop_lowest(ends), last, upto, j
