# c = the dot products of rows of A and rows of B' at the entries of a mask, the twin of dot.cu: two sorted rows merge,
# or, where one is much longer, the shorter one is searched for in it.
# include: kernels/product.cpu.py
MUCH = 16


@njit(**FUNCTION)
def lower_bound(col, low, high, k):
    while low < high:
        middle = (low + high) >> 1
        if np.int64(at(col, middle)) < k:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**KERNEL)
def dot(lo, hi, rows, cols, a_ptr, a_col, a_val, a_iso, a_step, b_ptr, b_col, b_val, b_iso, b_step, product, present,
        sums):  # fmt: skip
    for entry in range(lo, hi):
        i = at(rows, entry)
        j = at(cols, entry)
        p = np.int64(at(a_ptr, i))
        a_end = np.int64(at(a_ptr, i + 1))
        q = np.int64(at(b_ptr, j))
        b_end = np.int64(at(b_ptr, j + 1))
        search_b = b_end - q > MUCH * (a_end - p)
        search_a = a_end - p > MUCH * (b_end - q)
        some = False
        total = IDENTITY
        count = np.int64(0)
        while p < a_end and q < b_end:
            x = np.int64(at(a_col, p))
            y = np.int64(at(b_col, q))
            if x < y:
                p = lower_bound(a_col, p, a_end, y) if search_a else p + 1
            elif y < x:
                q = lower_bound(b_col, q, b_end, x) if search_b else q + 1
            else:
                if KIND == VALUES:
                    z = mul(at(a_val, p) if a_step else a_iso, at(b_val, q) if b_step else b_iso, i, x, j)
                    total = add(total, z) if some else z
                    some = True
                    if is_final(total):
                        break
                else:
                    count += 1
                    if KIND == WORDS:
                        break
                p += 1
                q += 1
        if KIND != VALUES:
            some = count > 0
            if some:
                total = repeated(product, count)
        present[entry] = some
        if some and KIND != WORDS:
            sums[entry] = total
