# Read column numbers of rows, plain or packed. CPU twin of columns.cuh and any_column.cuh.
# include: kernels/views.cpu.py


@njit(**FUNCTION)
def column_of(packed, col, width, e):
    """The column of entry e, plain or packed with `width` bits."""
    if packed:
        return np.int64(packed_at(col, e, width))
    return np.int64(at(col, e))


@njit(**FUNCTION)
def column(col, width, e):
    """The same if PACKED applies to all operands: a constant, so Numba compiles only one branch."""
    if PACKED:
        return np.int64(packed_at(col, e, width))
    return np.int64(at(col, e))


@njit(**FUNCTION)
def prefetch_column(col, width, e):
    """Prefetch the column of entry e."""
    prefetch(col, np.int64((np.uint64(e) * np.uint64(width)) >> np.uint64(5)) if PACKED else e)
