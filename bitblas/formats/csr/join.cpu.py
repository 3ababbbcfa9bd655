# The union or the intersection of the rows of A and B, the twin of join.cu.
# include: formats/csr/search.cpu.py
# include: kernels/rows.cpu.py


@njit(**KERNEL)
def join(lo, hi, rows, a_ptr, a_col, a_width, a_val, a_iso, a_step, a_default, b_ptr, b_col, b_width, b_val, b_iso,
         b_step, b_default, place, hit, before, c_col, c_val):  # fmt: skip
    ptr = b_ptr if SIDE else a_ptr
    i = row_of(ptr, rows, lo) - 1
    next_row = lo
    p = np.int64(0)
    end = np.int64(0)
    for entry in range(lo, hi):
        if PLACES or SIDE:
            while entry >= next_row:
                i += 1
                next_row = np.int64(at(ptr, i + 1))
                p = np.int64(at(a_ptr, i))
                end = np.int64(at(a_ptr, i + 1))
        if SIDE:
            q = np.int64(entry)
            j = column_of(B_PACKED, b_col, b_width, q)
            p = ahead(A_PACKED, a_col, a_width, p, end, j)
            in_a = False
            in_b = True
            if p < end and column_of(A_PACKED, a_col, a_width, p) == j:
                continue
            c = q + p - np.int64(at(before, p))
        else:
            p = np.int64(entry)
            q = np.int64(at(place, p))
            j = column_of(A_PACKED, a_col, a_width, p)
            in_a = True
            in_b = at(hit, p) != 0
            if INTERSECT and not in_b:
                continue
            c = np.int64(at(before, p))
            if not INTERSECT:
                c = p + q - c
        put(c_col, c, j)
        if VALUED:
            x = a_default if not in_a else at(a_val, p) if a_step else a_iso
            y = b_default if not in_b else at(b_val, q) if b_step else b_iso
            if FILLED or (in_a and in_b):
                put(c_val, c, both(x, y, i, j))
            elif in_a:
                put(c_val, c, only_a(x))
            else:
                put(c_val, c, only_b(y))
