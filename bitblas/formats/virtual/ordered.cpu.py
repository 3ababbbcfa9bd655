# Sort entries in any order into rows.
# First (SORT 0) one thread writes each to the next free position of its row, `to`; then the columns of each row,
# ptr[row] .. ptr[row + 1], are sorted (Shell 1959).


@njit(**KERNEL)
def ordered(lo, hi, rows, cols, to, ptr, col):
    if not SORT:
        for e in range(lo, hi):
            row = at(rows, e)
            p = at(to, row)
            put(col, p, at(cols, e))
            put(to, row, p + 1)
    else:
        for row in range(lo, hi):
            begin = at(ptr, row)
            end = at(ptr, row + 1)
            step = np.int64(1)
            while 9 * step < end - begin:
                step = 3 * step + 1
            while step > 0:
                for p in range(begin + step, end):
                    j = at(col, p)
                    k = p - step
                    while k >= begin and at(col, k) > j:
                        put(col, k + step, at(col, k))
                        k -= step
                    put(col, k + step, j)
                step //= 3
