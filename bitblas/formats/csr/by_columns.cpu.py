# Counting sort of entries by column: the rows of each column in input order, and with ORDER the number of each entry.
# `ptr` is zero before and becomes the column pointers. One range of entries: all of them.
# include: formats/csr/ends.cpu.py


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
