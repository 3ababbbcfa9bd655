# Community detection: whose turn it is, moves between communities, and merges of single vertices into parts. A GPU runs
# all of it in one kernel (louvain_levels.cu). All sums are integers. A weight is an FP64 number below 2^53, which holds
# it exactly, so a comparison of gains gives the same answer on every device.
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


# The list `turn` of the active vertices of one class of a random partition into `classes` (a power of two) classes.
# They are active no longer. waiting: the list of the others. counts: the lengths of both lists. One range.
@njit(**KERNEL)
def draw_turns(lo, hi, key, classes, which, waiting, turn, active, counts):
    kept = np.int64(0)
    drawn_now = np.int64(0)
    for k in range(lo, hi):
        v = np.int64(at(waiting, k))
        if drawn(v, key) & np.uint64(classes - 1) == np.uint64(which):
            put(active, v, 0)
            put(turn, drawn_now, v)
            drawn_now += 1
        else:
            put(waiting, kept, v)
            kept += 1
    put(counts, 0, kept)
    put(counts, 1, drawn_now)


# Of the vertices listed in `turn`, move those whose best community scores more than their own, all at the same time;
# then activate their neighbours in other communities. If the rows of moved vertices hold more than one entry of four,
# all vertices become active. score: sum of weights - share * weight of the community; own: the weight to the own
# community, including `loop`. weight: sigma in FP64. totals: number of moves, sum of their gains times GAIN_UNIT, are
# added to. counts[0]: the length of the list `waiting` of active vertices. One range.
@njit(**KERNEL)
def move_vertices(
    lo, hi, turn, best, score, own, degree, loop, share, weight, ptr, col, label, sigma, active, waiting, counts, totals
):
    size = np.int64(ptr.size - 1)
    entries = np.int64(0)
    moved = np.int64(0)
    gained = np.int64(0)
    for k in range(lo, hi):
        v = np.int64(at(turn, k))
        if at(best, v) < 0:
            continue
        stay = np.float64(at(own, v) - at(loop, v)) - at(share, v) * (
            at(weight, at(label, v)) - np.float64(at(degree, v))
        )
        if at(score, v) > stay:
            gained += np.int64(min(at(score, v) - stay, MOST_GAIN) * np.float64(GAIN_UNIT))
            entries += np.int64(at(ptr, v + 1)) - np.int64(at(ptr, v))
            put(turn, moved, v)
            moved += 1
    for k in range(moved):
        v = np.int64(at(turn, k))
        source = np.int64(at(label, v))
        to = np.int64(at(best, v))
        put(sigma, source, at(sigma, source) - at(degree, v))
        put(sigma, to, at(sigma, to) + at(degree, v))
        put(weight, source, np.float64(at(sigma, source)))
        put(weight, to, np.float64(at(sigma, to)))
        put(label, v, to)
    put(totals, 0, at(totals, 0) + moved)
    put(totals, 1, at(totals, 1) + gained)
    count = np.int64(at(counts, 0))
    if 4 * entries > np.int64(at(ptr, size)):
        if count < size:
            for v in range(size):
                put(active, v, 1)
                put(waiting, v, v)
            count = size
    else:
        for k in range(moved):
            v = np.int64(at(turn, k))
            own_label = at(label, v)
            for p in range(np.int64(at(ptr, v)), np.int64(at(ptr, v + 1))):
                u = np.int64(at(col, p))
                if at(active, u) == 0 and at(label, u) != own_label:
                    put(active, u, 1)
                    put(waiting, count, u)
                    count += 1
    put(counts, 0, count)


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


# The entries whose ends have the same label: a range writes contiguously, from the start of its first row on. out_ptr:
# the end of each row. near: the sum of each row less `loop`.
@njit(**KERNEL)
def inner_rows(lo, hi, ptr, col, values, iso, stride, loop, label, near, out_ptr, out_col, out_values):
    end = np.int64(at(ptr, lo))
    for v in range(lo, hi):
        own = at(label, v)
        total = -at(loop, v)
        for p in range(np.int64(at(ptr, v)), np.int64(at(ptr, v + 1))):
            u = np.int64(at(col, p))
            if at(label, u) == own:
                x = at(values, p) if stride else np.int64(iso)
                total += x
                put(out_col, end, u)
                if stride:
                    put(out_values, end, x)
                end += 1
        put(near, v, total)
        put(out_ptr, v + 1, end)


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
