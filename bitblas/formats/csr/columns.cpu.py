# Read column numbers of rows, plain or packed. CPU twin of columns.cuh and any_column.cuh.
# include: kernels/packed.cpu.py


@njit(**FUNCTION)
def column_of(packed, col, width, e):
    """The column of entry e, of plain ones or of packed ones of `width` bits."""
    if packed:
        return np.int64(packed_at(col, e, width))
    return np.int64(at(col, e))


@njit(**FUNCTION)
def column(col, width, e):
    """The same where PACKED says it for all operands: a constant, of which Numba compiles one side alone."""
    if PACKED:
        return np.int64(packed_at(col, e, width))
    return np.int64(at(col, e))


@njit(**FUNCTION)
def prefetch_column(col, width, e):
    """Asks for the column of entry e, which is read soon."""
    prefetch(col, np.int64((np.uint64(e) * np.uint64(width)) >> np.uint64(5)) if PACKED else e)
