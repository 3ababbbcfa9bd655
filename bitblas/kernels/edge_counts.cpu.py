# Rows of graphs: lengths, and places of columns.


@njit(**FUNCTION)
def length_of(ptr, i):
    return np.int64(at(ptr, i + 1)) - np.int64(at(ptr, i))


@njit(**FUNCTION)
def place_of(col, low, high, k):
    """The first position from `low` to `high` whose column is not below k."""
    while low < high:
        middle = (low + high) >> 1
        if np.int64(at(col, middle)) < k:
            low = middle + 1
        else:
            high = middle
    return low
