# Compare two vectors of one type: differ[0] = 1 if they differ. CPU twin of equal.cu.
# include: kernels/vector.cpu.py


@njit(**FUNCTION)
def value_at(values, iso, stride, i):
    if U_BOOL:
        return bit_of(values, i) if stride else iso
    return at(values, i) if stride else iso


@njit(**KERNEL)
def equal(lo, hi, size, u_bits, u_val, u_iso, u_stride, v_bits, v_val, v_iso, v_stride, differ):
    for word in range(lo, hi):
        rest = at(u_bits, word)
        if rest != at(v_bits, word):
            differ[0] = 1
            return
        while rest != 0:
            p = (word << 6) + np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            if not value_at(u_val, u_iso, u_stride, p) == value_at(v_val, v_iso, v_stride, p):
                differ[0] = 1
                return
