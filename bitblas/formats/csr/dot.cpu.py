# Masked dot products: C<M> = A B', computed at the entries of the mask. CPU twin of dot.cu.
# The row of A is marked once for all entries of its row of the mask, and the row of B' looks up the marks; if the row
# of B' is much longer, the entries of A are searched for in it. Both ways take the products in ascending k.
# include: formats/csr/search.cpu.py
# include: kernels/views.cpu.py
# include: kernels/products.cpu.py
MUCH = 16
MARKS = np.uint64 if KIND != VALUES else PTR_T  # bits, or positions in A plus one


@njit(**KERNEL)
def dot(lo, hi, m: MaskRows, width, a: LeftView, b: RightView, inner, product, present, sums):
    marks = zeros((inner >> 6) + 1 if KIND != VALUES else inner + 1, MARKS)
    marked = np.int64(-1)
    a_begin = np.int64(0)
    a_end = np.int64(0)
    i = row_of(m.ptr, m.rows, lo)
    for entry in range(lo, hi):
        while np.int64(at(m.ptr, i + 1)) <= entry:
            i += 1
        j = column_of(M_PACKED, m.col, m.width, entry)
        if i != marked:
            for p in range(a_begin, a_end):
                k = column(a.col, width, p)
                put(marks, k if KIND == VALUES else k >> 6, MARKS(0))
            marked = i
            a_begin = np.int64(at(a.ptr, i))
            a_end = np.int64(at(a.ptr, i + 1))
            for p in range(a_begin, a_end):
                k = column(a.col, width, p)
                if KIND == VALUES:
                    put(marks, k, MARKS(p + 1))
                else:
                    set_bit(marks, k)
        b_begin = np.int64(at(b.ptr, j))
        b_end = np.int64(at(b.ptr, j + 1))
        some = False
        total = IDENTITY
        count = np.int64(0)
        if b_end - b_begin > MUCH * (a_end - a_begin):
            for p in range(a_begin, a_end):
                k = column(a.col, width, p)
                b_begin = lower_bound(PACKED, b.col, width, b_begin, b_end, k)
                if b_begin == b_end:
                    break
                if column(b.col, width, b_begin) == k:
                    if KIND == VALUES:
                        z = mul(
                            at(a.values, p) if a.stride else a.iso,
                            at(b.values, b_begin) if b.stride else b.iso,
                            i,
                            k,
                            j,
                        )
                        total = add(total, z) if some else z
                        some = True
                        if is_final(total):
                            break
                    else:
                        count += 1
                        if KIND == WORDS:
                            break
        elif KIND == VALUES:
            for q in range(b_begin, b_end):
                k = column(b.col, width, q)
                p = np.int64(at(marks, k)) - 1
                if p >= 0:
                    z = mul(at(a.values, p) if a.stride else a.iso, at(b.values, q) if b.stride else b.iso, i, k, j)
                    total = add(total, z) if some else z
                    some = True
                    if is_final(total):
                        break
        else:
            for q in range(b_begin, b_end):
                k = column(b.col, width, q)
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
