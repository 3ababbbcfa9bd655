# Gorder vertex ordering: repeatedly append the vertex that has most in common with the last WINDOW vertices.
# `key` is that score: edges to them, plus neighbours shared with them. Neighbours with more than `widest` entries are
# not expanded. The priority queue is a unit heap: scores change by one, so each score has its own linked list (`head`
# by score, links `behind` and `ahead`, -1: none). Decreases are lazy: a vertex moves when it is next inspected, so its
# recorded list (`held`) is never too low. Each list starts with the vertex that moved last.


@njit(**FUNCTION)
def unlinked(v, held, head, behind, ahead):
    front = at(ahead, v)
    back = at(behind, v)
    if front < 0:
        put(head, at(held, v), back)
    else:
        put(behind, front, back)
    if back >= 0:
        put(ahead, back, front)


@njit(**FUNCTION)
def linked(v, score, held, head, behind, ahead):
    first = at(head, score)
    put(held, v, score)
    put(behind, v, first)
    put(ahead, v, np.int64(-1))
    if first >= 0:
        put(ahead, first, v)
    put(head, score, v)


@njit(**FUNCTION)
def raised(v, key, held, head, behind, ahead):
    """Increment the score; returns the list that the vertex is in."""
    score = at(key, v) + 1
    put(key, v, score)
    if at(held, v) >= 0 and score > at(held, v):  # otherwise it was appended already, or is in a higher list
        unlinked(v, held, head, behind, ahead)
        linked(v, score, held, head, behind, ahead)
        return score
    return np.int64(0)


@njit(**KERNEL)
def gorder(lo, hi, first, ptr, col, widest, key, held, head, behind, ahead, order):
    top = np.int64(0)
    for k in range(hi - 1, lo - 1, -1):
        linked(at(first, k), np.int64(0), held, head, behind, ahead)
    for k in range(lo, hi):
        found = np.int64(-1)
        while found < 0:
            v = at(head, top)
            if v < 0:
                top -= 1
                continue
            unlinked(v, held, head, behind, ahead)
            score = at(key, v)
            if score == top:
                put(held, v, np.int64(-1))
                found = v
            else:
                linked(v, score, held, head, behind, ahead)
        put(order, k, found)
        last = at(order, k - WINDOW) if k - lo >= WINDOW else np.int64(-1)
        for p in range(at(ptr, last) if last >= 0 else 0, at(ptr, last + 1) if last >= 0 else 0):
            u = np.int64(at(col, p))
            put(key, u, at(key, u) - 1)
            begin = np.int64(at(ptr, u))
            stop = np.int64(at(ptr, u + 1))
            for q in range(begin, stop if stop - begin <= widest else begin):
                w = np.int64(at(col, q))
                put(key, w, at(key, w) - 1)
        for p in range(at(ptr, found), at(ptr, found + 1)):
            u = np.int64(at(col, p))
            top = max(top, raised(u, key, held, head, behind, ahead))
            begin = np.int64(at(ptr, u))
            stop = np.int64(at(ptr, u + 1))
            for q in range(begin, stop if stop - begin <= widest else begin):
                top = max(top, raised(np.int64(at(col, q)), key, held, head, behind, ahead))
