# A number for each entry of a matrix from two dense arrays: the product of a row of g and a row of x. CPU twin of
# dense_entries.cu.
# include: formats/csr/columns.cpu.py


@njit(**KERNEL)
def dense_entries(lo, hi, nrows, rows: RowsView, all: ColumnsView, width, g, x, won, y):
    row, above = np.int64(0), np.int64(nrows)
    while above - row > 1:
        middle = (row + above) // 2
        if np.int64(at(rows.begin, middle)) <= lo:
            row = middle
        else:
            above = middle
    for e in range(lo, hi):
        while np.int64(at(rows.end, row)) <= e:
            row += 1
        col = np.int64(column(all, e))
        to, from_ = (col, row) if TRANSPOSED else (row, col)
        total = Z_T(0)
        for c in range(width):
            if not PICK or np.int64(at(won, to * width + c)) == from_:
                total += at(g, to * width + c) * at(x, from_ * width + c)
        put(y, e, total)
