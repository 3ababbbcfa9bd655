# Vectors in kernels: presence bits; values iso (stride 0) or dense (stride 1), BOOL values as a bitset. Also packed
# integers, search in row pointers, and hashes. CPU twin of views.cuh.
AT_ONCE = 8  # words that are tested together for being empty


@njit(**FUNCTION)
def any_of(bits, w):
    """OR of the AT_ONCE words from w on."""
    found = np.uint64(0)
    for k in range(AT_ONCE):
        found |= at(bits, w + k)
    return found


@njit(**FUNCTION)
def filled(bits, w, hi):
    """The first nonzero word from w on; hi if there is none."""
    if w < hi and at(bits, w) == 0:
        while w + AT_ONCE <= hi and any_of(bits, w) == 0:
            w += AT_ONCE
        while w < hi and at(bits, w) == 0:
            w += 1
    return w


@njit(**FUNCTION)
def next_marked(summary, w, hi):
    """The first word from w on that a vector's summary lists, in the summary's words before hi; 64 hi if there is
    none."""
    group = w >> 6
    past = np.uint64(w & 63)
    some = at(summary, group) >> past << past if group < hi else np.uint64(0)
    while some == 0 and group < hi:
        group += 1
        some = at(summary, group) if group < hi else np.uint64(0)
    return (group << 6) + np.int64(trailing_zeros(some)) if some != 0 else hi << 6


@njit(**FUNCTION)
def bit_of(bits, i):
    return (at(bits, i >> 6) >> np.uint64(i & 63)) & np.uint64(1) != 0


@njit(**FUNCTION)
def is_mostly_full(bits):
    """Whether three of four positions have entries, estimated from some words."""
    step = max(1, bits.size >> 4)
    words = np.int64(0)
    found = np.int64(0)
    for w in range(0, bits.size - 1, step):  # the last word may be partial
        found += np.int64(popcount(at(bits, w)))
        words += 1
    return found > words * 48


# Packed integers: numbers of `width` bits (1 to 32) in a little-endian string of 32-bit words.
@njit(**FUNCTION)
def packed_at(string, k, width):
    start = np.uint64(k) * np.uint64(width)
    word = start >> np.uint64(5)
    pair = np.uint64(at(string, word)) | np.uint64(at(string, word + np.uint64(1))) << np.uint64(32)
    return pair >> (start & np.uint64(31)) & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))


@njit(**FUNCTION)
def based(base, number):
    """base + number as INT64, modulo 2**64; floats here are integers that fit 64 bits."""
    return np.int64(base) + np.int64(number)


@njit(**FUNCTION)
def row_of(ptr, rows, entry):
    """The last row that begins at or before the entry."""
    low = np.int64(0)
    high = np.int64(rows)
    while high - low > 1:
        middle = (low + high) >> 1
        if np.int64(at(ptr, middle)) <= entry:
            low = middle
        else:
            high = middle
    return low


# Read bits from a string of 32-bit words, most significant bit first.
@njit(**FUNCTION)
def window(words, place):
    """The 64 bits from bit `place` on."""
    word = place >> 5
    shift = np.uint64(place & 31)
    pair = np.uint64(at(words, word)) << np.uint64(32) | np.uint64(at(words, word + 1))
    return pair << shift | np.uint64(at(words, word + 2)) >> (np.uint64(32) - shift)


# Hashes of indices, for the symmetry test.
@njit(**FUNCTION)
def scramble(x):
    y = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    y = (y ^ (y >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    y = (y ^ (y >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return y ^ (y >> np.uint64(31))


@njit(**FUNCTION)
def unlike_mirror(row, column):
    three = np.uint64(3)
    return scramble(row * three + column) - scramble(column * three + row)


# Hash of a 64-bit word (multiply and xor-shift): every bit of the key affects the result.
@njit(**FUNCTION)
def mixed(key):
    key *= np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(32))
