# Push of one loop round by rows, single-threaded.
# u has a summary (a bitset of its words that have entries), and t gets one. Units are the 64-bit words of the summary.
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
# include: formats/csr/columns.cpu.py
# include: formats/csr/search.cpu.py
LISTED = 1
MOST = 1024  # rows that are listed at a time
AHEAD = 12  # rows between prefetching a row and walking it
NEAR = 6  # the same for its cells of t
whole = True
ready = False
far = False  # most rounds reach cells that were just touched


@njit(**KERNEL)
def spread(lo, hi, longest, begin, end, row_of, row_stride, col, width, a_val, a_iso, a_stride, u_bits, u_val, u_iso,
         u_stride, mask, mask_stride, mask_invert, product, u_sum, t_bits, t_val, t_sum):  # fmt: skip
    blank(0, t_sum.size, t_bits, t_sum)
    rows = empty(np.int64(MOST), np.int64)
    w = next_listed(u_sum, lo << 6, hi)
    while w < hi << 6:
        count = np.int64(0)
        while w < hi << 6 and count <= MOST - 64:
            active = at(u_bits, w)
            # include: formats/csr/word.cpu.py
            w = next_listed(u_sum, w + 1, hi)
        # include: formats/csr/ahead.cpu.py
