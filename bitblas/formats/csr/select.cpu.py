# Select entries, and extract submatrices, row by row in one pass.
# include: formats/csr/columns.cpu.py

# Select: keep the entries (i, j) of A for which f(value, row, column, thunk) is true, row by row in one pass.
# Each range of rows writes from the start of its rows in A on and reports where its rows end; the caller closes the
# gaps. RUN: the kept entries of each row are its first or its last ones, found by binary search.
HEAD, TAIL = 1, 2
FEW = 16  # entries of a row up to which each is tested


@njit(**KERNEL)
def sift(lo, hi, ptr, col, width, val, iso, step, thunk, C: MatrixC):
    place = np.int64(at(ptr, lo))
    for i in range(lo, hi):
        begin = np.int64(at(ptr, i))
        end = np.int64(at(ptr, i + 1))
        if RUN and end - begin > FEW:
            low = begin
            left = end - begin
            while left > 0:  # without a branch, which would be unpredictable
                half = left >> 1
                x = at(val, low + half) if step else iso
                above = np.int64((f(x, thunk, i, column(col, width, low + half)) != 0) == (RUN == HEAD))
                low += above * (half + 1)
                left = half - above * (1 - (left & 1))
            begin, end = (begin, low) if RUN == HEAD else (low, end)
            for e in range(end - begin):
                put(C.col, place + e, column(col, width, begin + e))
            if VALUED:
                for e in range(end - begin):
                    put(C.values, place + e, at(val, begin + e))
            place += end - begin
            put(C.ptr, i + 1, place)
            continue
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
