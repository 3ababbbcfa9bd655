# The sum of a vector's entries, the twin of reduce.cu: one sum per chunk of `per` words.
# include: kernels/vector.cpu.py


@njit(**KERNEL)
def reduce(lo, hi, per, size, u_bits, u_val, u_iso, u_step, sum_present, sums):
    for chunk in range(lo, hi):
        total = IDENTITY
        some = False
        for w in range(chunk * per, min((chunk + 1) * per, u_bits.size)):
            rest = at(u_bits, w)
            while rest != 0:
                p = (w << 6) + np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                if U_BOOL:
                    x = take(bit_of(u_val, p) if u_step else u_iso)
                else:
                    x = take(at(u_val, p) if u_step else u_iso)
                total = add(total, x) if some else x
                some = True
        sum_present[chunk] = some
        sums[chunk] = total
