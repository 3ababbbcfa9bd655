# Mine virtual nodes: signatures of rows, and bicliques in clusters of similar rows. Expand them to rows.
# include: kernels/views.cpu.py


# Min-hash signatures of rows: the least hash of a row's columns, for each of HASHES hash functions.
# Two rows agree in one with a probability equal to their Jaccard similarity (Broder 1997).
@njit(**KERNEL)
def minhash(lo, hi, ptr, col, seed, signature):
    for row in range(lo, hi):
        for k in range(HASHES):
            put(signature, row * HASHES + k, np.uint32(0xFFFFFFFF))
        for p in range(at(ptr, row), at(ptr, row + 1)):
            found = mixed(np.uint64(at(col, p)) + (np.uint64(seed) << np.uint64(40)))
            for k in range(HASHES):
                # one good hash, and its multiples by odd numbers
                odd = np.uint64(2 * k + 1) * np.uint64(0x9E3779B97F4A7C15)
                value = np.uint32(found * odd >> np.uint64(32))
                put(signature, row * HASHES + k, min(value, at(signature, row * HASHES + k)))


@njit(**FUNCTION)
def slot_of(slot, table, wrap, columns, room, j):
    """The slot of column j of a cluster, or a free one for it."""
    k = np.int64(np.uint64(j) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & wrap
    s = np.int64(at(slot, table + k))
    while s != 0 and at(columns, room + s - 1) != j:
        k = k + 1 & wrap
        s = np.int64(at(slot, table + k))
    return table + k


# Find bicliques in clusters of at most 64 rows: sets of columns that several rows share.
# Each becomes a virtual node.
# For each column of a cluster a word has a bit for each row that contains it. The search is greedy: start with the
# column in most rows, add the column that most of these rows have, and so on; the best set on the way is taken. A node
# with `users` rows and `size` columns saves (users - 1) (size - 1) - 1 entries. Its entries are removed before the
# next search. A column that saves nothing neither starts a set nor joins one.
# Clusters are processed one after the other. `counts`: the number of nodes, of uses, and of node columns, for each
# part of the clusters. Columns of a cluster are found by hash in `slot`, which is 0 before and after.
@njit(**KERNEL)
def bicliques(
    lo,
    hi,
    limits,
    begins,
    before,
    rows,
    ptr,
    col,
    rooms,
    slot,
    places,
    columns,
    masks,
    taken,
    chain,
    node,
    user,
    node_at,
    member,
    gone,
    counts,
):
    for part in range(lo, hi):
        nodes = np.int64(0)
        uses = np.int64(0)
        members = np.int64(0)
        room = at(rooms, part)
        table = 4 * room
        wrap = np.int64(1)  # hash mask: a power of two less 1, below four times the number of columns of a cluster
        while wrap < 2 * (at(rooms, part + 1) - room):
            wrap *= 2
        wrap -= 1
        first_of = at(before, at(limits, part)) >> 1
        for cluster in range(at(limits, part), at(limits, part + 1)):
            first = at(begins, cluster)
            many = at(begins, cluster + 1) - first
            distinct = np.int64(0)
            for r in range(many):
                row = at(rows, first + r)
                for p in range(at(ptr, row), at(ptr, row + 1)):
                    j = np.int64(at(col, p))
                    place = slot_of(slot, table, wrap, columns, room, j)
                    s = np.int64(at(slot, place))
                    if s == 0:
                        distinct += 1
                        s = distinct
                        put(slot, place, s)
                        put(places, room + s - 1, place)
                        put(columns, room + s - 1, j)
                        put(masks, room + s - 1, np.uint64(0))
                        put(taken, room + s - 1, np.uint64(0))
                    put(masks, room + s - 1, at(masks, room + s - 1) | np.uint64(1) << np.uint64(r))
            live = np.int64(0)  # columns in at least two rows, at the front of `chain`
            for s in range(distinct):
                if popcount(at(masks, room + s)) > 1:
                    put(chain, room + live, s)
                    live += 1
            while live > 1:
                # the columns of the set move to the front of the chain, in the order in which they are found
                size = np.int64(0)
                left = ~np.uint64(0)
                best = np.int64(0)
                best_size = np.int64(0)
                best_left = np.uint64(0)
                while size < live:
                    most = np.int64(1)
                    where = np.int64(-1)
                    for c in range(size, live):
                        found = np.int64(popcount(at(masks, room + at(chain, room + c)) & left))
                        if found > most:
                            most = found
                            where = np.int64(c)
                    if where < 0:
                        break
                    s = at(chain, room + where)
                    put(chain, room + where, at(chain, room + size))
                    put(chain, room + size, s)
                    left &= at(masks, room + s)
                    size += 1
                    saved = (most - 1) * (size - 1) - 1
                    if saved > best:
                        best = saved
                        best_size = size
                        best_left = left
                if best > 0:
                    for k in range(best_size):
                        s = at(chain, room + k)
                        put(masks, room + s, at(masks, room + s) & ~best_left)
                        put(taken, room + s, at(taken, room + s) | best_left)
                        put(node_at, first_of + members, nodes)
                        put(member, first_of + members, at(columns, room + s))
                        members += 1
                    for r in range(many):
                        if best_left >> np.uint64(r) & np.uint64(1):
                            put(node, first_of + uses, nodes)
                            put(user, first_of + uses, at(rows, first + r))
                            uses += 1
                    nodes += 1
                else:
                    put(masks, room + at(chain, room + 0), np.uint64(0))
                kept = np.int64(0)
                for c in range(live):
                    s = at(chain, room + c)
                    if popcount(at(masks, room + s)) > 1:
                        put(chain, room + kept, s)
                        kept += 1
                live = kept
            for r in range(many):
                row = at(rows, first + r)
                for p in range(at(ptr, row), at(ptr, row + 1)):
                    s = np.int64(at(slot, slot_of(slot, table, wrap, columns, room, np.int64(at(col, p))))) - 1
                    put(gone, p, np.uint8(at(taken, room + s) >> np.uint64(r) & np.uint64(1)))
            for s in range(distinct):
                put(slot, at(places, room + s), 0)
        put(counts, 3 * part, nodes)
        put(counts, 3 * part + 1, uses)
        put(counts, 3 * part + 2, members)


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
