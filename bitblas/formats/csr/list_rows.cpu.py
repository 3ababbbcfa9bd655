# Code fragment: list the entries of u in word w. `active` is that word; `count` is the number of listed rows.
while active != 0:
    row = (w << 6) + np.int64(trailing_zeros(active))
    active = drop_lowest(active)
    prefetch(rows.begin, row)
    put(listed, count, row)
    count += 1
