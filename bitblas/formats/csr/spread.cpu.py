# The push of a loop's round, on one thread: u has a summary, the words where it has entries, and t gets one. Units are
# the 64-bit words of the summary. Rows are listed first, many at a time, and asked for before they are needed: where
# those of a frontier lie far apart, the way to memory is most of what a round takes.
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
# include: formats/csr/columns.cpu.py
LISTED = 1
MOST = 1024  # rows that are listed at a time
AHEAD = 12  # rows between asking for what a row holds and going through it


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
            while active != 0:
                row = (w << 6) + np.int64(trailing_zeros(active))
                active = drop_lowest(active)
                prefetch(begin, row)
                put(rows, count, row)
                count += 1
            w = next_listed(u_sum, w + 1, hi)
        for k in range(min(count, AHEAD)):
            prefetch_column(col, width, np.int64(at(begin, at(rows, k))))
        for k in range(count):
            if k + AHEAD < count:
                prefetch_column(col, width, np.int64(at(begin, at(rows, k + AHEAD))))
            row = at(rows, k)
            first = np.int64(at(begin, row))
            stop = np.int64(at(end, row))
            # include: formats/csr/entries.cpu.py
