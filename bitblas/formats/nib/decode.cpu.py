# Nibbles become rows, the twin of decode.cu.
# include: formats/nib/row.cpu.py


@njit(**KERNEL)
def decode(lo, hi, heads, words, counts, col):
    place = row_begin(heads, words, lo) if lo < hi else np.int64(0)
    for row in range(lo, hi):
        if row & 31 == 0:
            place = row_begin(heads, words, row)
        stop = row_end(heads, words, row)
        if not FILL:
            count = np.int64(0)
            while place < stop:
                count += np.int64(popcount(window(words, place, stop) & STOPS))
                place = place + 16 & -2
            put(counts, row, count)
        else:
            j = row
            e = np.int64(at(counts, row))
            first = True
            while place < stop:
                # include: formats/nib/window.cpu.py
                while ends != 0:
                    # include: formats/nib/next.cpu.py
                    put(col, e, j)
                    e += 1
                place += np.int64(last) + 1
        place = stop
