# Push SpMV by rows: t = A' (+).(x) u by the entries of u. CPU twin of push.cu.
# Units are the 64-bit words of t: each range reads all of u and takes the columns of its own words, so the order of
# sums does not depend on the number of threads.
# include: kernels/products.cpu.py
# include: formats/csr/columns.cpu.py
# include: formats/csr/search.cpu.py
LISTED = 0
MOST = 1024  # rows that are listed at a time
AHEAD = 12  # rows between prefetching a row and walking it
NEAR = 6  # the same for its cells of t, and how many of these are prefetched
CACHED = 1 << 14  # cells of t that fit the cache of a core
MANY = 64  # products per word of t from which on t is first filled with the neutral value
SPARSE = 16  # rows per nonempty row from which on rows are far apart


@njit(**KERNEL)
def push(
    lo,
    hi,
    longest,
    rows: RowsView,
    col: ColumnsView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    whole = lo == 0 and hi == t.bits.size
    ready = False
    if KIND == VALUES and BLEND:
        entries = np.int64(0)
        for w in range(u.bits.size):
            entries += np.int64(popcount(at(u.bits, w)))
        ready = entries * np.int64(at(rows.end, rows.end.size - 1)) > MANY * t.bits.size * rows.end.size
        for j in range(lo << 6, min(hi << 6, t.values.size) if ready else lo << 6):
            put(t.values, j, BEGIN)
    listed = empty(np.int64(MOST), np.int64)
    w = filled(u.bits, 0, u.bits.size)
    while w < u.bits.size:
        count = np.int64(0)
        while w < u.bits.size and count <= MOST - 64:
            active = at(u.bits, w)
            # include: formats/csr/list_rows.cpu.py
            w = filled(u.bits, w + 1, u.bits.size)
        far = hi - lo > CACHED >> 6 and at(listed, count - 1) - at(listed, 0) > SPARSE * count
        # include: formats/csr/push_listed.cpu.py
    if ready and mask.stride != 0:  # the mask was not tested for each product
        for k in range(lo, hi):
            put(t.bits, k, at(t.bits, k) & (at(mask.bits, k) ^ mask.invert))
    if KIND == COUNT:
        close_counts(lo, hi, t.bits, t.values, counts, product)
