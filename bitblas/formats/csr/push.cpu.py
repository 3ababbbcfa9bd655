# t = A' (+).(x) u by the entries of u, the twin of push.cu. Units are the 64-bit words of u; one thread.
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
# include: formats/csr/columns.cpu.py


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_stride, col, width, a_val, a_iso, a_stride, u_bits, u_val, u_iso,
         u_stride, mask, mask_stride, mask_invert, product, counts, t_bits, t_val):  # fmt: skip
    for w in range(lo, hi):
        active = at(u_bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            u = load_u(u_val, u_iso, u_stride, row)
            for e in range(np.int64(at(begin, row)), np.int64(at(end, row))):
                j = column(col, width, e)
                # include: kernels/pushed.cpu.py
    if KIND == COUNT:
        close_counts(t_bits, t_val, counts, product)
