# The entries (i, j) of A for which f(value, row, column, thunk) is true, row by row, in one pass. Each range of rows
# begins to write where A has its entries; it says where its rows end, and the caller closes the gaps.
# include: formats/csr/columns.cpu.py


@njit(**KERNEL)
def sift(lo, hi, ptr, col, width, val, iso, step, thunk, c_ptr, c_col, c_val):
    place = np.int64(at(ptr, lo))
    for i in range(lo, hi):
        for e in range(np.int64(at(ptr, i)), np.int64(at(ptr, i + 1))):
            j = column(col, width, e)
            x = at(val, e) if step else iso
            put(c_col, place, j)  # written over, if it is not kept
            if VALUED:
                put(c_val, place, x)
            place += np.int64(f(x, thunk, i, j))
        put(c_ptr, i + 1, place)
