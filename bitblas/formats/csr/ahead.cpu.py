# Code fragment: push the entries of u at `count` listed rows, with prefetching.
# `whole` selects the columns of all words, or only those of the words lo .. hi of t.
# Rows are prefetched before they are needed, then the cells of t: when these are scattered, memory latency is most of
# the cost of a push.
for k in range(min(count, AHEAD)):
    prefetch_column(col, width, np.int64(at(begin, at(rows, k))))
for k in range(count):
    if k + AHEAD < count:
        prefetch_column(col, width, np.int64(at(begin, at(rows, k + AHEAD))))
    if KIND != WORDS and far and k + NEAR < count:
        row = at(rows, k + NEAR)
        first = np.int64(at(begin, row))
        for e in range(first, min(np.int64(at(end, row)), first + NEAR)):
            j = column(col, width, e)
            if KIND == VALUES:
                prefetch(t_val, j)
            else:
                prefetch(counts, j)
    row = at(rows, k)
    first = np.int64(at(begin, row))
    stop = np.int64(at(end, row))
    if not whole and first < stop:
        if column(col, width, first) < lo << 6:
            first = lower_bound(PACKED, col, width, first, stop, lo << 6)
        if first < stop and column(col, width, stop - 1) >= hi << 6:
            stop = lower_bound(PACKED, col, width, first, stop, hi << 6)
    # include: formats/csr/entries.cpu.py
