# Code fragment: push the entries of u at `count` listed rows, with prefetching.
# `whole` selects the columns of all words, or only those of the words lo .. hi of t.
# Rows are prefetched before they are needed, then the cells of t: when these are scattered, memory latency is most of
# the cost of a push.
for k in range(min(count, AHEAD)):
    prefetch_column(col, np.int64(at(rows.begin, at(listed, k))))
for k in range(count):
    if k + AHEAD < count:
        prefetch_column(col, np.int64(at(rows.begin, at(listed, k + AHEAD))))
    if KIND != WORDS and far and k + NEAR < count:
        row = at(listed, k + NEAR)
        first = np.int64(at(rows.begin, row))
        for e in range(first, min(np.int64(at(rows.end, row)), first + NEAR)):
            j = column(col, e)
            if KIND == VALUES:
                prefetch(t.values, j)
            else:
                prefetch(counts, j)
    row = at(listed, k)
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
