# Push SpMV by rows on the CPU: along a bitset (push), in a round of a loop (push_frontier), along a list (push_list).
# include: kernels/products.cpu.py
# include: formats/csr/columns.cpu.py
MOST = 1024  # rows that are collected at a time
AHEAD = 12  # rows between prefetching a row and walking it
MANY = 64  # products per word of t from which on t is first filled with the neutral value


@njit(**FUNCTION)
def push_rows(
    lo,
    hi,
    some,
    count,
    whole,
    ready,
    rows: RowsView,
    col: ColumnsView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
    summarized,
    t_sum,
):
    """Push the entries of u at `count` rows, with prefetching. whole: the columns of all words of t, not only of the
    words lo .. hi. ready: every position of t has a sum already. summarized: t has a summary."""
    for k in range(min(count, AHEAD)):
        prefetch_column(col, np.int64(at(rows.begin, at(some, k))))
    for k in range(count):
        if k + AHEAD < count:
            prefetch_column(col, np.int64(at(rows.begin, at(some, k + AHEAD))))
        row = at(some, k)
        first = np.int64(at(rows.begin, row))
        stop = np.int64(at(rows.end, row))
        if not whole and first < stop:
            if column(col, first) < lo << 6:
                first = lower_bound(PACKED, col.col, col.width, first, stop, lo << 6)
            if first < stop and column(col, stop - 1) >= hi << 6:
                stop = lower_bound(PACKED, col.col, col.width, first, stop, hi << 6)
        x = load_u(u.values, u.iso, u.stride, row)
        for e in range(first, stop):
            j = column(col, e)
            if KIND == VALUES and BLEND and ready:  # every position has a sum already, and the mask is applied later
                z = mul(value_at(a, e), x, j, row)
                put(t.values, j, add(take(at(t.values, j)), z))
                put(t.bits, j >> 6, at(t.bits, j >> 6) | ONE << np.uint64(j & 63))
                continue
            # include: kernels/fragments.cpu.py pushed


# Push SpMV: t = A' (+).(x) u by the entries of u. CPU twin of push.cu.
# Units are the 64-bit words of t: each range reads all of u and takes the columns of its own words, so the order of
# sums does not depend on the number of threads.
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
    some = empty(np.int64(MOST), np.int64)
    w = filled(u.bits, 0, u.bits.size)
    while w < u.bits.size:
        count = np.int64(0)
        while w < u.bits.size and count <= MOST - 64:
            active = at(u.bits, w)
            while active != 0:
                row = (w << 6) + np.int64(trailing_zeros(active))
                active = drop_lowest(active)
                prefetch(rows.begin, row)
                put(some, count, row)
                count += 1
            w = filled(u.bits, w + 1, u.bits.size)
        push_rows(lo, hi, some, count, whole, ready, rows, col, a, u, mask, product, counts, t, False, t.bits)
    if ready and mask.stride != 0:  # the mask was not tested for each product
        for k in range(lo, hi):
            put(t.bits, k, at(t.bits, k) & (at(mask.bits, k) ^ mask.invert))
    if KIND == COUNT:
        close_counts(lo, hi, t.bits, t.values, counts, product)


# Push of one loop round, single-threaded.
# u has a summary (a bitset of its words that have entries), and t gets one. Units are the 64-bit words of the summary.
@njit(**KERNEL)
def push_frontier(
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
    some = empty(np.int64(MOST), np.int64)
    w = next_marked(u_sum, lo << 6, hi)
    while w < hi << 6:
        count = np.int64(0)
        while w < hi << 6 and count <= MOST - 64:
            active = at(u.bits, w)
            while active != 0:
                row = (w << 6) + np.int64(trailing_zeros(active))
                active = drop_lowest(active)
                prefetch(rows.begin, row)
                put(some, count, row)
                count += 1
            w = next_marked(u_sum, w + 1, hi)
        push_rows(0, 0, some, count, True, False, rows, col, a, u, mask, product, t.bits, t, True, t_sum)


# SpMSpV on the CPU: t = A' (+).(x) u for a u stored as a list. The result is a list too; no other position is read.
# Units are the entries of u; one thread, one range.
# FILL 0 (a runtime argument) finds the rows of these entries (`places`, -1: none) and counts the products. FILL 1
# sorts the products by column, combines those of a column in the order of the entries of u, and keeps what the mask
# allows.
# Row k of a hypersparse matrix has the number rows[k] (listed_rows of them; -1: it is row k); columns in the same way.
# mask_kind: 0 none, 1 a list of that many positions, 2 a bitset (as INT64).
PRODUCTS, ENTRIES = 0, 1
DIGIT = 8  # bits per pass of the radix sort


@njit(**FUNCTION)
def named(numbers, count, k):
    return at(numbers, k) if count >= 0 else k


@njit(**KERNEL)
def push_list(
    lo,
    hi,
    fill,
    index,
    u: VectorValues,
    rows,
    listed_rows,
    cols,
    listed_cols,
    A: Matrix,
    a: Values,
    mask,
    mask_kind,
    listed_mask,
    complement,
    product,
    places,
    counts,
    t_index,
    t_val,
):
    if not fill:
        products = np.int64(0)
        row = np.int64(0)
        for k in range(lo, hi):
            place = at(index, k)
            if listed_rows >= 0:
                row = ahead(False, rows, 0, row, listed_rows, place)
                place = row if row < listed_rows and at(rows, row) == place else np.int64(-1)
            put(places, k, place)
            if place >= 0:
                products += np.int64(at(A.ptr, place + 1)) - np.int64(at(A.ptr, place))
        put(counts, PRODUCTS, products)
        return
    products = at(counts, PRODUCTS)
    keys = empty(products, np.int64)
    spare_keys = empty(products, np.int64)
    values = empty(products if KIND == VALUES else 1, Z_T)
    spare_values = empty(products if KIND == VALUES else 1, Z_T)
    q = np.int64(0)
    low = np.int64(1) << 62
    high = np.int64(0)
    ascends = True
    last = np.int64(0)
    for k in range(lo, hi):
        row = at(places, k)
        if row < 0:
            continue
        x = at(u.values, k) if u.stride else u.iso
        for e in range(np.int64(at(A.ptr, row)), np.int64(at(A.ptr, row + 1))):
            j = column(A.col, A.width, e)
            low = min(low, j)
            high = max(high, j)
            ascends &= last <= j
            last = j
            put(keys, q, j)
            if KIND == VALUES:
                put(values, q, mul(value_at(a, e), x, named(cols, listed_cols, j), at(index, k)))
            q += 1
    if not ascends:
        starts = empty(1 << DIGIT, np.int64)
        shift = np.int64(0)
        while (high - low) >> shift != 0:
            for d in range(1 << DIGIT):
                put(starts, d, np.int64(0))
            for p in range(products):
                d = (at(keys, p) - low) >> shift & ((1 << DIGIT) - 1)
                put(starts, d, at(starts, d) + 1)
            before = np.int64(0)
            for d in range(1 << DIGIT):
                some = at(starts, d)
                put(starts, d, before)
                before += some
            for p in range(products):
                d = (at(keys, p) - low) >> shift & ((1 << DIGIT) - 1)
                q = at(starts, d)
                put(starts, d, q + 1)
                put(spare_keys, q, at(keys, p))
                if KIND == VALUES:
                    put(spare_values, q, at(values, p))
            keys, spare_keys = spare_keys, keys
            values, spare_values = spare_values, values
            shift += DIGIT
    entries = np.int64(0)
    m = np.int64(0)
    p = np.int64(0)
    while p < products:
        j = at(keys, p)
        first = p
        p += 1
        if KIND == VALUES:
            total = at(values, first)
        while p < products and at(keys, p) == j:
            if KIND == VALUES and HAS_TERMINAL != 2:
                total = add(total, at(values, p))
            p += 1
        j = named(cols, listed_cols, j)
        is_open = True
        if mask_kind == 1:
            m = ahead(False, mask, 0, m, listed_mask, j)
            is_open = (m < listed_mask and at(mask, m) == j) != (complement != 0)
        elif mask_kind == 2:
            is_open = (np.uint64(at(mask, j >> 6)) >> np.uint64(j & 63) & ONE != 0) != (complement != 0)
        if is_open:
            put(t_index, entries, j)
            if KIND == VALUES:
                put(t_val, entries, total)
            if KIND == COUNT:
                put(t_val, entries, repeated(product, p - first))
            entries += 1
    put(counts, ENTRIES, entries)
