# Columns that rows of one cluster, at most 64, have in common: of each column of a cluster a word says which rows have
# it. To the column that most rows have one adds the column that most of these have, and so on; of the sets on that way
# the best is taken: `users` rows without `size` columns each, for a virtual node that they use and that has the
# columns: (users - 1) (size - 1) - 1 entries less. What was taken is no longer there for the next one. A column from
# which nothing is saved begins no other set, nor is part of one. One cluster after the other: `counts` is how many
# nodes, uses and columns of nodes there are. `slot` is 0 for each column, before and after.


@njit(**KERNEL)
def bicliques(lo, hi, begins, rows, ptr, col, slot, columns, masks, taken, chain, node, user, node_at, member, gone,
              counts):  # fmt: skip
    nodes = at(counts, 0)
    uses = at(counts, 1)
    members = at(counts, 2)
    for cluster in range(lo, hi):
        first = at(begins, cluster)
        many = at(begins, cluster + 1) - first
        distinct = np.int64(0)
        for r in range(many):
            row = at(rows, first + r)
            for p in range(at(ptr, row), at(ptr, row + 1)):
                j = np.int64(at(col, p))
                s = np.int64(at(slot, j))
                if s == 0:
                    distinct += 1
                    s = distinct
                    put(slot, j, s)
                    put(columns, s - 1, j)
                    put(masks, s - 1, np.uint64(0))
                    put(taken, s - 1, np.uint64(0))
                put(masks, s - 1, at(masks, s - 1) | np.uint64(1) << np.uint64(r))
        live = np.int64(0)  # those that two rows have, at the front of `chain`
        for s in range(distinct):
            if popcount(at(masks, s)) > 1:
                put(chain, live, s)
                live += 1
        while live > 1:
            # the columns of the set come to the front of the chain, in the order in which they are found
            size = np.int64(0)
            left = ~np.uint64(0)
            best = np.int64(0)
            best_size = np.int64(0)
            best_left = np.uint64(0)
            while size < live:
                most = np.int64(1)
                where = np.int64(-1)
                for c in range(size, live):
                    found = np.int64(popcount(at(masks, at(chain, c)) & left))
                    if found > most:
                        most = found
                        where = np.int64(c)
                if where < 0:
                    break
                s = at(chain, where)
                put(chain, where, at(chain, size))
                put(chain, size, s)
                left &= at(masks, s)
                size += 1
                saved = (most - 1) * (size - 1) - 1
                if saved > best:
                    best = saved
                    best_size = size
                    best_left = left
            if best > 0:
                for k in range(best_size):
                    s = at(chain, k)
                    put(masks, s, at(masks, s) & ~best_left)
                    put(taken, s, at(taken, s) | best_left)
                    put(node_at, members, nodes)
                    put(member, members, at(columns, s))
                    members += 1
                for r in range(many):
                    if best_left >> np.uint64(r) & np.uint64(1):
                        put(node, uses, nodes)
                        put(user, uses, at(rows, first + r))
                        uses += 1
                nodes += 1
            else:
                put(masks, at(chain, 0), np.uint64(0))
            kept = np.int64(0)
            for c in range(live):
                s = at(chain, c)
                if popcount(at(masks, s)) > 1:
                    put(chain, kept, s)
                    kept += 1
            live = kept
        for r in range(many):
            row = at(rows, first + r)
            for p in range(at(ptr, row), at(ptr, row + 1)):
                s = np.int64(at(slot, at(col, p))) - 1
                put(gone, p, np.uint8(at(taken, s) >> np.uint64(r) & np.uint64(1)))
        for s in range(distinct):
            put(slot, at(columns, s), 0)
    put(counts, 0, nodes)
    put(counts, 1, uses)
    put(counts, 2, members)
