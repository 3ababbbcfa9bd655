# Decode nibble rows to CSR rows. CPU twin of decode.cu.
# include: formats/nib/row.cpu.py


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
                count += np.int64(popcount(window(words, place, stop) & STOPS))
                place = place + 16 & -2
            put(counts, k, count)
        else:
            j = row
            e = np.int64(at(counts, k))
            first = True
            while place < stop:
                # include: formats/nib/window.cpu.py
                while ends != 0:
                    # include: formats/nib/next.cpu.py
                    put(col, e, j)
                    e += 1
                place += np.int64(last) + 1
        place = stop
