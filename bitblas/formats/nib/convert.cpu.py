# Encode and decode nibble rows, and test their symmetry. CPU twin of convert.cu.
# include: formats/nib/row.cpu.py
# include: kernels/views.cpu.py


# Encode CSR rows as nibbles.
# Parallel bounds are multiples of 32 rows, so threads share no words.
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


# Decode nibble rows to CSR rows.
@njit(**KERNEL)
def decode(lo, hi, row_of, row_stride, heads, words, counts, col):
    place = np.int64(0)
    for k in range(lo, hi):
        row = k
        if row_stride != 0:
            row = np.int64(at(row_of, k))
        if row_stride != 0 or k == lo or row & 31 == 0:  # otherwise a row begins at the end of the previous one
            place = row_begin(heads, words, row)
        stop = row_end(heads, words, row)
        if not FILL:
            count = np.int64(0)
            while place < stop:
                count += np.int64(popcount(nibbles_at(words, place, stop) & STOPS))
                place = place + 16 & -2
            put(counts, k, count)
        else:
            j = row
            e = np.int64(at(counts, k))
            first = True
            while place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                last = np.uint64(0)
                read = np.uint64(0)
                while ends != 0:
                    ends, last, read, j = next_column(ends, threes, read, j)
                    put(col, e, j)
                    e += 1
                place += np.int64(last) + 1
        place = stop


# Symmetry test on nibble rows: per group of rows, the hash difference between entries and their mirror images.
@njit(**KERNEL)
def mirror(lo, hi, rows, heads, words, sums):
    for group in range(lo, hi):
        total = np.uint64(0)
        place = row_begin(heads, words, group << 5)
        for row in range(group << 5, min(group + 1 << 5, rows)):
            left = scramble(row)
            stop = row_end(heads, words, row)
            j = row
            first = True
            while place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                last = np.uint64(0)
                read = np.uint64(0)
                while ends != 0:
                    ends, last, read, j = next_column(ends, threes, read, j)
                    total += unlike_mirror(left, scramble(j))
                place += np.int64(last) + 1
        put(sums, group, total)
