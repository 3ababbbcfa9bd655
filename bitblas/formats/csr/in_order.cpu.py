# Build row pointers and columns from entries that are already sorted by row and column without duplicates.
# wrong[0] = 1 if they are not, or if one is outside of the matrix; the other output is then undefined. Units are
# entries; no two ranges share a row. `ends` is zero before and gets the end of each row that has entries.
BLOCK = 1024  # entries that are tested, and then counted while they are in cache


@njit(**KERNEL)
def in_order(lo, hi, nrows, ncols, rows, cols, ends, col, wrong):
    k = np.int64(lo)
    if k == 0 and k < hi:  # the first entry has no predecessor
        i = np.int64(at(rows, 0))
        j = np.int64(at(cols, 0))
        if i < 0 or i >= nrows or j < 0 or j >= ncols:
            put(wrong, 0, 1)
            return
        put(col, 0, j)
        put(ends, i + 1, 1)
        k = np.int64(1)
    while k < hi:
        stop = min(hi, k + BLOCK)
        fault = False
        beyond = np.int64(0)  # negative if a column is out of range
        for e in range(k, stop):
            i = np.int64(at(rows, e))
            j = np.int64(at(cols, e))
            before = np.int64(at(rows, e - 1))
            fault |= (i < before) | ((i == before) & (j <= np.int64(at(cols, e - 1))))
            beyond |= j | (ncols - 1 - j)
            put(col, e, j)
        # Rows ascend, so testing the least and the largest suffices.
        if fault or beyond < 0 or np.int64(at(rows, k)) < 0 or np.int64(at(rows, stop - 1)) >= nrows:
            put(wrong, 0, 1)
            return
        for e in range(k, stop):
            put(ends, np.int64(at(rows, e)) + 1, e + 1)
        k = stop
