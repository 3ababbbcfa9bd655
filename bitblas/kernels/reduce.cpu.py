# The sum of a vector's entries, the twin of reduce.cu: one sum per chunk of `per` words.
# include: kernels/vector.cpu.py


@njit(**FUNCTION)
def value_at(values, iso, step, p):
    if FLAGS:
        return at(values, p)
    if U_BOOL:
        return bit_of(values, p) if step else iso
    return at(values, p) if step else iso


@njit(**KERNEL)
def reduce(lo, hi, per, size, u_bits, u_val, u_iso, u_step, sum_present, sums):
    for chunk in range(lo, hi):
        total = IDENTITY
        some = False
        end = min((chunk + 1) * per * 64, size)
        if FLAGS:
            for p in range(chunk * per * 64, end):
                if at(u_bits, p):
                    x = take(value_at(u_val, u_iso, u_step, p))
                    total = add(total, x) if some else x
                    some = True
        else:
            for w in range(chunk * per, (end + 63) >> 6):
                rest = at(u_bits, w)
                while rest != 0:
                    p = (w << 6) + np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    x = take(value_at(u_val, u_iso, u_step, p))
                    total = add(total, x) if some else x
                    some = True
        sum_present[chunk] = some
        sums[chunk] = total
