# Read column numbers of rows, plain or packed, and search in a row. CPU twin of columns.cuh and search.cuh.
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


@njit(**FUNCTION)
def lower_bound(packed, col, width, low, high, k):
    """The first position from `low` to `high` whose column is not below k."""
    while low < high:
        middle = (low + high) >> 1
        if column_of(packed, col, width, middle) < k:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**FUNCTION)
def ahead(packed, col, width, low, high, k):
    """The same; fast if that position is near `low` (galloping)."""
    step = np.int64(1)
    while low < high and column_of(packed, col, width, low) < k:
        low += 1
        if low + step < high and column_of(packed, col, width, low + step) < k:
            low += step
            step <<= 1
        elif step > 1:
            return lower_bound(packed, col, width, low, min(low + step + 1, high), k)
    return low
