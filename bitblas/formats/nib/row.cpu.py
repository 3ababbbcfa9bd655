# Where the nibbles of a row stand, and the values in them, the twin of row.cuh and walk.cuh. 32 rows are a group.
STOPS = np.uint64(0x8888888888888888)


@njit(**FUNCTION)
def bits_at(string, start, width):
    """The number of `width` bits, below 64, that begins at bit `start` of a string."""
    word = start >> np.uint64(5)
    shift = start & np.uint64(31)
    found = (np.uint64(at(string, word)) | np.uint64(at(string, word + np.uint64(1))) << np.uint64(32)) >> shift
    if shift + width > np.uint64(64):
        found |= np.uint64(at(string, word + np.uint64(2))) << (np.uint64(64) - shift)
    return found & ((np.uint64(1) << width) - np.uint64(1))


@njit(**FUNCTION)
def row_end(heads, words, row):
    """The nibble after those of the first row % 32 + 1 rows of a group; of row -1 and its like the group's first."""
    head = np.uint64(at(heads, row >> 5))
    width = head & np.uint64(63)
    block = head >> np.uint64(6)
    ends = np.uint64(0)
    if width != 0:  # else it has no entry, and no block
        ends = bits_at(words, (block << np.uint64(5)) + np.uint64(row & 31) * width, width)
    return np.int64((block + width << np.uint64(3)) + ends)


@njit(**FUNCTION)
def row_begin(heads, words, row):
    if row & 31:
        return row_end(heads, words, row - 1)
    head = np.uint64(at(heads, row >> 5))
    return np.int64((head >> np.uint64(6)) + (head & np.uint64(63)) << np.uint64(3))


@njit(**FUNCTION)
def window(words, place, stop):
    """The sixteen nibbles from `place` on, those before `stop`; the others are zero. A value ends among them."""
    word = place >> 3
    shift = np.uint64((place & 7) << 2)
    pair = np.uint64(at(words, word)) | np.uint64(at(words, word + 1)) << np.uint64(32)
    found = pair >> shift | np.uint64(at(words, word + 2)) << np.uint64(1) << (np.uint64(63) - shift)
    if stop - place < 16:
        found &= (np.uint64(1) << np.uint64((stop - place) << 2)) - np.uint64(1)
    return found


@njit(**FUNCTION)
def without_stops(x):
    """The 3 low bits of each of sixteen nibbles, side by side."""
    x = (x & np.uint64(0x0707070707070707)) | (x & np.uint64(0x7070707070707070)) >> np.uint64(1)
    x = (x & np.uint64(0x003F003F003F003F)) | (x & np.uint64(0x3F003F003F003F00)) >> np.uint64(2)
    x = (x & np.uint64(0x00000FFF00000FFF)) | (x & np.uint64(0x0FFF00000FFF0000)) >> np.uint64(4)
    return (x & np.uint64(0xFFFFFF)) | (x >> np.uint64(8) & np.uint64(0xFFFFFF000000))


@njit(**FUNCTION)
def unfolded(value):
    """How far a row's first column is from the row."""
    return np.int64(value >> np.uint64(1)) ^ -np.int64(value & np.uint64(1))
