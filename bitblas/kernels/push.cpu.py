# Shared parts of all push kernels. Products are combined into t in the order of the entries of u.
# This gives the same bits as a pull by rows, which also starts from no value.
# include: kernels/product.cpu.py


@njit(**FUNCTION)
def summed(had, old, z):
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
