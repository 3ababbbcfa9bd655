# Transpose rows by counting sort.
# Entries are counted by column, then written to their positions, the last row first, so that those of a column stay in
# row order. t_ptr is zero before. One range of rows: all of them.
# include: formats/csr/columns.cpu.py
# include: formats/csr/ends.cpu.py


@njit(**KERNEL)
def transpose(lo, hi, ncols, ptr, col, width, t_ptr, t_col, places):
    for e in range(np.int64(at(ptr, lo)), np.int64(at(ptr, hi))):
        j = column(col, width, e)
        put(t_ptr, j, at(t_ptr, j) + 1)
    sum_up(t_ptr, ncols)
    for i in range(hi - 1, lo - 1, -1):
        for e in range(np.int64(at(ptr, i + 1)) - 1, np.int64(at(ptr, i)) - 1, -1):
            j = column(col, width, e)
            place = np.int64(at(t_ptr, j)) - 1
            put(t_ptr, j, place)
            put(t_col, place, i)
            if ORDER:
                put(places, place, e)
