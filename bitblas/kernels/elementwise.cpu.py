# Element-wise operation on vectors: w<mask, replace> = f(u, v). CPU twin of elementwise.cu.
# include: kernels/vector.cpu.py
LEFT, BOTH, UNION, FILLED = 0, 1, 2, 3


@njit(**FUNCTION)
def load_u(values, iso, stride, i):
    if U_BOOL:
        return bit_of(values, i) if stride else iso
    return at(values, i) if stride else iso


@njit(**FUNCTION)
def load_v(values, iso, stride, i):
    if V_BOOL:
        return bit_of(values, i) if stride else iso
    return at(values, i) if stride else iso


@njit(**FUNCTION)
def is_dense(u_bits, v_bits, mask, mask_stride, mask_invert, w):
    """Whether all 64 positions of a word have entries: then a loop without bit tests runs, which the compiler
    vectorizes."""
    if W_BOOL or U_BOOL or V_BOOL or PLACES:
        return False
    vb = at(v_bits, w) if MODE != LEFT else ~np.uint64(0)
    return at(u_bits, w) & vb & (at(mask, w * mask_stride) ^ mask_invert) == ~np.uint64(0)


@njit(**FUNCTION)
def has_none(u_bits, v_bits, w):
    """Whether the AT_ONCE words from w on have nothing to compute."""
    found = np.uint64(0)
    for k in range(w, w + AT_ONCE):
        ub = at(u_bits, k)
        found |= ub if MODE == LEFT else ub & at(v_bits, k) if MODE == BOTH else ub | at(v_bits, k)
    return found == 0


@njit(**KERNEL)
def elementwise(lo, hi, size, u_bits, u_val, u_iso, u_stride, v_bits, v_val, v_iso, v_stride, u_default, v_default,
                rows, cols, mask, mask_stride, mask_invert, replace, w_bits, w_val):  # fmt: skip
    begin = lo
    while begin < hi:
        w = begin
        if w + AT_ONCE <= hi and has_none(u_bits, v_bits, w):
            begin += AT_ONCE
            for k in range(w, begin):
                left = np.uint64(0)
                if not FRESH and not replace:
                    left = at(w_bits, k) & ~(at(mask, k * mask_stride) ^ mask_invert)
                put(w_bits, k, left)
                if W_BOOL and not W_ISO:
                    put(w_val, k, np.uint64(0) if FRESH else at(w_val, k) & left)
            continue
        begin += 1
        dense = is_dense(u_bits, v_bits, mask, mask_stride, mask_invert, w)
        if dense and not KEEP:  # of many words at once
            while begin < hi and is_dense(u_bits, v_bits, mask, mask_stride, mask_invert, begin):
                begin += 1
            if not W_ISO:
                for p in range(w << 6, begin << 6):
                    x = load_u(u_val, u_iso, u_stride, p)
                    put(w_val, p, take_f(f(x, load_v(v_val, v_iso, v_stride, p), p, np.int64(0))))
            for p in range(w, begin):
                put(w_bits, p, ~np.uint64(0))
            continue
        ub = at(u_bits, w)
        vb = at(v_bits, w) if MODE != LEFT else ub
        open_bits = at(mask, w * mask_stride) ^ mask_invert
        news = (ub if MODE == LEFT else ub & vb if MODE == BOTH else ub | vb) & open_bits
        had = np.uint64(0) if FRESH else at(w_bits, w)
        true = at(w_val, w) if W_BOOL and not FRESH and not W_ISO else np.uint64(0)
        if KEEP and dense:
            news = np.uint64(0)
            for k in range(64):
                p = (w << 6) + k
                x = load_u(u_val, u_iso, u_stride, p)
                news |= np.uint64(f(x, load_v(v_val, v_iso, v_stride, p), p, np.int64(0))) << np.uint64(k)
                if not W_ISO:
                    put(w_val, p, take_u(x))
        rest = np.uint64(0) if dense else news
        while rest != 0:
            place = trailing_zeros(rest)
            bit = np.uint64(1) << place
            rest = drop_lowest(rest)
            p = (w << 6) + np.int64(place)
            i = at(rows, p) if PLACES else p
            j = at(cols, p) if PLACES else np.int64(0)
            has_u = ub & bit != 0
            has_v = vb & bit != 0
            x = load_u(u_val, u_iso, u_stride, p) if MODE <= BOTH or has_u else u_default
            y = load_v(v_val, v_iso, v_stride, p) if MODE <= BOTH or has_v else v_default
            if KEEP:
                if not f(x, y, i, j):
                    news &= ~bit
                    continue
                t = take_u(x)
            elif MODE == UNION and not has_v:
                t = take_u(x)
            elif MODE == UNION and not has_u:
                t = take_v(y)
            else:
                t = take_f(f(x, y, i, j))
            if W_ISO:
                continue
            if W_BOOL:
                true = true | bit if t else true & ~bit
            else:
                put(w_val, p, t)
        kept = np.uint64(0) if FRESH or replace else had & ~open_bits
        present = news | kept
        put(w_bits, w, present)
        if W_BOOL and not W_ISO:
            put(w_val, w, true & present)
