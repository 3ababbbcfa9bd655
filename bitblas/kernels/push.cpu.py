# What the pushes of every form share: products joined to t one after the other, in the order of the entries of u. A sum
# then has the order of a pull by rows, which has none to begin with either, so that both give the same bits.
# include: kernels/product.cpu.py


@njit(**FUNCTION)
def joined(had, old, z):
    """The sum at a place of t that has the sum `old`, or none."""
    return add(take(old), z) if had else z


@njit(**FUNCTION)
def close_counts(t_bits, t_val, counts, product):
    """The sums of as many equal products as were counted at each place of t."""
    for word in range(t_bits.size):
        rest = at(t_bits, word)
        while rest != 0:
            j = (word << 6) + np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            put(t_val, j, repeated(product, at(counts, j)))
