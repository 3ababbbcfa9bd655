# Insert gaps into a vector at the positions of virtual nodes: CPU twin of among.cu. Bits are copied word by word.
# include: kernels/vector.cpu.py


@njit(**FUNCTION)
def opened(nodes, some):
    """`bits` with a zero inserted at each position of `nodes`, from the lowest on."""
    while nodes != 0:
        low = nodes & (~nodes + np.uint64(1))
        below = low - np.uint64(1)
        some = some & below | (some & ~below) << np.uint64(1)
        nodes ^= low
    return some


@njit(**FUNCTION)
def bits_from(bits, k):
    """The 64 bits from bit k on; zeros beyond the last word."""
    word = k >> 6
    shift = np.uint64(k & 63)
    if word >= bits.size:
        return np.uint64(0)
    found = at(bits, word) >> shift
    if shift != 0 and word + 1 < bits.size:
        found |= at(bits, word + 1) << (np.uint64(64) - shift)
    return found


@njit(**KERNEL)
def among(lo, hi, size, nodes, before, u_bits, u_val, t_bits, t_val):
    for word in range(lo, hi):
        first = word << 6
        here = at(nodes, word)
        k = np.int64(first - at(before, word))
        some = bits_from(u_bits, k)
        if some != 0:
            some = opened(here, some)
        put(t_bits, word, some)
        if DENSE and U_BOOL:
            put(t_val, word, opened(here, bits_from(u_val, k)) & some)
        elif DENSE:
            while some != 0:
                p = np.int64(trailing_zeros(some))
                below = (np.uint64(1) << np.uint64(p)) - np.uint64(1)
                put(t_val, first + p, at(u_val, k + p - np.int64(popcount(here & below))))
                some &= some - np.uint64(1)
