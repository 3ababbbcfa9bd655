# Rows become nibbles, the twin of encode.cu. Parallel bounds are multiples of 32 rows: no words are shared.
HEAD = np.uint64(63)


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


@njit(**KERNEL)
def encode(lo, hi, first, ptr, col, sizes, heads, ends, words):
    for row in range(lo, hi):
        begin = np.int64(at(ptr, row))
        stop = np.int64(at(ptr, row + 1))
        place = np.uint64(0)
        size = np.int64(0)
        if FILL:
            head = np.uint64(at(heads, row >> 5))
            width = head & HEAD
            block = head >> np.uint64(6)
            place = block + width << np.uint64(5)
            if row & 31:
                place += np.uint64(at(ends, row - 1)) << np.uint64(2)
            # Those of the rows that a last group lacks are its own end.
            for same in range(row, (row | 31) + 1 if row + 1 == ptr.size - 1 else row + 1):
                if width == 0:  # there is no block
                    break
                start = (block << np.uint64(5)) + np.uint64(same & 31) * width
                put_bits(words, start, np.uint64(at(ends, row)) & np.uint64(0xFFFFFFFF))
                if width > np.uint64(32):
                    put_bits(words, start + np.uint64(32), np.uint64(at(ends, row)) >> np.uint64(32))
        last = first + row
        for e in range(begin, stop):
            j = np.int64(at(col, e))
            apart = j - last
            value = np.uint64(apart - 1) if e > begin else np.uint64(apart << 1 ^ apart >> 63)
            last = j
            if FILL:
                code = np.uint64(0)
                length = np.uint64(0)
                while value > np.uint64(7):
                    code |= (value & np.uint64(7)) << length
                    value >>= np.uint64(3)
                    length += np.uint64(4)
                put_bits(words, place, code | (value | np.uint64(8)) << length)
                place += length + np.uint64(4)
            else:
                size += 1
                while value > np.uint64(7):
                    value >>= np.uint64(3)
                    size += 1
        if not FILL:
            put(sizes, row, size)
