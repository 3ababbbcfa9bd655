# Community detection: whose turn it is, moves between communities, neighbours of moved vertices, merges of single
# vertices into parts, and components inside communities. A GPU runs all but the last in one kernel
# (louvain_levels.cu). All sums are integers. A weight is an FP64 number below 2^53, which holds it exactly, so a
# comparison of gains gives the same answer on every device.
# include: kernels/views.cpu.py
MOST_GAIN = np.float64(1 << 52)  # more only with an extreme resolution


@njit(**FUNCTION)
def stir(x):
    mask = np.uint64(0xFFFFFFFF)
    x = (x ^ x >> np.uint64(16)) * np.uint64(0x85EBCA6B) & mask
    x = (x ^ x >> np.uint64(13)) * np.uint64(0xC2B2AE35) & mask
    return x ^ x >> np.uint64(16)


@njit(**FUNCTION)
def drawn(vertex, key):
    """The same numbers as `random_hash(vertex, ..)` of the algorithms; key: the number that is mixed in last."""
    return stir(stir(np.uint64(vertex)) ^ np.uint64(key))


# The active vertices of one class of a random partition into `classes` (a power of two) classes; they are active no
# longer. weight: sigma in FP64.
@njit(**KERNEL)
def draw_turns(lo, hi, key, classes, which, active, sigma, turn, weight):
    for v in range(lo, hi):
        now = at(active, v) != 0
        if now:
            now = drawn(v, key) & np.uint64(classes - 1) == np.uint64(which)
            if now:
                put(active, v, 0)
        put(turn, v, now)
        put(weight, v, np.float64(at(sigma, v)))


# Move the vertices whose best community scores more than their own. score: sum of weights - share * weight of the
# community; own: the weight to the own community, including `loop`. moved: whether each vertex moved. totals: number of
# moves, sum of their gains times GAIN_UNIT, number of entries of their rows. One range: all vertices.
@njit(**KERNEL)
def move_vertices(lo, hi, turn, best, score, own, degree, loop, share, weight, ptr, label, sigma, moved, totals):
    count = np.int64(0)
    gained = np.int64(0)
    entries = np.int64(0)
    for v in range(lo, hi):
        moves = False
        if at(turn, v) and at(best, v) >= 0:
            to = np.int64(at(best, v))
            source = np.int64(at(label, v))
            k = at(degree, v)
            stay = np.float64(at(own, v) - at(loop, v)) - at(share, v) * (at(weight, source) - np.float64(k))
            if at(score, v) > stay:
                moves = True
                count += 1
                gained += np.int64(min(at(score, v) - stay, MOST_GAIN) * np.float64(GAIN_UNIT))
                entries += np.int64(at(ptr, v + 1)) - np.int64(at(ptr, v))
                put(sigma, source, at(sigma, source) - k)
                put(sigma, to, at(sigma, to) + k)
                put(label, v, to)
        put(moved, v, moves)
    put(totals, 0, at(totals, 0) + count)
    put(totals, 1, at(totals, 1) + gained)
    put(totals, 2, at(totals, 2) + entries)


# Activate the neighbours of moved vertices that are in another community. If the rows of moved vertices (totals[2]
# entries) hold more than one entry of four, all vertices become active. Threads may write the same 1.
@njit(**KERNEL)
def mark_neighbors(lo, hi, entries, ptr, col, label, moved, totals, active):
    every = 4 * at(totals, 2) > entries
    for v in range(lo, hi):
        if every:
            put(active, v, 1)
        elif at(moved, v):
            own = at(label, v)
            for p in range(np.int64(at(ptr, v)), np.int64(at(ptr, v + 1))):
                u = np.int64(at(col, p))
                if at(label, u) != own:
                    put(active, u, 1)


# sums[label[v]] += x[v]. One range: all vertices.
@njit(**KERNEL)
def sum_by_label(lo, hi, label, x, sums):
    for v in range(lo, hi):
        c = np.int64(at(label, v))
        put(sums, c, at(sums, c) + at(x, v))


# out[v]: the value of entry (v, v); not written if there is none.
@njit(**KERNEL)
def diagonal(lo, hi, ptr, col, values, iso, stride, out):
    for v in range(lo, hi):
        end = np.int64(at(ptr, v + 1))
        low = np.int64(at(ptr, v))
        high = end
        while low < high:
            middle = (low + high) >> 1
            if np.int64(at(col, middle)) < v:
                low = middle + 1
            else:
                high = middle
        if low < end and np.int64(at(col, low)) == v:
            put(out, v, at(values, low) if stride else np.int64(iso))


# For each entry whether both of its ends have the same label.
@njit(**KERNEL)
def same_label(lo, hi, nrows, ptr, col, label, same):
    v = row_of(ptr, nrows, lo)
    for p in range(lo, hi):
        while np.int64(at(ptr, v + 1)) <= p:
            v += 1
        put(same, p, at(label, v) == at(label, np.int64(at(col, p))))


# The single vertices that may join another part in this round: a random half of the settled ones. A part has the number
# of a vertex. weight: sigma in FP64; a part that may vanish in this round is too heavy to be joined.
@njit(**KERNEL)
def draw_joins(lo, hi, key, settled, part, size, sigma, turn, weight):
    for v in range(lo, hi):
        now = at(settled, v) != 0 and at(part, v) == v and at(size, v) == 1
        if now:
            now = drawn(v, key) & np.uint64(1) == 0
        put(turn, v, now)
        put(weight, v, 1e300 if now else np.float64(at(sigma, v)))


# Single vertices join the part that gains most, if any does. (If the resolution is tiny, no part is too heavy: the one
# that gains most may vanish, and is not joined.) One range: all vertices.
@njit(**KERNEL)
def join_parts(lo, hi, turn, best, score, degree, part, size, sigma):
    for v in range(lo, hi):
        if at(turn, v) and at(best, v) >= 0 and at(score, v) > 0:
            to = np.int64(at(best, v))
            if at(turn, to):
                continue
            put(part, v, to)
            put(size, v, 0)
            put(size, to, at(size, to) + 1)
            put(sigma, v, 0)
            put(sigma, to, at(sigma, to) + at(degree, v))


@njit(**FUNCTION)
def root_of(parent, v):
    above = np.int64(at(parent, v))
    while above != v:
        following = np.int64(at(parent, above))
        put(parent, v, following)
        v = above
        above = following
    return v


# Components by union-find: the entries whose ends have the same label join the trees of their ends, the larger root
# below the smaller. parent: the number of a vertex of the same tree, the own one at a root. One range: all entries.
@njit(**KERNEL)
def link_entries(lo, hi, nrows, ptr, col, label, parent):
    v = row_of(ptr, nrows, lo)
    for p in range(lo, hi):
        while np.int64(at(ptr, v + 1)) <= p:
            v += 1
        u = np.int64(at(col, p))
        if u < v and at(label, u) == at(label, v):
            a = root_of(parent, v)
            b = root_of(parent, u)
            if a < b:
                put(parent, b, a)
            elif b < a:
                put(parent, a, b)


# root[v]: the root of the tree of v.
@njit(**KERNEL)
def flatten(lo, hi, parent, root):
    for v in range(lo, hi):
        above = np.int64(v)
        while np.int64(at(parent, above)) != above:
            above = np.int64(at(parent, above))
        put(root, v, above)
