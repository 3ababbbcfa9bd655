# Entries in any order, by columns: the rows of each column in the order in which they came, and (ORDER) which entry
# each is. `ptr` comes as zeros and becomes where columns begin, and the end. One range of entries: all of them.


@njit(**KERNEL)
def by_columns(lo, hi, ncols, rows, cols, ptr, row, came):
    for e in range(lo, hi):
        j = np.int64(at(cols, e))
        put(ptr, j, at(ptr, j) + 1)
    end = np.int64(0)
    for j in range(ncols + 1):  # where each column ends, until its entries are there
        end += np.int64(at(ptr, j))
        put(ptr, j, end)
    for e in range(hi - 1, lo - 1, -1):
        j = np.int64(at(cols, e))
        place = np.int64(at(ptr, j)) - 1
        put(ptr, j, place)
        put(row, place, at(rows, e))
        if ORDER:
            put(came, place, e)
