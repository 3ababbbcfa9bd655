# w<mask, accum, replace> = t in place, the twin of merge.cu.
# include: kernels/vector.cpu.py


@njit(**KERNEL)
def merge(lo, hi, size, w_bits, w_val, t_bits, t_val, t_iso, t_step, mask, mask_step, mask_flip, replace):
    for word in range(lo, hi):
        had = at(w_bits, word)
        open_bits = at(mask, word * mask_step) ^ mask_flip
        news = at(t_bits, word) & open_bits
        kept = np.uint64(0) if replace else had & ~open_bits
        present = news | kept | ((had & open_bits) if ACCUM else np.uint64(0))
        if W_BOOL:
            true = at(w_val, word)
        rest = news
        while rest != 0:
            place = trailing_zeros(rest)
            bit = np.uint64(1) << place
            rest = drop_lowest(rest)
            p = (word << 6) + np.int64(place)
            if T_BOOL:
                t = bit_of(t_val, p) if t_step else t_iso
            else:
                t = at(t_val, p) if t_step else t_iso
            if W_BOOL:
                w = accum(true & bit != 0, t) if ACCUM and had & bit != 0 else take(t)
                true = true | bit if w else true & ~bit
            else:
                put(w_val, p, accum(at(w_val, p), t) if ACCUM and had & bit != 0 else take(t))
        w_bits[word] = present
        if W_BOOL:
            w_val[word] = true & present
