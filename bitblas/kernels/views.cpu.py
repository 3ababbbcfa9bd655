# Vectors in kernels: presence bits; values iso (stride 0) or dense (stride 1), BOOL values as a bitset.
# CPU twin of views.cuh.
AT_ONCE = 8  # words that are tested together for being empty


@njit(**FUNCTION)
def any_of(bits, w):
    """OR of the AT_ONCE words from w on."""
    found = np.uint64(0)
    for k in range(AT_ONCE):
        found |= at(bits, w + k)
    return found


@njit(**FUNCTION)
def filled(bits, w, hi):
    """The first nonzero word from w on; hi if there is none."""
    if w < hi and at(bits, w) == 0:
        while w + AT_ONCE <= hi and any_of(bits, w) == 0:
            w += AT_ONCE
        while w < hi and at(bits, w) == 0:
            w += 1
    return w


@njit(**FUNCTION)
def next_listed(summary, w, hi):
    """The first word from w on that a vector's summary lists, in the summary's words before hi; 64 hi if there is
    none."""
    group = w >> 6
    past = np.uint64(w & 63)
    some = at(summary, group) >> past << past if group < hi else np.uint64(0)
    while some == 0 and group < hi:
        group += 1
        some = at(summary, group) if group < hi else np.uint64(0)
    return (group << 6) + np.int64(trailing_zeros(some)) if some != 0 else hi << 6


@njit(**FUNCTION)
def bit_of(bits, i):
    return (at(bits, i >> 6) >> np.uint64(i & 63)) & np.uint64(1) != 0


@njit(**FUNCTION)
def is_mostly_full(bits):
    """Whether three of four positions have entries, estimated from some words."""
    step = max(1, bits.size >> 4)
    words = np.int64(0)
    found = np.int64(0)
    for w in range(0, bits.size - 1, step):  # the last word may be partial
        found += np.int64(popcount(at(bits, w)))
        words += 1
    return found > words * 48
