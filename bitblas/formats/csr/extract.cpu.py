# A[I, J] row by row, in one pass, or what of A lies outside: of a row that `rows` names (FLAGGED: that it marks; else
# row I[r], or row r) the entries to whose columns `place` gives a number, which ascend; of other rows all. Each range
# of rows begins to write where `c_begin` says, with room for all that is read; the caller closes the gaps.
# include: formats/csr/columns.cpu.py


@njit(**KERNEL)
def extract(lo, hi, rows, row_stride, ptr, col, width, val, place, place_stride, c_begin, c_ptr, c_col, c_val):
    out = np.int64(at(c_begin, lo))
    for r in range(lo, hi):
        i = np.int64(at(rows, r)) if row_stride and not FLAGGED else r
        begin = np.int64(at(ptr, i))
        end = np.int64(at(ptr, i + 1))
        if place_stride == 0 or (FLAGGED and at(rows, r) == 0):
            for e in range(end - begin):
                put(c_col, out + e, column(col, width, begin + e))
            if VALUED:
                for e in range(end - begin):
                    put(c_val, out + e, at(val, begin + e))
            out += end - begin
        else:
            for e in range(begin, end):
                j = np.int64(at(place, column(col, width, e)))
                put(c_col, out, j)  # written over, if it is not kept
                if VALUED:
                    put(c_val, out, at(val, e))
                out += np.int64(j >= 0)
        put(c_ptr, r + 1, out)
