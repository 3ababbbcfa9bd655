# Contraction S' A S: the entries of a matrix by the groups of their row and column. A CPU sums the rows of each group
# in a table with a place for each group.
# include: kernels/views.cpu.py


@njit(**FUNCTION)
def sum_to(ptr, count):
    """Counts as the end of each range, which is where the next begins."""
    total = np.int64(0)
    for c in range(count):
        total += np.int64(at(ptr, c))
        put(ptr, c, total)
    put(ptr, count, total)


# Counting sort of rows by group: the rows of group c are order[first[c]:first[c + 1]], and their entries are as many as
# begin[c + 1] - begin[c]. first, begin: zero before. One range: all rows.
@njit(**KERNEL)
def group_rows(lo, hi, count, group, ptr, first, order, begin):
    for v in range(lo, hi):
        c = np.int64(at(group, v))
        put(first, c, at(first, c) + 1)
        put(begin, c + 1, at(begin, c + 1) + np.int64(at(ptr, v + 1)) - np.int64(at(ptr, v)))
    sum_to(first, count)
    for c in range(count):
        put(begin, c + 1, at(begin, c + 1) + at(begin, c))
    for v in range(hi - 1, lo - 1, -1):
        c = np.int64(at(group, v))
        place = at(first, c) - 1
        put(first, c, place)
        put(order, place, v)


# The sums of the rows of each group, columns in the order of their first appearance. A range writes contiguously, from
# `begin` of its first group on; out_ptr: the end of each group. loop: the sum in the group's own column (zero before).
# place: where a column's sum is, which belongs to an earlier group if it is before the start of the group.
@njit(**KERNEL)
def contract_rows(
    lo, hi, count, first, order, begin, ptr, col, values, iso, stride, group, out_ptr, out_col, out, loop
):
    place = zeros(count, np.int64)
    end = np.int64(at(begin, lo))
    for c in range(lo, hi):
        start = end
        for k in range(at(first, c), at(first, c + 1)):
            v = np.int64(at(order, k))
            for p in range(np.int64(at(ptr, v)), np.int64(at(ptr, v + 1))):
                d = np.int64(at(group, np.int64(at(col, p))))
                x = Z_T(at(values, p)) if stride else Z_T(iso)
                where = at(place, d) - 1
                if where >= start:
                    put(out, where, at(out, where) + x)
                else:
                    put(out_col, end, d)
                    put(out, end, x)
                    end += 1
                    put(place, d, end)
        put(out_ptr, c + 1, end)
        if at(place, c) > start:
            put(loop, c, at(out, at(place, c) - 1))
