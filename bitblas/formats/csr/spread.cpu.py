# Push of one loop round by rows, single-threaded.
# u has a summary (a bitset of its words that have entries), and t gets one. Units are the 64-bit words of the summary.
# include: kernels/products.cpu.py
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
def spread(
    lo,
    hi,
    longest,
    rows: RowsView,
    col: ColumnsView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    u_sum,
    t: OutputView,
    t_sum,
):
    blank(0, t_sum.size, t.bits, t_sum)
    listed = empty(np.int64(MOST), np.int64)
    w = next_listed(u_sum, lo << 6, hi)
    while w < hi << 6:
        count = np.int64(0)
        while w < hi << 6 and count <= MOST - 64:
            active = at(u.bits, w)
            # include: formats/csr/list_rows.cpu.py
            w = next_listed(u_sum, w + 1, hi)
        # include: formats/csr/push_listed.cpu.py
