# Binary search in a row, the twin of search.cuh.


@njit(**FUNCTION)
def lower_bound(col, low, high, k):
    """The first place from `low` to `high` whose column is not below k."""
    while low < high:
        middle = (low + high) >> 1
        if np.int64(at(col, middle)) < k:
            low = middle + 1
        else:
            high = middle
    return low
