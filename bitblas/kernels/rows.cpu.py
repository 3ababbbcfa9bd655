# Find the row of an entry in the row pointers. CPU twin of rows.cuh.


@njit(**FUNCTION)
def row_of(ptr, rows, entry):
    """The last row that begins at or before the entry."""
    low = np.int64(0)
    high = np.int64(rows)
    while high - low > 1:
        middle = (low + high) >> 1
        if np.int64(at(ptr, middle)) <= entry:
            low = middle
        else:
            high = middle
    return low
