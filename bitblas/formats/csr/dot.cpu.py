# Masked dot products: C<M> = A B', computed at the entries of the mask. CPU twin of dot.cu.
# The row of A is marked once for all entries of its row of the mask, and the row of B' looks up the marks; if the row
# of B' is much longer, the entries of A are searched for in it. Both ways take the products in ascending k.
# include: formats/csr/search.cpu.py
# include: kernels/rows.cpu.py
# include: kernels/product.cpu.py
MUCH = 16
MARKS = np.uint64 if KIND != VALUES else PTR_T  # bits, or positions in A plus one


@njit(**KERNEL)
def dot(lo, hi, m_ptr, m_rows, m_col, m_width, width, a_ptr, a_col, a_val, a_iso, a_stride, b_ptr, b_col, b_val, b_iso,
        b_stride, inner, product, present, sums):  # fmt: skip
    marks = zeros((inner >> 6) + 1 if KIND != VALUES else inner + 1, MARKS)
    marked = np.int64(-1)
    a = np.int64(0)
    a_end = np.int64(0)
    i = row_of(m_ptr, m_rows, lo)
    for entry in range(lo, hi):
        while np.int64(at(m_ptr, i + 1)) <= entry:
            i += 1
        j = column_of(M_PACKED, m_col, m_width, entry)
        if i != marked:
            for p in range(a, a_end):
                k = column(a_col, width, p)
                put(marks, k if KIND == VALUES else k >> 6, MARKS(0))
            marked = i
            a = np.int64(at(a_ptr, i))
            a_end = np.int64(at(a_ptr, i + 1))
            for p in range(a, a_end):
                k = column(a_col, width, p)
                if KIND == VALUES:
                    put(marks, k, MARKS(p + 1))
                else:
                    set_bit(marks, k)
        b = np.int64(at(b_ptr, j))
        b_end = np.int64(at(b_ptr, j + 1))
        some = False
        total = IDENTITY
        count = np.int64(0)
        if b_end - b > MUCH * (a_end - a):
            for p in range(a, a_end):
                k = column(a_col, width, p)
                b = lower_bound(PACKED, b_col, width, b, b_end, k)
                if b == b_end:
                    break
                if column(b_col, width, b) == k:
                    if KIND == VALUES:
                        z = mul(at(a_val, p) if a_stride else a_iso, at(b_val, b) if b_stride else b_iso, i, k, j)
                        total = add(total, z) if some else z
                        some = True
                        if is_final(total):
                            break
                    else:
                        count += 1
                        if KIND == WORDS:
                            break
        elif KIND == VALUES:
            for q in range(b, b_end):
                k = column(b_col, width, q)
                p = np.int64(at(marks, k)) - 1
                if p >= 0:
                    z = mul(at(a_val, p) if a_stride else a_iso, at(b_val, q) if b_stride else b_iso, i, k, j)
                    total = add(total, z) if some else z
                    some = True
                    if is_final(total):
                        break
        else:
            for q in range(b, b_end):
                k = column(b_col, width, q)
                count += np.int64((at(marks, k >> 6) >> np.uint64(k & 63)) & ONE)
                if KIND == WORDS and count > 0:
                    break
        if KIND != VALUES:
            some = count > 0
            if some:
                total = repeated(product, count)
        put(present, entry, some)
        if KIND != WORDS:
            put(sums, entry, total)
