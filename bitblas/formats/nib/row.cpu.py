# Where the nibbles of a row stand, and the values in them, the twin of row.cuh and walk.cuh. 32 rows are a group.
STOPS = np.uint64(0x8888888888888888)
NIBBLE = np.uint64(7)


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
def window(words, place):
    """The nibbles from `place` on: nine at least, sixteen at most, then zeros."""
    word = place >> 3
    pair = np.uint64(at(words, word)) | np.uint64(at(words, word + 1)) << np.uint64(32)
    return pair >> np.uint64((place & 7) << 2)


@njit(**FUNCTION)
def without_stops(w):
    """The 3 low bits of each of eight nibbles, side by side."""
    w = (w & np.uint64(0x07070707)) | (w & np.uint64(0x70707070)) >> np.uint64(1)
    w = (w & np.uint64(0x003F003F)) | (w & np.uint64(0x3F003F00)) >> np.uint64(2)
    return (w & np.uint64(0xFFF)) | (w >> np.uint64(16)) << np.uint64(12)


@njit(**FUNCTION)
def length_of(w):
    """Nibbles of the value that a window begins with; 17 where it ends further on."""
    stops = w & STOPS
    return np.int64(trailing_zeros(stops) >> np.uint64(2)) + 1 if stops != 0 else np.int64(17)


@njit(**FUNCTION)
def value_of(w, length):
    """A value of eight nibbles at most, with which a window begins."""
    return without_stops(w & ((np.uint64(1) << np.uint64(length << 2)) - np.uint64(1)) & np.uint64(0x77777777))


@njit(**FUNCTION)
def long_value(words, place):
    """A value of any length, in the high bits, and in the lowest 4 its nibbles."""
    value = np.uint64(0)
    length = np.uint64(0)
    more = True
    while more:
        nibble = np.uint64(at(words, place >> 3)) >> np.uint64((place & 7) << 2) & np.uint64(15)
        value |= (nibble & NIBBLE) << np.uint64(3) * length
        length += np.uint64(1)
        more = nibble <= NIBBLE
        place += 1
    return value << np.uint64(4) | length


@njit(**FUNCTION)
def unfolded(value):
    """How far a row's first column is from the row."""
    return np.int64(value >> np.uint64(1)) ^ -np.int64(value & np.uint64(1))
