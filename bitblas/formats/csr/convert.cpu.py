# Conversions of matrices by rows: extract a region, transpose, and build rows from entries. CPU twin of convert.cu.
# include: formats/csr/search.cpu.py


@njit(**FUNCTION)
def sum_up(counts, n):
    """Prefix sum of the counts of n rows: the end of each row, and the total. Writing entries from the last one on,
    with decrements, turns the ends into starts."""
    end = np.int64(0)
    for k in range(n + 1):
        end += np.int64(at(counts, k))
        put(counts, k, end)


# Extract a region: the part of each row inside it.
# Columns ascend, so the part is one run, found by binary search.
# One pass does everything (FILL 2): each range of rows writes from the start of its own rows on, and the caller closes
# the gaps.
@njit(**KERNEL)
def clip(lo, hi, A: Matrix, row_low, row_high, col_low, col_high, diag_low, diag_high, begin, out, left, places):
    place = np.int64(at(A.ptr, lo))
    for row in range(lo, hi):
        first = np.int64(at(A.ptr, row))
        stop = np.int64(at(A.ptr, row + 1))
        low = max(col_low, row + diag_low)
        high = min(col_high, row + diag_high + 1)
        if row >= row_low and row < row_high and low < high:
            first = lower_bound(PACKED, A.col, A.width, first, stop, low)
            stop = lower_bound(PACKED, A.col, A.width, first, stop, high)
            for source in range(first, stop):
                put(left, place, column_of(PACKED, A.col, A.width, source))
                if ORDER:
                    put(places, place, source)
                place += 1
        put(out, row + 1, place)


# Transpose rows by counting sort.
# Entries are counted by column, then written to their positions, the last row first, so that those of a column stay in
# row order. t_ptr is zero before. One range of rows: all of them.
@njit(**KERNEL)
def transpose(lo, hi, ncols, A: Matrix, t_ptr, t_col, places):
    for e in range(np.int64(at(A.ptr, lo)), np.int64(at(A.ptr, hi))):
        j = column(A.col, A.width, e)
        put(t_ptr, j, at(t_ptr, j) + 1)
    sum_up(t_ptr, ncols)
    for i in range(hi - 1, lo - 1, -1):
        for e in range(np.int64(at(A.ptr, i + 1)) - 1, np.int64(at(A.ptr, i)) - 1, -1):
            j = column(A.col, A.width, e)
            place = np.int64(at(t_ptr, j)) - 1
            put(t_ptr, j, place)
            put(t_col, place, i)
            if ORDER:
                put(places, place, e)


# Counting sort of entries by column: the rows of each column in input order, and with ORDER the number of each entry.
# `ptr` is zero before and becomes the column pointers. One range of entries: all of them.
@njit(**KERNEL)
def by_columns(lo, hi, ncols, rows, cols, ptr, row, came):
    for e in range(lo, hi):
        j = np.int64(at(cols, e))
        put(ptr, j, at(ptr, j) + 1)
    sum_up(ptr, ncols)
    for e in range(hi - 1, lo - 1, -1):
        j = np.int64(at(cols, e))
        place = np.int64(at(ptr, j)) - 1
        put(ptr, j, place)
        put(row, place, at(rows, e))
        if ORDER:
            put(came, place, e)


# Build row pointers and columns from entries that are already sorted by row and column without duplicates.
# wrong[0] = 1 if they are not, or if one is outside of the matrix; the other output is then undefined. Units are
# entries; no two ranges share a row. `ends` is zero before and gets the end of each row that has entries.
BATCH = 1024  # entries that are tested, and then counted while they are in cache


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
        stop = min(hi, k + BATCH)
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
