# t = A' (+).(x) u by the entries of u, the twin of push.cu. Units are the 64-bit words of u; one thread.
# include: kernels/values.cpu.py
# include: kernels/product.cpu.py
# include: formats/csr/columns.cpu.py


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_step, col, width, a_val, a_iso, a_step, u_bits, u_val, u_iso,
         u_step, mask, mask_step, mask_flip, t_bits, t_val):  # fmt: skip
    for w in range(lo, hi):
        active = at(u_bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            u = load_u(u_val, u_iso, u_step, row)
            for e in range(np.int64(at(begin, row)), np.int64(at(end, row))):
                j = column(col, width, e)
                if (at(mask, (j >> 6) * mask_step) ^ mask_flip) >> np.uint64(j & 63) & ONE == 0:
                    continue
                had = bit_of(t_bits, j)
                if KIND != WORDS and not (had and HAS_TERMINAL == 2):
                    z = mul(value_at(a_val, a_iso, a_step, e), u, j, row)
                    put(t_val, j, add(take(at(t_val, j)), z) if had else z)
                if not had:
                    set_bit(t_bits, j)
