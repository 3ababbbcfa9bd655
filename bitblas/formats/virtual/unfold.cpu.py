# Expand virtual nodes to plain rows.
# Row i, which is row places[i] of the graph, gets its own columns and those of each node that it uses, merged list by
# list into out from begin[i] on.
# number: the matrix column of a column of the graph, or ~k for node k, whose row is node_rows[k]. If a row has more
# than MOST lists, its columns are left unsorted, and `unsorted` reports it.


@njit(**KERNEL)
def unfold(lo, hi, places, ptr, col, number, node_rows, begin, out, unsorted):
    for i in range(lo, hi):
        first = np.int64(at(ptr, at(places, i)))
        last = np.int64(at(ptr, at(places, i) + 1))
        base = np.int64(at(begin, i))
        size = np.int64(0)
        for e in range(first, last):
            j = at(number, at(col, e))
            if j >= 0:
                put(out, base + size, j)
                size += 1
        many = last - first - size > MOST
        put(unsorted, i, many)
        for e in range(first, last):
            node = ~at(number, at(col, e))
            if node >= 0:
                begins = np.int64(at(ptr, at(node_rows, node)))
                m = np.int64(at(ptr, at(node_rows, node) + 1)) - 1
                a = size - 1
                size += m + 1 - begins
                w = base + size - 1
                while m >= begins:  # from the end, so that nothing moves twice
                    j = at(number, at(col, m))
                    if not many and a >= 0 and at(out, base + a) > j:
                        put(out, w, at(out, base + a))
                        a -= 1
                    else:
                        put(out, w, j)
                        m -= 1
                    w -= 1
