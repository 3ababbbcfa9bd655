# Neighbour sampling for batches: edges of a frontier, the edges up to a time, and numbers of sampled nodes. CPU twin of
# sampling.cu.
# include: kernels/views.cpu.py


@njit(**FUNCTION)
def draw(state, k, bound):
    """Random number k of a node, below `bound`."""
    return np.int64(scramble(state + np.uint64(k)) % np.uint64(bound))


@njit(**FUNCTION)
def has_edge(entry, first, count, e):
    """Whether e is one of the last `count` edges."""
    for p in range(first, first + count):
        if at(entry, p) == e:
            return True
    return False


# Edges of the nodes of a frontier. All, if there are no more than requested; with REPLACE as many independent draws;
# otherwise Floyd's sample without replacement, or, if few edges are left out, each with the remaining probability.
@njit(**KERNEL)
def sample_edges(lo, hi, frontier, stop, ptr, col, offset, nodes, first, seed, entry, key, center):
    for f in range(lo, hi):
        which = np.int64(at(frontier, f))
        owner = which // nodes if DISJOINT else np.int64(0)
        begin = np.int64(at(ptr, which - owner * nodes))
        degree = np.int64(at(stop, f)) - begin
        to = np.int64(at(offset, f))
        count = np.int64(at(offset, f + 1)) - to
        state = scramble(np.uint64(seed) + scramble(which))
        if count == degree and not REPLACE:
            for j in range(count):
                put(entry, to + j, begin + j)
        elif REPLACE:
            for j in range(count):
                put(entry, to + j, begin + draw(state, j, degree))
        elif count * count > 4 * degree:
            found = np.int64(0)
            for e in range(degree):
                if draw(state, e, degree - e) < count - found:
                    put(entry, to + found, begin + e)
                    found += 1
        else:
            for j in range(count):
                last = degree - count + j
                e = begin + draw(state, j, last + 1)
                put(entry, to + j, begin + last if has_edge(entry, to, j, e) else e)
        for p in range(to, to + count):
            put(key, p, owner * nodes + np.int64(at(col, at(entry, p))))
            put(center, p, first + f)


# The end of the edges of each node that are not later than its time; the edges of a node ascend by time.
@njit(**KERNEL)
def edges_before(lo, hi, frontier, ptr, time, until, nodes, stop):
    for f in range(lo, hi):
        which = np.int64(at(frontier, f))
        owner = which // nodes
        v = which - owner * nodes
        low = np.int64(at(ptr, v))
        high = np.int64(at(ptr, v + 1))
        while low < high:
            middle = (low + high) >> 1
            if at(time, middle) <= at(until, owner):
                low = middle + 1
            else:
                high = middle
        put(stop, f, low)


# Number keys in the order of their first appearance, from `count` on. slots: a hash table of the numbers, or -1; known:
# the key of each number.
@njit(**KERNEL)
def number_nodes(lo, hi, keys, size, mask, slots, count, known, local):
    number = np.int64(at(count, 0))
    for p in range(size if lo < hi else 0):
        key = np.int64(at(keys, p))
        slot = np.int64(mixed(np.uint64(key)) & np.uint64(mask))
        found = np.int64(at(slots, slot))
        while found >= 0 and at(known, found) != key:
            slot = (slot + 1) & mask
            found = np.int64(at(slots, slot))
        if found < 0:
            found = number
            put(slots, slot, np.int32(number))
            put(known, number, key)
            number += 1
        put(local, p, found)
    if lo < hi:
        put(count, 0, number)
