# Binary search in a row. CPU twin of search.cuh.
# include: formats/csr/columns.cpu.py


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
