# Scatter: t(where[k]) = u(k) for each entry of u. CPU twin of place.cu.
# include: kernels/vector.cpu.py
TWICE, OUTSIDE = 0, 1


@njit(**KERNEL)
def place(lo, hi, size, where, u_bits, u_bits_stride, u_val, u_iso, u_stride, t_bits, t_val, flags):
    for k in range(lo, hi):
        i = at(where, k)
        if i < 0 or i >= size:
            flags[OUTSIDE] = 1
            continue
        has = bit_of(u_bits, k) if u_bits_stride else True
        if not has and not CLEAR:
            continue
        word = i >> 6
        bit = np.uint64(1) << np.uint64(i & 63)
        before = at(t_bits, word)
        had = before & bit != 0
        if MARKS:
            put(t_bits, word, before | bit if has else before & ~bit)
        if U_BOOL:
            x = take(bit_of(u_val, k) if u_stride else u_iso)
        else:
            x = take(at(u_val, k) if u_stride else u_iso)
        if JOIN:
            put(t_val, i, back(add(take_t(at(t_val, i)), x) if had else x))
            continue
        if had and has and not CLEAR:
            flags[TWICE] = 1
        if DENSE and T_BOOL:
            put(t_val, word, at(t_val, word) | bit if has and x else at(t_val, word) & ~bit)
        elif DENSE and has:
            put(t_val, i, x)
