# Masked assignment on presence bits: w<mask, replace> = t in place. CPU twin of bits.cu.


@njit(**KERNEL)
def bits(lo, hi, size, w, t, t_stride, t_invert, mask, mask_stride, mask_invert, replace):
    for word in range(lo, hi):
        open_bits = at(mask, word * mask_stride) ^ mask_invert
        kept = np.uint64(0) if replace else at(w, word) & ~open_bits
        now = ((at(t, word * t_stride) ^ t_invert) & open_bits) | kept
        left = size - word * 64
        if left < 64:
            now &= (np.uint64(1) << np.uint64(max(left, 0))) - np.uint64(1)
        put(w, word, now)
