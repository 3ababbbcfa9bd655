# Where each entry of A would stand in B, the twin of match.cu.
# include: formats/csr/search.cpu.py
# include: kernels/rows.cpu.py


@njit(**KERNEL)
def match(lo, hi, rows, a_ptr, a_col, a_width, b_ptr, b_col, b_width, place, hit):
    i = row_of(a_ptr, rows, lo) - 1
    next_row = lo
    b = np.int64(0)
    end = np.int64(0)
    for entry in range(lo, hi):
        while entry >= next_row:
            i += 1
            next_row = np.int64(at(a_ptr, i + 1))
            b = np.int64(at(b_ptr, i))
            end = np.int64(at(b_ptr, i + 1))
        j = column_of(A_PACKED, a_col, a_width, entry)
        b = ahead(B_PACKED, b_col, b_width, b, end, j)
        put(place, entry, b)
        put(hit, entry, b < end and column_of(B_PACKED, b_col, b_width, b) == j)
