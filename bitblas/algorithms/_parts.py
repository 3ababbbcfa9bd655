"""Parts of graphs."""


def among(A, v, gb):
    """The entries of A, n x n, between vertices that have an entry in v; a Matrix of the same size and dtype."""
    i, j, values = A.to_coo()
    inside = v.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)
    kept = inside[i] & inside[j]
    return gb.Matrix.from_coo(i[kept], j[kept], values[kept], A.dtype, nrows=A.nrows, ncols=A.ncols)
