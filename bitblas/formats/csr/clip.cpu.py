# Extract a region: the part of each row inside it. CPU twin of clip.cu.
# Columns ascend, so the part is one run, found by binary search.
# One pass does everything (FILL 2): each range of rows writes from the start of its own rows on, and the caller closes
# the gaps.
# include: formats/csr/search.cpu.py


@njit(**KERNEL)
def clip(lo, hi, ptr, col, width, row_low, row_high, col_low, col_high, diag_low, diag_high, begin, out, left, places):
    place = np.int64(at(ptr, lo))
    for row in range(lo, hi):
        first = np.int64(at(ptr, row))
        stop = np.int64(at(ptr, row + 1))
        low = max(col_low, row + diag_low)
        high = min(col_high, row + diag_high + 1)
        if row >= row_low and row < row_high and low < high:
            first = lower_bound(PACKED, col, width, first, stop, low)
            stop = lower_bound(PACKED, col, width, first, stop, high)
            for source in range(first, stop):
                put(left, place, column_of(PACKED, col, width, source))
                if ORDER:
                    put(places, place, source)
                place += 1
        put(out, row + 1, place)
