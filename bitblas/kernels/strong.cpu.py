# Strongly connected components, by one depth-first search (Tarjan: Depth-first search and linear graph algorithms. SIAM
# Journal on Computing 1(2), 1972). One vertex after the other, so it has no twin for GPUs.
# `order` numbers vertices as they are reached, from 1 on, and `low` the least number that each is known to reach among
# vertices without a component (0: not reached). `path` is the path of the search, `entry` where it continues in each
# row, and `open` the vertices that were left without a component. label: the result, -1 where it is unknown.
# State: the vertex that the search continues from, numbers given, the lengths of the path and of `open`.


@njit(**KERNEL)
def strong_components(lo, hi, ptr, col, entry, order, low, path, open, label, state, most):
    start = at(state, 0)
    given = at(state, 1)
    depth = at(state, 2)
    waiting = at(state, 3)
    done = np.int64(0)
    size = np.int64(ptr.size - 1)
    while done < most and lo < hi:
        if depth == 0:
            while start < size and at(low, start) != 0:
                start += 1
            if start == size:
                break
            given += 1
            put(low, start, given)
            put(order, start, given)
            put(entry, start, at(ptr, start))
            put(path, 0, start)
            depth = np.int64(1)
        v = np.int64(at(path, depth - 1))
        place = np.int64(at(entry, v))
        end = np.int64(at(ptr, v + 1))
        least = np.int64(at(low, v))
        first = place
        w = np.int64(-1)
        while place < end:
            w = np.int64(at(col, place))
            reached = np.int64(at(low, w))
            if reached == 0:
                break
            if reached < least and at(label, w) < 0:
                least = reached
            place += 1
        done += place - first + 1
        put(low, v, least)
        if place < end:
            # Reached again from the entry that leads to w
            put(entry, v, place)
            given += 1
            put(low, w, given)
            put(order, w, given)
            put(entry, w, at(ptr, w))
            put(path, depth, w)
            depth += 1
            continue
        depth -= 1
        if least < np.int64(at(order, v)):
            put(open, waiting, v)
            waiting += 1
            continue
        # v and the open vertices reached after it are a component
        bottom = waiting
        smallest = v
        while bottom > 0 and np.int64(at(order, at(open, bottom - 1))) > least:
            bottom -= 1
            smallest = min(smallest, np.int64(at(open, bottom)))
        put(label, v, smallest)
        for k in range(bottom, waiting):
            put(label, at(open, k), smallest)
        waiting = bottom
    put(state, 0, start)
    put(state, 1, given)
    put(state, 2, depth)
    put(state, 3, waiting)
