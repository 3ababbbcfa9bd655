# Lines of a bitmap as operands of products, and their sums. CPU twin of lines.cuh.
# include: kernels/products.cpu.py
WHOLE, PARTS, JOIN = 0, 1, 2
FULL = ~np.uint64(0) >> np.uint64(64 - BITS)


@njit(**FUNCTION)
def open_places(mask: LinesMask, last, words, line, w):
    """The positions of a word of a line that the mask allows; `last`: the valid positions of a line's last word."""
    allowed = (np.uint64(at(mask.bits, (line * words + w) * mask.stride)) ^ mask.invert) & FULL
    return allowed & last if w == words - 1 else allowed


@njit(**FUNCTION)
def add_line(value, places, found, true, from_, to, line, other, w, x: LinesView, t: LinesOutput):
    """Combine the products of a value and these positions of a word with the sums in `found`; returns BOOL sums."""
    rest = places & ~found if HAS_TERMINAL == 2 else places
    if not Z_BOOL and not U_BOOL and rest == FULL and (found == FULL or found == np.uint64(0)):
        for b in range(BITS):
            z = mul(value, at(x.values, from_ + b) if x.stride else x.iso, line, other, (w * BITS) + b)
            put(t.values, to + b, add(at(t.values, to + b), z) if found != np.uint64(0) else z)
        return true
    while rest != np.uint64(0):
        place = trailing_zeros(rest)
        bit = ONE << place
        rest = drop_lowest(rest)
        b = np.int64(place)
        z = mul(value, load_u(x.values, x.iso, x.stride, from_ + b), line, other, (w * BITS) + b)
        had = found & bit != np.uint64(0)
        if Z_BOOL:
            total = add(true & bit != np.uint64(0), z) if had else z
            true = true | bit if total else true & ~bit
        else:
            put(t.values, to + b, add(at(t.values, to + b), z) if had else z)
    return true


@njit(**FUNCTION)
def add_sums(places, found, true, from_, to, nodes: NodesView, t: LinesOutput):
    """Combine these positions of a line of sums (formats/virtual) with those in `found`; returns BOOL sums."""
    rest = places & ~found if HAS_TERMINAL == 2 else places
    while rest != np.uint64(0):
        place = trailing_zeros(rest)
        bit = ONE << place
        rest = drop_lowest(rest)
        b = np.int64(place)
        had = found & bit != np.uint64(0)
        if Z_BOOL:
            z = np.uint64(at(nodes.values, from_ // BITS)) & bit != np.uint64(0)
            total = add(true & bit != np.uint64(0), z) if had else z
            true = true | bit if total else true & ~bit
        else:
            z = at(nodes.values, from_ + b)
            put(t.values, to + b, add(at(t.values, to + b), z) if had else z)
    return true
