# The push of a loop's round, on one thread: u has a summary, the words where it has entries, and t gets one. Units are
# the 64-bit words of the summary.
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
# include: formats/csr/columns.cpu.py
LISTED = 1


@njit(**KERNEL)
def spread(lo, hi, longest, begin, end, row_of, row_stride, col, width, a_val, a_iso, a_stride, u_bits, u_val, u_iso,
         u_stride, mask, mask_stride, mask_invert, product, u_sum, t_bits, t_val, t_sum):  # fmt: skip
    blank(0, t_sum.size, t_bits, t_sum)
    for group in range(lo, hi):
        some = at(u_sum, group)
        while some != 0:
            w = (group << 6) + np.int64(trailing_zeros(some))
            some = drop_lowest(some)
            active = at(u_bits, w)
            # include: formats/csr/word.cpu.py
