# The bits at these places are set, the twin of mark.cu: one thread.


@njit(**KERNEL)
def mark(lo, hi, places, bits):
    for e in range(lo, hi):
        p = at(places, e)
        put(bits, p >> 6, at(bits, p >> 6) | np.uint64(1) << np.uint64(p & 63))
