# The entries of u in word w, listed: statements of a kernel, where `active` is that word, and `count` rows are listed.
while active != 0:
    row = (w << 6) + np.int64(trailing_zeros(active))
    active = drop_lowest(active)
    prefetch(begin, row)
    put(rows, count, row)
    count += 1
