# Frontier work: count the entries (tiles) in the rows (tile rows) where u has an entry. CPU twin of weigh.cu.
# Units are the words of u; one thread.
ONE = np.uint64(1)


@njit(**KERNEL)
def weigh(lo, hi, u_bits, ptr, total):
    found = np.int64(0)
    for word in range(lo, hi):
        rest = at(u_bits, word)
        while rest != 0:
            unit = np.int64(trailing_zeros(rest)) // ROWS
            place = word * (64 // ROWS) + unit
            found += np.int64(at(ptr, place + 1)) - np.int64(at(ptr, place))
            rest &= np.uint64(0) if ROWS == 64 else ~(((ONE << np.uint64(ROWS & 63)) - ONE) << np.uint64(unit * ROWS))
    put(total, 0, np.uint64(found))
