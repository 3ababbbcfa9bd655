# Row positions in blocks of 32 coded rows, and their words. CPU twin of blocks.cuh and extents.cu.
# IN_WORD: units (nibbles or bits) per word.
WIDTH = np.uint64(63)  # width in a head
BLOCK = np.uint64(6)


@njit(**FUNCTION)
def bits_at(string, start, width):
    """The number of `width` bits (below 64) that begins at bit `start` of a string."""
    word = start >> np.uint64(5)
    shift = start & np.uint64(31)
    found = (np.uint64(at(string, word)) | np.uint64(at(string, word + np.uint64(1))) << np.uint64(32)) >> shift
    if shift + width > np.uint64(64):
        found |= np.uint64(at(string, word + np.uint64(2))) << (np.uint64(64) - shift)
    return found & ((np.uint64(1) << width) - np.uint64(1))


@njit(**FUNCTION)
def put_bits(string, start, bits):
    """OR up to 44 bits into words that are zero there. Words that get no ones are not written: the block of a group
    without entries would begin in a word that another thread may write."""
    word = start >> np.uint64(5)
    shift = start & np.uint64(31)
    low = bits << shift
    if low & np.uint64(0xFFFFFFFF) != 0:
        put(string, word, at(string, word) | np.uint32(low & np.uint64(0xFFFFFFFF)))
    if low >> np.uint64(32) != 0:
        put(string, word + np.uint64(1), at(string, word + np.uint64(1)) | np.uint32(low >> np.uint64(32)))
    if shift != 0 and bits >> (np.uint64(64) - shift) != 0:
        high = np.uint32(bits >> (np.uint64(64) - shift))
        put(string, word + np.uint64(2), at(string, word + np.uint64(2)) | high)


@njit(**FUNCTION)
def group_at(heads, group):
    """Of a group: the bit at which its numbers begin, their width, its first unit, and the number of units it has space
    for."""
    head = np.uint64(at(heads, group))
    width = head & WIDTH
    first = (head >> BLOCK) + width
    room = (np.uint64(at(heads, group + 1)) >> BLOCK) - first
    return head >> BLOCK << np.uint64(5), width, first * np.uint64(IN_WORD), room * np.uint64(IN_WORD)


@njit(**FUNCTION)
def even_end(first, room, number):
    """The unit at which row `number` of a group would end if all rows were equal."""
    return np.int64(first + (room * (number + np.uint64(1)) >> np.uint64(5)))


@njit(**FUNCTION)
def end_in(words, start, width, first, room, number):
    """The end (a unit) of row `number` of a group (see group_at)."""
    later = bits_at(words, start + number * width, width)
    return even_end(first, room, number) + (np.int64(later >> np.uint64(1)) ^ -np.int64(later & np.uint64(1)))


@njit(**FUNCTION)
def row_end(heads, words, row):
    """The end (a unit) of a row."""
    start, width, first, room = group_at(heads, row >> 5)
    return end_in(words, start, width, first, room, np.uint64(row & 31))


@njit(**FUNCTION)
def row_begin(heads, words, row):
    if row & 31:
        return row_end(heads, words, row - 1)
    return np.int64(group_at(heads, row >> 5)[2])


@njit(**FUNCTION)
def begin_of(heads, ends, row):
    """The first unit of a row that is to be written; ends[row] is its end within the group."""
    first = row_begin(heads, ends, row & ~np.int64(31))
    return np.uint64(first + at(ends, row - 1)) if row & 31 else np.uint64(first)


@njit(**FUNCTION)
def put_end(heads, ends, words, row):
    """Write the end of a row."""
    number = np.uint64(row & 31)
    start, width, first, room = group_at(heads, row >> 5)
    apart = np.int64(first) + at(ends, row) - even_end(first, room, number)
    later = np.uint64(apart << 1 ^ apart >> 63)
    start += number * width
    put_bits(words, start, later & np.uint64(0xFFFFFFFF))
    if width > np.uint64(32):
        put_bits(words, start + np.uint64(32), later >> np.uint64(32))


# Words of coded rows.
@njit(**KERNEL)
def extents(lo, hi, heads, words, sizes):
    for row in range(lo, hi):
        put(sizes, row, (row_end(heads, words, row) - row_begin(heads, words, row) + IN_WORD - 1) // IN_WORD)


# Frontier work: the total of the rows where a vector has an entry. Units are the words of its bits; one thread.
@njit(**KERNEL)
def active(lo, hi, heads, words, bits, total):
    found = np.int64(0)
    for word in range(lo, hi):
        rest = at(bits, word)
        while rest != 0:
            row = (word << 6) + np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            found += (row_end(heads, words, row) - row_begin(heads, words, row) + IN_WORD - 1) // IN_WORD
    put(total, 0, found)
