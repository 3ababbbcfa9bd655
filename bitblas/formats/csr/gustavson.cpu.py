# SpGEMM on the CPU: C = A (+).(x) B row by row (Gustavson: ACM TOMS 4(3), 1978).
# Row i of C is the sum of the rows of B that row i of A selects.
# A dense accumulator row takes the products. `found` has a bit for each column with a sum, and `filled` a bit for each
# nonzero word of `found`, so columns come out in order without sorting. FILL = 0 counts the entries of each row of C;
# FILL = 1 writes them, each range of rows from `c_begin` on.
# mask_kind: 0 none, 1 structural mask, 2 its complement. ALIKE (no mask): rows of B with equal columns are detected
# before; after the first of them, a row of C has a sum in each of these columns and needs no tests.
# Nothing is accumulated if a row of A has one entry, or if its rows of B have at most one each, in ascending columns
# (`ascends`): then the products are the entries of C, in order.
# include: formats/csr/columns.cpu.py
# include: kernels/product.cpu.py


@njit(**FUNCTION)
def alike(ptr, col, width, one, other):
    """Whether two rows of B have equal columns."""
    place = np.int64(at(ptr, one))
    apart = np.int64(at(ptr, other)) - place
    stop = np.int64(at(ptr, one + 1))
    if np.int64(at(ptr, other + 1)) - stop != apart:
        return False
    while place < stop and column_of(B_PACKED, col, width, place) == column_of(B_PACKED, col, width, place + apart):
        place += 1
    return place == stop


@njit(**KERNEL)
def gustavson(lo, hi, a_ptr, a_col, a_width, a_val, a_iso, a_stride, b_ptr, b_col, b_width, b_val, b_iso, b_stride,
              ncols, ascends, m_ptr, m_col, m_width, mask_kind, product, c_begin, c_ptr, c_col, c_val):  # fmt: skip
    words = (ncols >> 6) + 1
    found = zeros(words, np.uint64)
    filled = zeros((words >> 6) + 1, np.uint64)
    masked = zeros(words if mask_kind else 1, np.uint64)
    sums = empty(ncols if FILL and KIND == VALUES else 1, Z_T)
    count = empty(ncols if FILL and KIND == COUNT else 1, np.int64)
    kinds = empty(b_ptr.size if ALIKE else 1, np.int64)  # for each row of B an earlier one with equal columns
    longest = np.int64(0)
    for k in range(b_ptr.size - 1 if ALIKE else 0):
        kind = longest if alike(b_ptr, b_col, b_width, longest, k) else np.int64(k)
        put(kinds, k, kind)
        if np.int64(at(b_ptr, k + 1)) - np.int64(at(b_ptr, k)) >= (
            np.int64(at(b_ptr, longest + 1)) - np.int64(at(b_ptr, longest))
        ):
            longest = kind
    place = at(c_begin, lo) if FILL else np.int64(0)
    for i in range(lo, hi):
        a = np.int64(at(a_ptr, i))
        a_end = np.int64(at(a_ptr, i + 1))
        if a == a_end:
            if FILL:
                put(c_ptr, i + 1, place)
            continue
        if mask_kind:
            for p in range(np.int64(at(m_ptr, i)), np.int64(at(m_ptr, i + 1))):
                set_bit(masked, column_of(M_PACKED, m_col, m_width, p))
        low = np.int64(filled.size)
        high = np.int64(-1)
        if not FILL:
            place = np.int64(0)
        apart = ascends != 0 or a_end - a == 1
        for p in range(a, a_end if apart else a):
            k = column_of(A_PACKED, a_col, a_width, p)
            for q in range(np.int64(at(b_ptr, k)), np.int64(at(b_ptr, k + 1))):
                j = column_of(B_PACKED, b_col, b_width, q)
                if mask_kind and bit_of(masked, j) == (mask_kind == 2):
                    continue
                if FILL:
                    put(c_col, place, j)
                if FILL and KIND == VALUES:
                    put(c_val, place, mul(at(a_val, p) if a_stride else a_iso, at(b_val, q) if b_stride else b_iso, i,
                                          k, j))  # fmt: skip
                if FILL and KIND == COUNT:
                    put(c_val, place, repeated(product, np.int64(1)))
                place += 1
        known = np.int64(-1)
        most = np.int64(0)
        for p in range(a_end if apart else a, a_end):
            k = column_of(A_PACKED, a_col, a_width, p)
            b = np.int64(at(b_ptr, k))
            b_end = np.int64(at(b_ptr, k + 1))
            if ALIKE and at(kinds, k) == known:
                if FILL and KIND != WORDS:
                    j = column_of(B_PACKED, b_col, b_width, b)
                    # Consecutive columns: vectorized.
                    if column_of(B_PACKED, b_col, b_width, b_end - 1) - j == b_end - b - 1:
                        for q in range(b, b_end):
                            if KIND == VALUES:
                                z = mul(at(a_val, p) if a_stride else a_iso, at(b_val, q) if b_stride else b_iso, i, k,
                                        j + (q - b))  # fmt: skip
                                put(sums, j + (q - b), add(at(sums, j + (q - b)), z))
                            else:
                                put(count, j + (q - b), at(count, j + (q - b)) + 1)
                    else:
                        for q in range(b, b_end):
                            j = column_of(B_PACKED, b_col, b_width, q)
                            if KIND == VALUES:
                                z = mul(at(a_val, p) if a_stride else a_iso, at(b_val, q) if b_stride else b_iso, i, k,
                                        j)  # fmt: skip
                                put(sums, j, add(at(sums, j), z))
                            else:
                                put(count, j, at(count, j) + 1)
                continue
            if ALIKE and b_end - b > most:
                known = at(kinds, k)
                most = b_end - b
            for q in range(b, b_end):
                j = column_of(B_PACKED, b_col, b_width, q)
                if mask_kind and bit_of(masked, j) == (mask_kind == 2):
                    continue
                word = at(found, j >> 6)
                bit = ONE << np.uint64(j & 63)
                fresh = word & bit == 0
                if fresh:
                    put(found, j >> 6, word | bit)
                    if word == 0:
                        set_bit(filled, j >> 6)
                        low = min(low, j >> 12)
                        high = max(high, j >> 12)
                if FILL and KIND == VALUES:
                    z = mul(at(a_val, p) if a_stride else a_iso, at(b_val, q) if b_stride else b_iso, i, k, j)
                    put(sums, j, z if fresh else add(at(sums, j), z))
                if FILL and KIND == COUNT:
                    put(count, j, np.int64(1) if fresh else at(count, j) + 1)
        for f in range(low, high + 1):
            some = at(filled, f)
            put(filled, f, np.uint64(0))
            while some != 0:
                w = (f << 6) + np.int64(trailing_zeros(some))
                some = drop_lowest(some)
                word = at(found, w)
                put(found, w, np.uint64(0))
                if not FILL:
                    place += np.int64(popcount(word))
                    word = np.uint64(0)
                while word != 0:
                    j = (w << 6) + np.int64(trailing_zeros(word))
                    word = drop_lowest(word)
                    put(c_col, place, j)
                    if KIND == VALUES:
                        put(c_val, place, at(sums, j))
                    if KIND == COUNT:
                        put(c_val, place, repeated(product, at(count, j)))
                    place += 1
        put(c_ptr, i + 1, place)  # already there, unless the entries were not counted before
        if mask_kind:
            for p in range(np.int64(at(m_ptr, i)), np.int64(at(m_ptr, i + 1))):
                put(masked, column_of(M_PACKED, m_col, m_width, p) >> 6, np.uint64(0))
