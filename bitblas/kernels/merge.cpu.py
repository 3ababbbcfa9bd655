# Write a result: w<mask, accum, replace> = t. CPU twin of merge.cu.
# include: kernels/vector.cpu.py


@njit(**KERNEL)
def merge(lo, hi, size, w_bits, old_val, old_iso, old_stride, t_bits, t_val, t_iso, t_stride, mask, mask_stride,
          mask_invert, replace, w_val):  # fmt: skip
    begin = lo
    while begin < hi:
        word = begin
        if (
            word + AT_ONCE <= hi
            and any_of(t_bits, word) == 0
            and (not STORE or old_stride or any_of(w_bits, word) == 0)
        ):
            begin += AT_ONCE
            for k in range(word, begin):
                had = at(w_bits, k)
                open_bits = at(mask, k * mask_stride) ^ mask_invert
                left = (np.uint64(0) if replace else had & ~open_bits) | ((had & open_bits) if ACCUM else np.uint64(0))
                put(w_bits, k, left)
                if STORE and W_BOOL:
                    put(w_val, k, at(old_val, k * old_stride) & left)
            continue
        begin += 1
        had = at(w_bits, word)
        open_bits = at(mask, word * mask_stride) ^ mask_invert
        news = at(t_bits, word) & open_bits
        kept = np.uint64(0) if replace else had & ~open_bits
        present = news | kept | ((had & open_bits) if ACCUM else np.uint64(0))
        w_bits[word] = present
        if STORE and W_BOOL:
            true = at(old_val, word) if old_stride else (had if old_iso else np.uint64(0))
        rest = news if W_BOOL or old_stride else present
        while STORE and rest != 0:
            place = trailing_zeros(rest)
            bit = np.uint64(1) << place
            rest = drop_lowest(rest)
            p = (word << 6) + np.int64(place)
            if news & bit == 0:  # it had the iso value
                if not W_BOOL:
                    put(w_val, p, old_iso)
                continue
            if T_BOOL:
                t = bit_of(t_val, p) if t_stride else t_iso
            else:
                t = at(t_val, p) if t_stride else t_iso
            if W_BOOL:
                w = accum(true & bit != 0, t) if ACCUM and had & bit != 0 else take(t)
                true = true | bit if w else true & ~bit
            elif ACCUM and had & bit != 0:
                put(w_val, p, accum(at(old_val, p) if old_stride else old_iso, t))
            else:
                put(w_val, p, take(t))
        if STORE and W_BOOL:
            w_val[word] = true & present
