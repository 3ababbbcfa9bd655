# Element-wise operations on vectors, and the write of a result under mask, accumulator and `replace`. CPU twin of
# elementwise.cu.
# include: kernels/views.cpu.py
LEFT, BOTH, UNION, FILLED = 0, 1, 2, 3


@njit(**FUNCTION)
def load_u(u: VectorView, i):
    if U_BOOL:
        return bit_of(u.values, i) if u.stride else u.iso
    return at(u.values, i) if u.stride else u.iso


@njit(**FUNCTION)
def load_v(v: VectorView, i):
    if V_BOOL:
        return bit_of(v.values, i) if v.stride else v.iso
    return at(v.values, i) if v.stride else v.iso


@njit(**FUNCTION)
def is_dense(u_bits, v_bits, mask: MaskView, w):
    """Whether all 64 positions of a word have entries: then a loop without bit tests runs, which the compiler
    vectorizes."""
    if W_BOOL or U_BOOL or V_BOOL or PLACES:
        return False
    vb = at(v_bits, w) if MODE != LEFT else ~np.uint64(0)
    return at(u_bits, w) & vb & (at(mask.bits, w * mask.stride) ^ mask.invert) == ~np.uint64(0)


@njit(**FUNCTION)
def has_none(u_bits, v_bits, w):
    """Whether the AT_ONCE words from w on have nothing to compute."""
    found = np.uint64(0)
    for k in range(w, w + AT_ONCE):
        ub = at(u_bits, k)
        found |= ub if MODE == LEFT else ub & at(v_bits, k) if MODE == BOTH else ub | at(v_bits, k)
    return found == 0


# Element-wise operation on vectors: w<mask, replace> = f(u, v).
@njit(**KERNEL)
def elementwise(
    lo, hi, size, u: VectorView, v: VectorView, u_default, v_default, rows, cols, mask: MaskView, replace, w: OutputView
):
    begin = lo
    while begin < hi:
        word = begin
        if word + AT_ONCE <= hi and has_none(u.bits, v.bits, word):
            begin += AT_ONCE
            for k in range(word, begin):
                left = np.uint64(0)
                if not FRESH and not replace:
                    left = at(w.bits, k) & ~(at(mask.bits, k * mask.stride) ^ mask.invert)
                put(w.bits, k, left)
                if W_BOOL and not W_ISO:
                    put(w.values, k, np.uint64(0) if FRESH else at(w.values, k) & left)
            continue
        begin += 1
        dense = is_dense(u.bits, v.bits, mask, word)
        if dense and not KEEP:  # of many words at once
            while begin < hi and is_dense(u.bits, v.bits, mask, begin):
                begin += 1
            if not W_ISO:
                for p in range(word << 6, begin << 6):
                    x = load_u(u, p)
                    put(w.values, p, take_f(f(x, load_v(v, p), p, np.int64(0))))
            for p in range(word, begin):
                put(w.bits, p, ~np.uint64(0))
            continue
        ub = at(u.bits, word)
        vb = at(v.bits, word) if MODE != LEFT else ub
        open_bits = at(mask.bits, word * mask.stride) ^ mask.invert
        news = (ub if MODE == LEFT else ub & vb if MODE == BOTH else ub | vb) & open_bits
        had = np.uint64(0) if FRESH else at(w.bits, word)
        true = at(w.values, word) if W_BOOL and not FRESH and not W_ISO else np.uint64(0)
        if KEEP and dense:
            news = np.uint64(0)
            for k in range(64):
                p = (word << 6) + k
                x = load_u(u, p)
                news |= np.uint64(f(x, load_v(v, p), p, np.int64(0))) << np.uint64(k)
                if not W_ISO:
                    put(w.values, p, take_u(x))
        rest = np.uint64(0) if dense else news
        while rest != 0:
            place = trailing_zeros(rest)
            bit = np.uint64(1) << place
            rest = drop_lowest(rest)
            p = (word << 6) + np.int64(place)
            i = at(rows, p) if PLACES else p
            j = at(cols, p) if PLACES else np.int64(0)
            has_u = ub & bit != 0
            has_v = vb & bit != 0
            x = load_u(u, p) if MODE <= BOTH or has_u else u_default
            y = load_v(v, p) if MODE <= BOTH or has_v else v_default
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
                put(w.values, p, t)
        kept = np.uint64(0) if FRESH or replace else had & ~open_bits
        present = news | kept
        put(w.bits, word, present)
        if W_BOOL and not W_ISO:
            put(w.values, word, true & present)


# Write a result: w<mask, accum, replace> = t.
@njit(**KERNEL)
def merge(lo, hi, size, w_bits, old: VectorValues, t: VectorView, mask: MaskView, replace, w_val):
    begin = lo
    while begin < hi:
        word = begin
        if (
            word + AT_ONCE <= hi
            and any_of(t.bits, word) == 0
            and (not STORE or old.stride or any_of(w_bits, word) == 0)
        ):
            begin += AT_ONCE
            for k in range(word, begin):
                had = at(w_bits, k)
                open_bits = at(mask.bits, k * mask.stride) ^ mask.invert
                left = (np.uint64(0) if replace else had & ~open_bits) | ((had & open_bits) if ACCUM else np.uint64(0))
                put(w_bits, k, left)
                if STORE and W_BOOL:
                    put(w_val, k, at(old.values, k * old.stride) & left)
            continue
        begin += 1
        had = at(w_bits, word)
        open_bits = at(mask.bits, word * mask.stride) ^ mask.invert
        news = at(t.bits, word) & open_bits
        kept = np.uint64(0) if replace else had & ~open_bits
        present = news | kept | ((had & open_bits) if ACCUM else np.uint64(0))
        w_bits[word] = present
        if STORE and W_BOOL:
            true = at(old.values, word) if old.stride else (had if old.iso else np.uint64(0))
        rest = news if W_BOOL or old.stride else present
        while STORE and rest != 0:
            place = trailing_zeros(rest)
            bit = np.uint64(1) << place
            rest = drop_lowest(rest)
            p = (word << 6) + np.int64(place)
            if news & bit == 0:  # it had the iso value
                if not W_BOOL:
                    put(w_val, p, old.iso)
                continue
            if T_BOOL:
                x = bit_of(t.values, p) if t.stride else t.iso
            else:
                x = at(t.values, p) if t.stride else t.iso
            if W_BOOL:
                w = accum(true & bit != 0, x) if ACCUM and had & bit != 0 else take(x)
                true = true | bit if w else true & ~bit
            elif ACCUM and had & bit != 0:
                put(w_val, p, accum(at(old.values, p) if old.stride else old.iso, x))
            else:
                put(w_val, p, take(x))
        if STORE and W_BOOL:
            w_val[word] = true & present
