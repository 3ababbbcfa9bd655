# Extract A[I, J], or the entries of A outside of it, row by row in one pass.
# Of a row in `rows` (FLAGGED: a row that `rows` flags; otherwise row I[r], or row r) the kernel keeps the entries
# whose columns have a number in `place`; these numbers ascend. Of other rows it keeps all entries. Each range of rows
# writes from `c_begin` on, with space for everything that it reads; the caller closes the gaps.
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
                put(c_col, out, j)  # overwritten if it is not kept
                if VALUED:
                    put(c_val, out, at(val, e))
                out += np.int64(j >= 0)
        put(c_ptr, r + 1, out)
