# Reductions of a vector: its sum, and the work of a frontier. CPU twin of reduce.cu.
# include: kernels/views.cpu.py
ONE = np.uint64(1)


@njit(**FUNCTION)
def value_at(u: VectorView, p):
    if FLAGS:
        return at(u.values, p)
    if U_BOOL:
        return bit_of(u.values, p) if u.stride else u.iso
    return at(u.values, p) if u.stride else u.iso


@njit(**FUNCTION)
def word_sum(values, first):
    """The sum of 64 values, by eight independent sums."""
    a, b = take(at(values, first)), take(at(values, first + 1))
    c, d = take(at(values, first + 2)), take(at(values, first + 3))
    e, f = take(at(values, first + 4)), take(at(values, first + 5))
    g, h = take(at(values, first + 6)), take(at(values, first + 7))
    for k in range(1, 8):
        p = first + 8 * k
        a, b = add(a, take(at(values, p))), add(b, take(at(values, p + 1)))
        c, d = add(c, take(at(values, p + 2))), add(d, take(at(values, p + 3)))
        e, f = add(e, take(at(values, p + 4))), add(f, take(at(values, p + 5)))
        g, h = add(g, take(at(values, p + 6))), add(h, take(at(values, p + 7)))
    return add(add(add(a, b), add(c, d)), add(add(e, f), add(g, h)))


@njit(**FUNCTION)
def same_sum(x):
    """The sum of 64 equal values, as eight equal sums."""
    total = x
    for _ in range(1, 8):
        total = add(total, x)
    for _ in range(3):
        total = add(total, total)
    return total


# One partial sum per chunk of `per` words.
@njit(**SLP)  # adding eight sums one by one would take longer than reading their operands
def reduce(lo, hi, per, size, u: VectorView, sum_present, sums):
    same = IDENTITY if FLAGS or U_BOOL or u.stride else same_sum(take(u.iso))
    for chunk in range(lo, hi):
        total = IDENTITY
        some = False
        end = min((chunk + 1) * per * 64, size)
        if FLAGS:
            for p in range(chunk * per * 64, end):
                if at(u.bits, p):
                    x = take(value_at(u, p))
                    total = add(total, x) if some else x
                    some = True
        else:
            for w in range(chunk * per, (end + 63) >> 6):
                rest = at(u.bits, w)
                if not U_BOOL and rest == ~np.uint64(0):
                    x = word_sum(u.values, w << 6) if u.stride else same
                    total = add(total, x) if some else x
                    some = True
                    continue
                while rest != 0:
                    p = (w << 6) + np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    x = take(value_at(u, p))
                    total = add(total, x) if some else x
                    some = True
        sum_present[chunk] = some
        sums[chunk] = total


# Frontier work: count the entries (tiles) in the rows (tile rows) where u has an entry. Units are the words of u; one
# thread.
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
