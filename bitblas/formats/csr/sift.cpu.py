# Select: keep the entries (i, j) of A for which f(value, row, column, thunk) is true, row by row in one pass.
# Each range of rows writes from the start of its rows in A on and reports where its rows end; the caller closes the
# gaps. RUN: the kept entries of each row are its first or its last ones, found by binary search.
# include: formats/csr/columns.cpu.py
HEAD, TAIL = 1, 2
FEW = 16  # entries of a row up to which each is tested


@njit(**KERNEL)
def sift(lo, hi, ptr, col, width, val, iso, step, thunk, c_ptr, c_col, c_val):
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
                put(c_col, place + e, column(col, width, begin + e))
            if VALUED:
                for e in range(end - begin):
                    put(c_val, place + e, at(val, begin + e))
            place += end - begin
            put(c_ptr, i + 1, place)
            continue
        for e in range(begin, end):
            j = column(col, width, e)
            x = at(val, e) if step else iso
            put(c_col, place, j)  # overwritten if it is not kept
            if VALUED:
                put(c_val, place, x)
            place += np.int64(f(x, thunk, i, j))
        put(c_ptr, i + 1, place)
