# Masked assignment on presence bits: w<mask, replace> = t in place. 


@njit(**KERNEL)
def bits(lo, hi, size, w, t: MaskView, mask: MaskView, replace):
    for word in range(lo, hi):
        open_bits = at(mask.bits, word * mask.stride) ^ mask.invert
        kept = np.uint64(0) if replace else at(w, word) & ~open_bits
        now = ((at(t.bits, word * t.stride) ^ t.invert) & open_bits) | kept
        left = size - word * 64
        if left < 64:
            now &= (np.uint64(1) << np.uint64(max(left, 0))) - np.uint64(1)
        put(w, word, now)
