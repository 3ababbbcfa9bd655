# Recompute the summary of a vector: which of its words have entries. Units are the words of the summary.


@njit(**KERNEL)
def summary(lo, hi, bits, found):
    for k in range(lo, hi):
        some = np.uint64(0)
        for place in range(min(64, bits.size - (k << 6))):
            some |= np.uint64(at(bits, (k << 6) + place) != 0) << np.uint64(place)
        put(found, k, some)
