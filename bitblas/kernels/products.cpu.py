# Shared parts of all product kernels: sums, values, epilogue, pushes. CPU twin of product.cuh.
# include: kernels/views.cpu.py
WORDS, COUNT, VALUES = 0, 1, 2
ONE = np.uint64(1)


@njit(**FUNCTION)
def is_final(total):
    """Whether no further product can change a sum (terminal value)."""
    return HAS_TERMINAL == 2 or (HAS_TERMINAL == 1 and total == TERMINAL)


@njit(**FUNCTION)
def load_u(values, iso, stride, i):
    if U_BOOL:
        return bit_of(values, i) if stride else iso
    return at(values, i) if stride else iso


@njit(**FUNCTION)
def set_bit(bits, i):
    put(bits, i >> 6, at(bits, i >> 6) | ONE << np.uint64(i & 63))


# ---- Values of a matrix's entries.


@njit(**FUNCTION)
def value_at(values, one, stride, e):
    """The value of entry e: `one` for all (stride 0), of an array, or a packed number of `stride` bits above `one`."""
    if VALUES_PACKED:
        return A_T(based(one, packed_at(values, e, stride)))
    return at(values, e) if stride else one


# ---- Epilogue of w<mask, accum, replace> = t inside the kernel that computes t.
# Where t has no entry, w keeps its own: its old bits and values are read from w_*, and copied if the result is stored
# in other arrays (`moved`).


@njit(**FUNCTION)
def kept_bits(had, open_bits, news, replace):
    """The bits of w that stay unchanged."""
    if not MERGE:
        return np.uint64(0)
    closed = np.uint64(0) if replace else had & ~open_bits
    return closed | (had & open_bits & ~news) if ACCUM else closed


@njit(**FUNCTION)
def old_value(w_val, w_iso, w_stride, i):
    if W_BOOL:
        return bit_of(w_val, i) if w_stride else w_iso
    return at(w_val, i) if w_stride else w_iso


@njit(**FUNCTION)
def ended(total, had, w_val, w_iso, w_stride, i):
    """The new value of w where t has an entry."""
    if MERGE and ACCUM and had:
        return accum(old_value(w_val, w_iso, w_stride, i), total)
    return take(total)


@njit(**FUNCTION)
def carry(places, first, w_val, w_iso, w_stride, moved, t_val):
    """Copy the values that stay, at first + each position; returns BOOL ones as bits."""
    truths = np.uint64(0)
    while STORE and (W_BOOL or moved) and places != 0:
        place = trailing_zeros(places)
        places = drop_lowest(places)
        i = first + np.int64(place)
        if W_BOOL:
            if old_value(w_val, w_iso, w_stride, i):
                truths |= ONE << place
        else:
            put(t_val, i, old_value(w_val, w_iso, w_stride, i))
    return truths


# ---- Pushes. Products are combined into t in the order of the entries of u.
# This gives the same bits as a pull by rows, which also starts from no value.


@njit(**FUNCTION)
def sum_with(had, old, z):
    """The new sum at a position of t, whether it had a sum `old` or none, without a branch that would be
    mispredicted."""
    if BLEND:
        return add(chosen(np.uint64(had), take(old), BEGIN), z)
    return add(take(old), z) if had else z


@njit(**FUNCTION)
def close_counts(lo, hi, t_bits, t_val, counts, product):
    """Replace the counts in these words of t by the sums of that many equal products."""
    word = filled(t_bits, lo, hi)
    while word < hi:
        rest = at(t_bits, word)
        while rest != 0:
            j = (word << 6) + np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            put(t_val, j, repeated(product, at(counts, j)))
        word = filled(t_bits, word + 1, hi)


@njit(**FUNCTION)
def note(summary, word, bits):
    """Add the words that contain these bits to a vector's summary."""
    put(summary, word >> 6, at(summary, word >> 6) | np.uint64(bits != 0) << np.uint64(word & 63))


@njit(**FUNCTION)
def blank(lo, hi, bits, summary):
    """Remove the entries in these words, as listed by a vector's summary."""
    for k in range(lo, hi):
        some = at(summary, k)
        put(summary, k, np.uint64(0))
        while some != 0:
            put(bits, (k << 6) + np.int64(trailing_zeros(some)), np.uint64(0))
            some = drop_lowest(some)
