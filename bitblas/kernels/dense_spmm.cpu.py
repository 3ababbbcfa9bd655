# Product of a sparse matrix and a dense array by rows: y = A x, with rows of `width` numbers. CPU twin of
# dense_spmm.cu.
# include: formats/csr/columns.cpu.py
SUM, BEST, PICK = 0, 1, 2
ROWS, PARTS, JOIN = 0, 1, 2


@njit(**KERNEL)
def dense_spmm(lo, hi, longest, rows: RowsView, all: ColumnsView, a: MatrixValues, width, x, won, entries, y, winner):
    for number in range(lo, hi):
        row = np.int64(at(rows.row_of, number)) if rows.row_stride else np.int64(number)
        to = (number if PART == PARTS else row) * width
        for c in range(width):
            put(y, to + c, Z_T(0))
            if MODE == BEST:
                put(winner, to + c, WINNER_T(-1))
        for e in range(np.int64(at(rows.begin, number)), np.int64(at(rows.end, number))):
            k = np.int64(e) if PART == JOIN else column(all, e)
            value = Z_T(1) if PART == JOIN else Z_T(at(a.values, e) if a.stride else a.iso)
            from_ = k * width
            for c in range(width):
                v = value * at(x, from_ + c)
                old = at(y, to + c)
                if MODE == SUM:
                    put(y, to + c, old + v)
                elif MODE == PICK:
                    put(y, to + c, old + v if np.int64(at(won, from_ + c)) == row else old)
                elif at(winner, to + c) < 0 or (v > old if MAX else v < old) or (v != v and old == old):
                    put(y, to + c, v)
                    put(winner, to + c, at(won, from_ + c) if PART == JOIN else WINNER_T(k))
        count = np.int64(at(rows.end, number)) - np.int64(at(rows.begin, number))
        if MEAN and count:
            for c in range(width):
                put(y, to + c, at(y, to + c) / Z_T(count))
