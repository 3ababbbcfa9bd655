# Encode CSR rows as nibbles. CPU twin of encode.cu.
# Parallel bounds are multiples of 32 rows, so threads share no words.
IN_WORD = 8
# include: formats/blocks.cpu.py


@njit(**KERNEL)
def encode(lo, hi, first, ptr, col, sizes, heads, ends, words):
    for row in range(lo, hi):
        begin = np.int64(at(ptr, row))
        stop = np.int64(at(ptr, row + 1))
        place = np.uint64(0)
        size = np.int64(0)
        if FILL:
            put_end(heads, ends, words, row)
            place = begin_of(heads, ends, row) << np.uint64(2)
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
