# Push of one loop round on tiles, single-threaded.
# u has a summary (a bitset of its words that have entries), and t gets one. Units are the 64-bit words of the summary.
# include: formats/b2sr/tile.cpu.py
# include: formats/b2sr/fold.cpu.py
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
# include: formats/csr/search.cpu.py
LISTED = 1
whole = True


@njit(**KERNEL)
def spread(lo, hi, longest, begin, end, row_of, row_stride, col, bits, value_ptr, a_val, a_iso, a_stride, u_bits, u_val,
         u_iso, u_stride, mask, mask_stride, mask_invert, product, u_sum, t_bits, t_val, t_sum):  # fmt: skip
    col_width = 0  # columns are not packed
    blank(0, t_sum.size, t_bits, t_sum)
    w = next_listed(u_sum, lo << 6, hi)
    while w < hi << 6:
        word_left = at(u_bits, w)
        # include: formats/b2sr/word.cpu.py
        w = next_listed(u_sum, w + 1, hi)
