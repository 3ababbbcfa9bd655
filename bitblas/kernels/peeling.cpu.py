# Peeling: remove items with too few counts, level by level. Items are the vertices of an undirected graph, counted by
# their remaining neighbours, or with TRUSS its edges, counted by their remaining triangles. CPU twin of peeling.cu: one
# thread removes one item after the other.
# include: kernels/views.cpu.py
# include: kernels/edge_counts.cpu.py

# The state: what comes next; the level; counts up to `below` were removed at earlier levels; items left
# after the scans so far; the length of the frontier. The others are numbers of a GPU.
MODE = 0
LEVEL = 1
BELOW = 2
LEFT = 5
SCANS = 6
FOUND = 24
BEGIN = 0
SCAN = 1
EXPAND = 2
DONE = 3


# All levels, up to `most` removals in this call: the state says where to continue. The frontier is a stack.
@njit(**KERNEL)
def peel_levels(lo, hi, rows, graph: PeelGraph, items: PeelItems, lists: PeelLists, state, first, last, most):
    mode = at(state, MODE)
    begins = mode == BEGIN
    mode = SCAN if begins else mode
    level = first if begins else at(state, LEVEL)
    below = np.int64(-1) if begins else at(state, BELOW)
    left = np.int64(lists.left.size) if begins else at(state, LEFT)
    top = at(state, FOUND)
    done = np.int64(0)
    while mode != DONE and done < most and lo < hi:
        if mode == SCAN:
            kept = np.int64(0)
            lowest = np.int64(0x7FFFFFFFFFFFFFFF)
            for k in range(left):
                item = np.int64(at(lists.left, k))
                count = np.int64(at(items.count, item))
                if count > level:
                    put(lists.left, kept, item)
                    kept += 1
                    lowest = min(lowest, count)
                elif count > below:
                    put(items.level, item, level)
                    if count > 0:
                        put(lists.now, top, item)
                        top += 1
                    elif TRUSS:
                        put(items.mark, item, np.uint32(0))
            done += left
            left = kept
            mode = EXPAND if top > 0 and kept > 0 else SCAN
            if mode == SCAN:
                below = level
                level = lowest
                if kept == 0 or level > last:
                    mode = DONE
            continue
        top -= 1
        item = np.int64(at(lists.now, top))
        a = np.int64(at(graph.tail, item)) if TRUSS else item
        b = np.int64(at(graph.head, item)) if TRUSS else item
        if TRUSS and length_of(graph.ptr, b) < length_of(graph.ptr, a):
            longer = a
            a = b
            b = longer
        if TRUSS:
            put(items.mark, item, np.uint32(0))
        place = np.int64(at(graph.ptr, b))
        end = np.int64(at(graph.ptr, b + 1))
        for p in range(np.int64(at(graph.ptr, a)), np.int64(at(graph.ptr, a + 1))):
            w = np.int64(at(graph.col, p))
            if w == a or w == b:
                continue
            f = w
            g = w
            if TRUSS:
                f = np.int64(at(graph.edge, p))
                if at(items.mark, f) == 0:
                    continue
                place = place_of(graph.col, place, end, w)
                if place == end:
                    break
                if np.int64(at(graph.col, place)) != w:
                    continue
                g = np.int64(at(graph.edge, place))
                if at(items.mark, g) == 0:
                    continue
            # One count less; an item that falls to the level is removed too.
            for side in range(2 if TRUSS else 1):
                other = g if side else f
                count = np.int64(at(items.count, other))
                if count > level:
                    put(items.count, other, count - 1)
                    if count == level + 1:
                        put(items.level, other, level)
                        put(lists.now, top, other)
                        top += 1
        done += 1
        if top == 0:
            below = level
            level += 1
            mode = DONE if level > last else SCAN
    put(state, MODE, mode)
    put(state, LEVEL, level)
    put(state, BELOW, below)
    put(state, LEFT, left)
    put(state, FOUND, top)
