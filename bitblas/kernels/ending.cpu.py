# Epilogue of w<mask, accum, replace> = t inside the kernel that computes t. CPU twin of ending.cuh.
# Where t has no entry, w keeps its own: its old bits and values are read from w_*, and copied if the result is stored
# in other arrays (`moved`).
# include: kernels/product.cpu.py


@njit(**FUNCTION)
def kept(had, open_bits, news, replace):
    """The bits of w that stay unchanged."""
    if not MERGE:
        return np.uint64(0)
    closed = np.uint64(0) if replace else had & ~open_bits
    return closed | (had & open_bits & ~news) if ACCUM else closed


@njit(**FUNCTION)
def old(w_val, w_iso, w_stride, i):
    if W_BOOL:
        return bit_of(w_val, i) if w_stride else w_iso
    return at(w_val, i) if w_stride else w_iso


@njit(**FUNCTION)
def ended(total, had, w_val, w_iso, w_stride, i):
    """The new value of w where t has an entry."""
    if MERGE and ACCUM and had:
        return accum(old(w_val, w_iso, w_stride, i), total)
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
            if old(w_val, w_iso, w_stride, i):
                truths |= ONE << place
        else:
            put(t_val, i, old(w_val, w_iso, w_stride, i))
    return truths
