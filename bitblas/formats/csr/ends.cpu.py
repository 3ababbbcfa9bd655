# Prefix sum in place: counts become offsets.


@njit(**FUNCTION)
def sum_up(counts, n):
    """Counts of n rows become where each ends, and the number of all. Entries that are then put at their places from
    the last one on make of it where each row begins."""
    end = np.int64(0)
    for k in range(n + 1):
        end += np.int64(at(counts, k))
        put(counts, k, end)
