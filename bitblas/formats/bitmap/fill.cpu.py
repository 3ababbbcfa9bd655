# Assign a scalar at the positions of t: w<mask, replace> = x. CPU twin of fill.cu.


@njit(**KERNEL)
def fill(lo, hi, t_bits, x, mask, mask_stride, mask_invert, replace, w_bits, w_val):
    for word in range(lo, hi):
        open_bits = at(mask, word * mask_stride) ^ mask_invert
        rest = at(t_bits, word) & open_bits
        kept = np.uint64(0) if replace else at(w_bits, word) & ~open_bits
        put(w_bits, word, rest | kept)
        while rest != np.uint64(0):
            put(w_val, (word << 6) + np.int64(trailing_zeros(rest)), x)
            rest = drop_lowest(rest)
