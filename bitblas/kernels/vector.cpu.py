# Kernels on the bits and values of vectors: count, compare, gather, scatter. CPU twin of vector.cu.
# include: kernels/views.cpu.py


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


# Count set bits: counts[c] = number of set bits in chunk c of CHUNK words.
@njit(**KERNEL)
def count(lo, hi, words, bits, counts):
    for c in range(lo, hi):
        found = np.uint64(0)
        for w in range(c * CHUNK, min((c + 1) * CHUNK, words)):
            found += popcount(at(bits, w))
        put(counts, c, np.uint32(found))


# Compare two vectors of one type: differ[0] = 1 if they differ.
@njit(**FUNCTION)
def value_at(x: VectorView, i):
    if U_BOOL:
        return bit_of(x.values, i) if x.stride else x.iso
    return at(x.values, i) if x.stride else x.iso


@njit(**KERNEL)
def equal(lo, hi, size, u: VectorView, v: VectorView, differ):
    for word in range(lo, hi):
        rest = at(u.bits, word)
        if rest != at(v.bits, word):
            differ[0] = 1
            return
        while rest != 0:
            p = (word << 6) + np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            if not value_at(u, p) == value_at(v, p):
                differ[0] = 1
                return


# Gather: t(k) = u(where[k]).
@njit(**KERNEL)
def gather(lo, hi, size, where, u: DenseView, t: OutputView):
    for word in range(lo, hi):
        first = word << 6
        some = np.uint64(0)
        true = np.uint64(0)
        for k in range(first, min(first + 64, size)):
            i = at(where, k)
            if FULL or bit_of(u.bits, i):
                bit = np.uint64(1) << np.uint64(k - first)
                some |= bit
                if DENSE and U_BOOL:
                    if bit_of(u.values, i):
                        true |= bit
                elif DENSE:
                    put(t.values, k, at(u.values, i))
        put(t.bits, word, some)
        if DENSE and U_BOOL:
            put(t.values, word, true)


# Insert gaps into a vector at the positions of virtual nodes. Bits are copied word by word.
@njit(**FUNCTION)
def opened(nodes, some):
    """`bits` with a zero inserted at each position of `nodes`, from the lowest on."""
    while nodes != 0:
        low = nodes & (~nodes + np.uint64(1))
        below = low - np.uint64(1)
        some = some & below | (some & ~below) << np.uint64(1)
        nodes ^= low
    return some


@njit(**FUNCTION)
def bits_from(bits, k):
    """The 64 bits from bit k on; zeros beyond the last word."""
    word = k >> 6
    shift = np.uint64(k & 63)
    if word >= bits.size:
        return np.uint64(0)
    found = at(bits, word) >> shift
    if shift != 0 and word + 1 < bits.size:
        found |= at(bits, word + 1) << (np.uint64(64) - shift)
    return found


@njit(**KERNEL)
def insert_nodes(lo, hi, size, nodes, before, u: DenseView, t: OutputView):
    for word in range(lo, hi):
        first = word << 6
        here = at(nodes, word)
        k = np.int64(first - at(before, word))
        some = bits_from(u.bits, k)
        if some != 0:
            some = opened(here, some)
        put(t.bits, word, some)
        if DENSE and U_BOOL:
            put(t.values, word, opened(here, bits_from(u.values, k)) & some)
        elif DENSE:
            while some != 0:
                p = np.int64(trailing_zeros(some))
                below = (np.uint64(1) << np.uint64(p)) - np.uint64(1)
                put(t.values, first + p, at(u.values, k + p - np.int64(popcount(here & below))))
                some &= some - np.uint64(1)


# Remove the positions of virtual nodes from a vector, the inverse of `among`. Bits are copied word by word.
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
def remove_nodes(lo, hi, size, nodes, start, u: DenseView, t: OutputView):
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
            found = at(u.bits, p >> 6) >> shift
            some |= closed(here, found & ~here) << np.uint64(k)
            if DENSE and U_BOOL:
                true |= closed(here, at(u.values, p >> 6) >> shift & found & ~here) << np.uint64(k)
            elif DENSE:
                found &= ~here
                while found != 0:
                    q = np.int64(trailing_zeros(found))
                    below = (np.uint64(1) << np.uint64(q)) - np.uint64(1)
                    at_k = k + q - np.int64(popcount(here & below))
                    if at_k < many:
                        put(t.values, first + at_k, at(u.values, p + q))
                    found &= found - np.uint64(1)
            k += np.int64(64) - np.int64(shift) - np.int64(popcount(here))
            p = (p | 63) + 1
        if many < 64:
            inside = (np.uint64(1) << np.uint64(max(0, many))) - np.uint64(1)
            some &= inside
            true &= inside
        put(t.bits, word, some)
        if DENSE and U_BOOL:
            put(t.values, word, true)


# Scatter: t(where[k]) = u(k) for each entry of u.
TWICE, OUTSIDE = 0, 1


@njit(**KERNEL)
def place(lo, hi, size, where, u_bits, u_bits_stride, u: VectorValues, t: OutputView, flags):
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
        before = at(t.bits, word)
        had = before & bit != 0
        if MARKS:
            put(t.bits, word, before | bit if has else before & ~bit)
        if U_BOOL:
            x = take(bit_of(u.values, k) if u.stride else u.iso)
        else:
            x = take(at(u.values, k) if u.stride else u.iso)
        if JOIN:
            put(t.values, i, back(add(take_t(at(t.values, i)), x) if had else x))
            continue
        if had and has and not CLEAR:
            flags[TWICE] = 1
        if DENSE and T_BOOL:
            put(t.values, word, at(t.values, word) | bit if has and x else at(t.values, word) & ~bit)
        elif DENSE and has:
            put(t.values, i, x)
