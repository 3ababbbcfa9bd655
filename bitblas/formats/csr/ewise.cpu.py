# Entries of matrices, row by row in one pass: element-wise operations, selections, submatrices.
# include: formats/csr/columns.cpu.py

# Element-wise operation on matrices: C<M, replace> = A (op) B, merging rows in one pass.
# The columns of a row ascend in A, B and M.
# Each range of rows writes from the position that A (MODE BOTH), or A and B together, would need; it reports where its
# rows end, and the caller closes the gaps.
# MODE: BOTH where both have an entry; UNION where at least one has; FILLED is UNION with a default for the missing
# operand; ONLY where B has one. Positions that M excludes keep the entry of A unless `replace` is set. MASKED 2: M is
# the pattern of B. FLAGS: of B only the entries flagged in `b_flags` count.
BOTH, UNION, FILLED, ONLY = 0, 1, 2, 3
FEW = 8  # mask entries of a row that are walked one by one, plus four per entry of the operands
FAR = np.int64(1) << 62  # larger than any column


@njit(**FUNCTION)
def combined(in_a, in_b, a: MatrixValues, a_default, p, b: MatrixValues, b_default, q, i, j):
    if MODE == ONLY:
        return only_b(at(b.values, q) if b.stride else b.iso)
    x = a_default if not in_a else at(a.values, p) if a.stride else a.iso
    y = b_default if not in_b else at(b.values, q) if b.stride else b.iso
    if MODE == FILLED or (in_a and in_b):
        return both(x, y, i, j)
    return only_a(x) if in_a else only_b(y)


@njit(**KERNEL)
def merge_rows(
    lo,
    hi,
    A: Matrix,
    a: MatrixValues,
    a_default,
    B: Matrix,
    b_flags,
    b: MatrixValues,
    b_default,
    M: Matrix,
    m_flip,
    replace,
    C: MatrixC,
):
    place = np.int64(at(A.ptr, lo)) + (np.int64(at(B.ptr, lo)) if MODE != BOTH else 0)
    for i in range(lo, hi):
        p = np.int64(at(A.ptr, i))
        p_end = np.int64(at(A.ptr, i + 1))
        q = np.int64(at(B.ptr, i))
        q_end = np.int64(at(B.ptr, i + 1))
        m = np.int64(at(M.ptr, i)) if MASKED == 1 else np.int64(0)
        m_end = np.int64(at(M.ptr, i + 1)) if MASKED == 1 else np.int64(0)
        at_m = column_of(M_PACKED, M.col, M.width, m) if m < m_end else FAR
        if MODE == BOTH:
            while p < p_end and q < q_end:
                j = column_of(A_PACKED, A.col, A.width, p)
                k = column_of(B_PACKED, B.col, B.width, q)
                if j < k:
                    p = ahead(A_PACKED, A.col, A.width, p + 1, p_end, k)
                elif k < j:
                    q = ahead(B_PACKED, B.col, B.width, q + 1, q_end, j)
                else:
                    put(C.col, place, j)
                    if VALUED:
                        put(C.values, place, combined(True, True, a, a_default, p, b, b_default, q, i, j))
                    place += 1
                    p += 1
                    q += 1
            put(C.ptr, i + 1, place)
            continue
        j = column_of(A_PACKED, A.col, A.width, p) if p < p_end else FAR
        k = column_of(B_PACKED, B.col, B.width, q) if q < q_end else FAR
        if MODE == ONLY and MASKED == 1 and m_flip == 0 and m_end - m <= FEW + 4 * (p_end - p + q_end - q):
            for e in range(m, m_end):  # step through the mask's entries: half the branches of what follows
                at_m = column_of(M_PACKED, M.col, M.width, e)
                while j < at_m:
                    put(C.col, place, j)  # overwritten if it is not kept
                    if VALUED:
                        put(C.values, place, only_a(at(a.values, p) if a.stride else a.iso))
                    place += 1 - replace
                    p += 1
                    j = column_of(A_PACKED, A.col, A.width, p) if p < p_end else FAR
                while k < at_m:
                    q += 1
                    k = column_of(B_PACKED, B.col, B.width, q) if q < q_end else FAR
                if j == at_m:
                    p += 1
                    j = column_of(A_PACKED, A.col, A.width, p) if p < p_end else FAR
                if k == at_m and (not FLAGS or at(b_flags, q) != 0):
                    put(C.col, place, k)
                    if VALUED:
                        put(C.values, place, only_b(at(b.values, q) if b.stride else b.iso))
                    place += 1
            for e in range(p, p_end if replace == 0 else p):
                put(C.col, place, column_of(A_PACKED, A.col, A.width, e))
                if VALUED:
                    put(C.values, place, only_a(at(a.values, e) if a.stride else a.iso))
                place += 1
            put(C.ptr, i + 1, place)
            continue
        while j != FAR or k != FAR:
            here = min(j, k)
            in_a = j == here
            in_b = k == here
            there = in_b and (not FLAGS or at(b_flags, q) != 0)
            is_open = True
            if MASKED == 2:
                is_open = in_b != (m_flip != 0)
            elif MASKED:
                if at_m < here:
                    m = ahead(M_PACKED, M.col, M.width, m + 1, m_end, here)
                    at_m = column_of(M_PACKED, M.col, M.width, m) if m < m_end else FAR
                is_open = (at_m == here) != (m_flip != 0)
            if is_open and (there or (in_a and MODE != ONLY)):
                put(C.col, place, here)
                if VALUED:
                    put(C.values, place, combined(in_a, there, a, a_default, p, b, b_default, q, i, here))
                place += 1
            elif not is_open and in_a and not replace:
                put(C.col, place, here)
                if VALUED:
                    put(C.values, place, only_a(at(a.values, p) if a.stride else a.iso))
                place += 1
            if in_a:
                p += 1
                j = column_of(A_PACKED, A.col, A.width, p) if p < p_end else FAR
            if in_b:
                q += 1
                k = column_of(B_PACKED, B.col, B.width, q) if q < q_end else FAR
        put(C.ptr, i + 1, place)


# Select: keep the entries (i, j) of A for which f(value, row, column, thunk) is true, row by row in one pass.
# Each range of rows writes from the start of its rows in A on and reports where its rows end; the caller closes the
# gaps.
@njit(**KERNEL)
def select_rows(lo, hi, ptr, col, width, val, iso, step, thunk, C: MatrixC):
    place = np.int64(at(ptr, lo))
    for i in range(lo, hi):
        begin = np.int64(at(ptr, i))
        end = np.int64(at(ptr, i + 1))
        for e in range(begin, end):
            j = column(col, width, e)
            x = at(val, e) if step else iso
            put(C.col, place, j)  # overwritten if it is not kept
            if VALUED:
                put(C.values, place, x)
            place += np.int64(f(x, thunk, i, j))
        put(C.ptr, i + 1, place)


# Extract A[I, J], or the entries of A outside of it, row by row in one pass.
# Of a row in `rows` (FLAGGED: a row that `rows` flags; otherwise row I[r], or row r) the kernel keeps the entries
# whose columns have a number in `place`; these numbers ascend. Of other rows it keeps all entries. Each range of rows
# writes from `c_begin` on, with space for everything that it reads; the caller closes the gaps.
@njit(**KERNEL)
def extract(lo, hi, rows, row_stride, ptr, col, width, val, place, place_stride, c_begin, C: MatrixC):
    out = np.int64(at(c_begin, lo))
    for r in range(lo, hi):
        i = np.int64(at(rows, r)) if row_stride and not FLAGGED else r
        begin = np.int64(at(ptr, i))
        end = np.int64(at(ptr, i + 1))
        if place_stride == 0 or (FLAGGED and at(rows, r) == 0):
            for e in range(end - begin):
                put(C.col, out + e, column(col, width, begin + e))
            if VALUED:
                for e in range(end - begin):
                    put(C.values, out + e, at(val, begin + e))
            out += end - begin
        else:
            for e in range(begin, end):
                j = np.int64(at(place, column(col, width, e)))
                put(C.col, out, j)  # overwritten if it is not kept
                if VALUED:
                    put(C.values, out, at(val, e))
                out += np.int64(j >= 0)
        put(C.ptr, r + 1, out)
