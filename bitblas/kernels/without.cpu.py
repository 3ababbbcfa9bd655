# Remove the positions of virtual nodes from a vector. CPU twin of without.cu. Bits are copied word by word.
# include: kernels/vector.cpu.py


@njit(**FUNCTION)
def closed(nodes, some):
    """`bits` without those at the positions of `nodes`, from the highest on."""
    while nodes != 0:
        place = np.uint64(63) - np.uint64(leading_zeros(nodes))
        below = (np.uint64(1) << place) - np.uint64(1)
        some = some & below | some >> np.uint64(1) & ~below
        nodes &= below
    return some


@njit(**KERNEL)
def without(lo, hi, size, nodes, start, u_bits, u_val, t_bits, t_val):
    for word in range(lo, hi):
        first = word << 6
        many = min(64, size - first)
        some = np.uint64(0)
        true = np.uint64(0)
        k = np.int64(0)  # positions written
        p = np.int64(at(start, word)) if many > 0 else np.int64(0)
        while k < many:  # the remaining bits of a word of u
            shift = np.uint64(p & 63)
            here = at(nodes, p >> 6) >> shift
            found = at(u_bits, p >> 6) >> shift
            some |= closed(here, found & ~here) << np.uint64(k)
            if DENSE and U_BOOL:
                true |= closed(here, at(u_val, p >> 6) >> shift & found & ~here) << np.uint64(k)
            elif DENSE:
                found &= ~here
                while found != 0:
                    q = np.int64(trailing_zeros(found))
                    below = (np.uint64(1) << np.uint64(q)) - np.uint64(1)
                    at_k = k + q - np.int64(popcount(here & below))
                    if at_k < many:
                        put(t_val, first + at_k, at(u_val, p + q))
                    found &= found - np.uint64(1)
            k += np.int64(64) - np.int64(shift) - np.int64(popcount(here))
            p = (p | 63) + 1
        if many < 64:
            inside = (np.uint64(1) << np.uint64(max(0, many))) - np.uint64(1)
            some &= inside
            true &= inside
        put(t_bits, word, some)
        if DENSE and U_BOOL:
            put(t_val, word, true)
