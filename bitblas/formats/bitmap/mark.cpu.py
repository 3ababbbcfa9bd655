# Set the bits at a list of distinct positions. CPU twin of mark.cu; one thread.


@njit(**KERNEL)
def mark(lo, hi, places, bits):
    for e in range(lo, hi):
        p = at(places, e)
        put(bits, p >> 6, at(bits, p >> 6) | np.uint64(1) << np.uint64(p & 63))
