# Prefix sum in place: counts become offsets.


@njit(**FUNCTION)
def sum_up(counts, n):
    """Prefix sum of the counts of n rows: the end of each row, and the total. Writing entries from the last one on,
    with decrements, turns the ends into starts."""
    end = np.int64(0)
    for k in range(n + 1):
        end += np.int64(at(counts, k))
        put(counts, k, end)
