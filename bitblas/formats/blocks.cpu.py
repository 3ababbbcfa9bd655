# Where the codes of a row stand, the twin of blocks.cuh: IN_WORD units, nibbles or bits, are a word.
HEAD = np.uint64(63)


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
def put_bits(string, start, bits):
    """OR of up to 44 bits into words that are zero there."""
    word = start >> np.uint64(5)
    shift = start & np.uint64(31)
    low = bits << shift
    put(string, word, at(string, word) | np.uint32(low & np.uint64(0xFFFFFFFF)))
    if low >> np.uint64(32) != 0:
        put(string, word + np.uint64(1), at(string, word + np.uint64(1)) | np.uint32(low >> np.uint64(32)))
    if shift != 0 and bits >> (np.uint64(64) - shift) != 0:
        high = np.uint32(bits >> (np.uint64(64) - shift))
        put(string, word + np.uint64(2), at(string, word + np.uint64(2)) | high)


@njit(**FUNCTION)
def row_end(heads, words, row):
    """The unit after those of the first row % 32 + 1 rows of a group; of row -1 and its like the group's first."""
    head = np.uint64(at(heads, row >> 5))
    width = head & HEAD
    block = head >> np.uint64(6)
    ends = np.uint64(0)
    if width != 0:  # else it has no entry, and no block
        ends = bits_at(words, (block << np.uint64(5)) + np.uint64(row & 31) * width, width)
    return np.int64((block + width) * np.uint64(IN_WORD) + ends)


@njit(**FUNCTION)
def row_begin(heads, words, row):
    if row & 31:
        return row_end(heads, words, row - 1)
    head = np.uint64(at(heads, row >> 5))
    return np.int64(((head >> np.uint64(6)) + (head & HEAD)) * np.uint64(IN_WORD))


@njit(**FUNCTION)
def begin_of(heads, ends, row):
    """Where the units of a row begin, of which ends[row] says where they end in the group; to be written."""
    first = row_begin(heads, ends, row & ~np.int64(31))
    return np.uint64(first + at(ends, row - 1)) if row & 31 else np.uint64(first)


@njit(**FUNCTION)
def put_end(heads, ends, words, row, n):
    """Writes where row `row` of n ends; of the last row also the ends of those that its group lacks: its own."""
    head = np.uint64(at(heads, row >> 5))
    width = head & HEAD
    block = head >> np.uint64(6)
    for same in range(row, (row | 31) + 1 if row + 1 == n else row + 1):
        if width == 0:  # there is no block
            break
        start = (block << np.uint64(5)) + np.uint64(same & 31) * width
        put_bits(words, start, np.uint64(at(ends, row)) & np.uint64(0xFFFFFFFF))
        if width > np.uint64(32):
            put_bits(words, start + np.uint64(32), np.uint64(at(ends, row)) >> np.uint64(32))
