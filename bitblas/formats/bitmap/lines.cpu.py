# Shared parts of the products with a bitmap (multivector). CPU twin of lines.cuh.
# A line of X or of the result is `words` LINEs of BITS bits each. The sum of a position is stored at the number of its
# bit; BOOL sums are bits.
# include: kernels/product.cpu.py
# include: kernels/values.cpu.py
FULL = ~np.uint64(0) >> np.uint64(64 - BITS)


@njit(**FUNCTION)
def open_places(mask, stride, invert, last, words, line, w):
    """The positions of a word of a line that the mask allows; `last`: the valid positions of a line's last word."""
    allowed = (np.uint64(at(mask, (line * words + w) * stride)) ^ invert) & FULL
    return allowed & last if w == words - 1 else allowed


@njit(**FUNCTION)
def add_line(a, x, found, true, from_, to, line, other, w, x_val, x_iso, x_stride, t_val):
    """Combine the products of a value and the positions `x` of a word with the sums in `found`; returns BOOL sums."""
    rest = x & ~found if HAS_TERMINAL == 2 else x
    if not Z_BOOL and not U_BOOL and rest == FULL and (found == FULL or found == np.uint64(0)):
        for b in range(BITS):
            z = mul(a, at(x_val, from_ + b) if x_stride else x_iso, line, other, (w * BITS) + b)
            put(t_val, to + b, add(at(t_val, to + b), z) if found != np.uint64(0) else z)
        return true
    while rest != np.uint64(0):
        place = trailing_zeros(rest)
        bit = ONE << place
        rest = drop_lowest(rest)
        b = np.int64(place)
        z = mul(a, load_u(x_val, x_iso, x_stride, from_ + b), line, other, (w * BITS) + b)
        had = found & bit != np.uint64(0)
        if Z_BOOL:
            total = add(true & bit != np.uint64(0), z) if had else z
            true = true | bit if total else true & ~bit
        else:
            put(t_val, to + b, add(at(t_val, to + b), z) if had else z)
    return true
