# What the entries of u in word w push along their rows: statements of a kernel, where `active` is that word, and
# `whole` says whether columns of all words are taken, or those of the words lo .. hi of t alone.
while active != 0:
    row = (w << 6) + np.int64(trailing_zeros(active))
    active = drop_lowest(active)
    first = np.int64(at(begin, row))
    stop = np.int64(at(end, row))
    if not whole and first < stop:
        if column(col, width, first) < lo << 6:
            first = lower_bound(PACKED, col, width, first, stop, lo << 6)
        if first < stop and column(col, width, stop - 1) >= hi << 6:
            stop = lower_bound(PACKED, col, width, first, stop, hi << 6)
    # include: formats/csr/entries.cpu.py
