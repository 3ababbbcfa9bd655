# Sampled product of two dense arrays (SDDMM): for each entry of a matrix, the sum of the products of a row of g and a
# row of x. CPU twin of sddmm.cu.
# include: formats/csr/columns.cpu.py


@njit(**KERNEL)
def sddmm(lo, hi, nvals, nrows, rows: RowsView, all: ColumnsView, width, g, g_stride, x, x_stride, won, y):
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
            z = mul(at(g, to * g_stride + c), at(x, from_ * x_stride + c), to, np.int64(c), from_)
            if PICK and np.int64(at(won, to * width + c)) != from_:
                z = Z_T(0)
            total = z if c == 0 else add(total, z)
        put(y, e, total)
