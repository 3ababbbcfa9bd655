# Matrix products on the CPU: row by row (gustavson), and dot products at the entries of a mask (dot).
# include: formats/csr/columns.cpu.py
# include: kernels/products.cpu.py
# include: kernels/views.cpu.py

# ---- SpGEMM: C = A (+).(x) B row by row (Gustavson: ACM TOMS 4(3), 1978).
# Row i of C is the sum of the rows of B that row i of A selects.
# A dense accumulator row takes the products. `found` has a bit for each column with a sum, and `filled` a bit for each
# nonzero word of `found`, so columns come out in order without sorting. FILL = 0 counts the entries of each row of C;
# FILL = 1 writes them, each range of rows from `c_begin` on.
# mask_kind: 0 none, 1 structural mask, 2 its complement. ALIKE (no mask): rows of B with equal columns are detected
# before; after the first of them, a row of C has a sum in each of these columns and needs no tests.
# Nothing is accumulated if a row of A has one entry, or if its rows of B have at most one each, in ascending columns
# (`ascends`): then the products are the entries of C, in order.


@njit(**FUNCTION)
def alike(B: Matrix, one, other):
    """Whether two rows of B have equal columns."""
    place = np.int64(at(B.ptr, one))
    apart = np.int64(at(B.ptr, other)) - place
    stop = np.int64(at(B.ptr, one + 1))
    if np.int64(at(B.ptr, other + 1)) - stop != apart:
        return False
    while place < stop and column_of(B_PACKED, B.col, B.width, place) == column_of(
        B_PACKED, B.col, B.width, place + apart
    ):
        place += 1
    return place == stop


@njit(**FUNCTION)
def product_of(a: MatrixValues, p, b: MatrixValues, q, i, k, j):
    return mul(at(a.values, p) if a.stride else a.iso, at(b.values, q) if b.stride else b.iso, i, k, j)


@njit(**KERNEL)
def gustavson(
    lo,
    hi,
    A: Matrix,
    a: MatrixValues,
    B: Matrix,
    b: MatrixValues,
    ncols,
    ascends,
    M: Matrix,
    mask_kind,
    product,
    c_begin,
    C: MatrixC,
):
    words = (ncols >> 6) + 1
    found = zeros(words, np.uint64)
    filled = zeros((words >> 6) + 1, np.uint64)
    masked = zeros(words if mask_kind else 1, np.uint64)
    sums = empty(ncols if FILL and KIND == VALUES else 1, Z_T)
    count = empty(ncols if FILL and KIND == COUNT else 1, np.int64)
    kinds = empty(B.ptr.size if ALIKE else 1, np.int64)  # for each row of B an earlier one with equal columns
    longest = np.int64(0)
    for k in range(B.ptr.size - 1 if ALIKE else 0):
        kind = longest if alike(B, longest, k) else np.int64(k)
        put(kinds, k, kind)
        if np.int64(at(B.ptr, k + 1)) - np.int64(at(B.ptr, k)) >= (
            np.int64(at(B.ptr, longest + 1)) - np.int64(at(B.ptr, longest))
        ):
            longest = kind
    place = at(c_begin, lo) if FILL else np.int64(0)
    for i in range(lo, hi):
        a_begin = np.int64(at(A.ptr, i))
        a_end = np.int64(at(A.ptr, i + 1))
        if a_begin == a_end:
            if FILL:
                put(C.ptr, i + 1, place)
            continue
        if mask_kind:
            for p in range(np.int64(at(M.ptr, i)), np.int64(at(M.ptr, i + 1))):
                set_bit(masked, column_of(M_PACKED, M.col, M.width, p))
        low = np.int64(filled.size)
        high = np.int64(-1)
        if not FILL:
            place = np.int64(0)
        apart = ascends != 0 or a_end - a_begin == 1
        for p in range(a_begin, a_end if apart else a_begin):
            k = column_of(A_PACKED, A.col, A.width, p)
            for q in range(np.int64(at(B.ptr, k)), np.int64(at(B.ptr, k + 1))):
                j = column_of(B_PACKED, B.col, B.width, q)
                if mask_kind and bit_of(masked, j) == (mask_kind == 2):
                    continue
                if FILL:
                    put(C.col, place, j)
                if FILL and KIND == VALUES:
                    put(C.values, place, product_of(a, p, b, q, i, k, j))
                if FILL and KIND == COUNT:
                    put(C.values, place, repeated(product, np.int64(1)))
                place += 1
        known = np.int64(-1)
        most = np.int64(0)
        for p in range(a_end if apart else a_begin, a_end):
            k = column_of(A_PACKED, A.col, A.width, p)
            b_begin = np.int64(at(B.ptr, k))
            b_end = np.int64(at(B.ptr, k + 1))
            if ALIKE and at(kinds, k) == known:
                if FILL and KIND != WORDS:
                    j = column_of(B_PACKED, B.col, B.width, b_begin)
                    # Consecutive columns: vectorized.
                    if column_of(B_PACKED, B.col, B.width, b_end - 1) - j == b_end - b_begin - 1:
                        for q in range(b_begin, b_end):
                            if KIND == VALUES:
                                z = product_of(a, p, b, q, i, k, j + (q - b_begin))
                                put(sums, j + (q - b_begin), add(at(sums, j + (q - b_begin)), z))
                            else:
                                put(count, j + (q - b_begin), at(count, j + (q - b_begin)) + 1)
                    else:
                        for q in range(b_begin, b_end):
                            j = column_of(B_PACKED, B.col, B.width, q)
                            if KIND == VALUES:
                                z = product_of(a, p, b, q, i, k, j)
                                put(sums, j, add(at(sums, j), z))
                            else:
                                put(count, j, at(count, j) + 1)
                continue
            if ALIKE and b_end - b_begin > most:
                known = at(kinds, k)
                most = b_end - b_begin
            for q in range(b_begin, b_end):
                j = column_of(B_PACKED, B.col, B.width, q)
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
                    z = product_of(a, p, b, q, i, k, j)
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
                    put(C.col, place, j)
                    if KIND == VALUES:
                        put(C.values, place, at(sums, j))
                    if KIND == COUNT:
                        put(C.values, place, repeated(product, at(count, j)))
                    place += 1
        put(C.ptr, i + 1, place)  # already there, unless the entries were not counted before
        if mask_kind:
            for p in range(np.int64(at(M.ptr, i)), np.int64(at(M.ptr, i + 1))):
                put(masked, column_of(M_PACKED, M.col, M.width, p) >> 6, np.uint64(0))


# ---- Masked dot products: C<M> = A B', computed at the entries of the mask. CPU twin of spgemm.cu.
# The row of A is marked once for all entries of its row of the mask, and the row of B' looks up the marks; if the row
# of B' is much longer, the entries of A are searched for in it. Both ways take the products in ascending k.
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
