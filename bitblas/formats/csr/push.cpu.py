# Push SpMV by rows: t = A' (+).(x) u by the entries of u. CPU twin of push.cu.
# Units are the 64-bit words of t: each range reads all of u and takes the columns of its own words, so the order of
# sums does not depend on the number of threads.
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
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
def push(lo, hi, longest, begin, end, row_of, row_stride, col, width, a_val, a_iso, a_stride, u_bits, u_val, u_iso,
         u_stride, mask, mask_stride, mask_invert, product, counts, t_bits, t_val):  # fmt: skip
    whole = lo == 0 and hi == t_bits.size
    ready = False
    if KIND == VALUES and BLEND:
        entries = np.int64(0)
        for w in range(u_bits.size):
            entries += np.int64(popcount(at(u_bits, w)))
        ready = entries * np.int64(at(end, end.size - 1)) > MANY * t_bits.size * end.size
        for j in range(lo << 6, min(hi << 6, t_val.size) if ready else lo << 6):
            put(t_val, j, BEGIN)
    rows = empty(np.int64(MOST), np.int64)
    w = filled(u_bits, 0, u_bits.size)
    while w < u_bits.size:
        count = np.int64(0)
        while w < u_bits.size and count <= MOST - 64:
            active = at(u_bits, w)
            # include: formats/csr/word.cpu.py
            w = filled(u_bits, w + 1, u_bits.size)
        far = hi - lo > CACHED >> 6 and at(rows, count - 1) - at(rows, 0) > SPARSE * count
        # include: formats/csr/ahead.cpu.py
    if ready and mask_stride != 0:  # the mask was not tested for each product
        for k in range(lo, hi):
            put(t_bits, k, at(t_bits, k) & (at(mask, k) ^ mask_invert))
    if KIND == COUNT:
        close_counts(lo, hi, t_bits, t_val, counts, product)
