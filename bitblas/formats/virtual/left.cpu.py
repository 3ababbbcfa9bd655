# Remaining entries of each row after mining (those not `gone`): counted and, with FILL, gathered in `left`.


@njit(**KERNEL)
def left(lo, hi, ptr, gone, col, left, rest):
    for row in range(lo, hi):
        if FILL:
            to = np.int64(at(left, row))
            for p in range(at(ptr, row), at(ptr, row + 1)):
                if at(gone, p) == 0:
                    put(rest, to, at(col, p))
                    to += 1
        else:
            count = np.int64(0)
            for p in range(at(ptr, row), at(ptr, row + 1)):
                count += np.int64(at(gone, p) == 0)
            put(left, row + 1, count)
