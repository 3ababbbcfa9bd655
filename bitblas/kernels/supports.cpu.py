# Supports after entries were removed. CPU twin of supports.cu: one thread takes one removed entry after the other.
# include: kernels/views.cpu.py
# include: kernels/edge_counts.cpu.py


@njit(**FUNCTION)
def lower(count, p):
    put(count, p, at(count, p) - COUNT_T(1))


# removed: row * rows + column of the removed entries, ascending, each with its mirror image.
@njit(**KERNEL)
def lower_supports(lo, hi, rows, removed, ptr, col, count):
    for unit in range(lo, hi):
        i = np.int64(at(removed, unit)) // rows
        k = np.int64(at(removed, unit)) % rows
        # j with (i, j) and (k, j) left: the wedges i-k-j and k-i-j are gone. Both images of the entry find the same j.
        if i <= k:
            first = length_of(ptr, i) <= length_of(ptr, k)
            a = i if first else k
            b = k if first else i
            q = np.int64(at(ptr, b))
            end = np.int64(at(ptr, b + 1))
            for p in range(np.int64(at(ptr, a)), np.int64(at(ptr, a + 1))):
                j = np.int64(at(col, p))
                q = place_of(col, q, end, j)
                if q == end:
                    break
                if np.int64(at(col, q)) != j:
                    continue
                low = np.int64(at(ptr, j))
                high = np.int64(at(ptr, j + 1))
                lower(count, p)
                lower(count, place_of(col, low, high, a))
                if i != k:
                    lower(count, q)
                    lower(count, place_of(col, low, high, b))
        # j with (i, j) left and (k, j) removed too: the wedge i-k-j.
        row = np.int64(at(ptr, i))
        end = np.int64(at(ptr, i + 1))
        s = place_of(removed, np.int64(0), np.int64(removed.size), k * rows)
        while s < removed.size and np.int64(at(removed, s)) < (k + 1) * rows:
            j = np.int64(at(removed, s)) - k * rows
            row = place_of(col, row, end, j)
            if row < end and np.int64(at(col, row)) == j:
                lower(count, row)
            s += 1
