# Lines of a bitmap: reduce each, assign a scalar at positions, set the bits at positions. CPU twin of lines.cu.
# include: kernels/products.cpu.py


# Reduce each line of a bitmap (row or column reduction of a multivector).
# KIND COUNT: all values are `product`.
@njit(**KERNEL)
def across(lo, hi, words, x: LinesView, product, t: OutputView):
    for line in range(lo, hi):
        some = False
        total = product
        count = np.int64(0)
        for at_word in range(line * words, (line + 1) * words):
            rest = np.uint64(at(x.bits, at_word))
            if KIND == COUNT:
                count += np.int64(popcount(rest))
                continue
            while rest != np.uint64(0):
                p = at_word * BITS + np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                value = take(load_u(x.values, x.iso, x.stride, p))
                total = add(total, value) if some else value
                some = True
        if KIND == COUNT and count:
            some, total = True, repeated(product, count)
        if some:
            set_bit(t.bits, line)
            if not Z_BOOL:
                put(t.values, line, total)
            elif total:
                set_bit(t.values, line)


# Assign a scalar at the positions of t: w<mask, replace> = x.
@njit(**KERNEL)
def fill(lo, hi, t_bits, x, mask: MaskView, replace, w_bits, w_val):
    for word in range(lo, hi):
        open_bits = at(mask.bits, word * mask.stride) ^ mask.invert
        rest = at(t_bits, word) & open_bits
        kept = np.uint64(0) if replace else at(w_bits, word) & ~open_bits
        put(w_bits, word, rest | kept)
        while rest != np.uint64(0):
            put(w_val, (word << 6) + np.int64(trailing_zeros(rest)), x)
            rest = drop_lowest(rest)


# Set the bits at a list of distinct positions. One thread.
@njit(**KERNEL)
def mark(lo, hi, places, bits):
    for e in range(lo, hi):
        p = at(places, e)
        put(bits, p >> 6, at(bits, p >> 6) | np.uint64(1) << np.uint64(p & 63))
