# Reduce each line of a bitmap (row or column reduction of a multivector). CPU twin of across.cu.
# KIND COUNT: all values are `product`.
# include: kernels/product.cpu.py


@njit(**KERNEL)
def across(lo, hi, words, x_bits, x_val, x_iso, x_stride, product, t_bits, t_val):
    for line in range(lo, hi):
        some = False
        total = product
        count = np.int64(0)
        for at_word in range(line * words, (line + 1) * words):
            rest = np.uint64(at(x_bits, at_word))
            if KIND == COUNT:
                count += np.int64(popcount(rest))
                continue
            while rest != np.uint64(0):
                p = at_word * BITS + np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                x = take(load_u(x_val, x_iso, x_stride, p))
                total = add(total, x) if some else x
                some = True
        if KIND == COUNT and count:
            some, total = True, repeated(product, count)
        if some:
            set_bit(t_bits, line)
            if not Z_BOOL:
                put(t_val, line, total)
            elif total:
                set_bit(t_val, line)
