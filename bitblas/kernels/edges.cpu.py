# The edges of an undirected graph: their numbers, and the triangles that contain each. CPU twin of edges.cu.
# include: kernels/views.cpu.py
# include: kernels/edge_counts.cpu.py


# The number of the edge of each entry: its place in the rows of `next_ptr`, `next_col`, which hold each edge once, at
# the end that comes before the other by rising degree. A self loop gets the number of edges.
@njit(**KERNEL)
def number_edges(lo, hi, rows, ptr, col, next_ptr, next_col, edge):
    i = row_of(ptr, rows, lo)
    for p in range(lo, hi):
        while np.int64(at(ptr, i + 1)) <= p:
            i += 1
        j = np.int64(at(col, p))
        a = length_of(ptr, i)
        b = length_of(ptr, j)
        ahead = a < b or (a == b and i < j)
        start = i if ahead else j
        stop = j if ahead else i
        begin = np.int64(at(next_ptr, rows if i == j else start))
        end = begin if i == j else np.int64(at(next_ptr, start + 1))
        put(edge, p, place_of(next_col, begin, end, stop))


# Add the number of triangles that contain each edge, or BY_VERTEX each vertex. ptr, col hold each edge once, at the end
# that comes first in an order of the vertices; a triangle is found at the first of its vertices, whose row is marked.
# The ranges of rows that run at the same time count into parts of their own: `part` has the begin of the part of the
# range that begins there.
@njit(**KERNEL)
def triangles_by_range(lo, hi, part, ptr, col, count):
    own = np.int64(at(part, lo))
    marks = zeros(part.size, COL_T)
    for u in range(lo, hi):
        begin = np.int64(at(ptr, u))
        end = np.int64(at(ptr, u + 1))
        if end - begin < 2:
            continue
        for p in range(begin, end):
            put(marks, at(col, p), COL_T(p - begin + 1))
        row = own + begin - 1
        total = COL_T(0)
        for p in range(begin, end):
            v = np.int64(at(col, p))
            closed = COL_T(0)
            for q in range(np.int64(at(ptr, v)), np.int64(at(ptr, v + 1))):
                w = np.int64(at(col, q))
                k = np.int64(at(marks, w))
                if k != 0:
                    closed += 1
                    if BY_VERTEX:
                        put(count, own + w, at(count, own + w) + 1)
                    else:
                        put(count, own + q, at(count, own + q) + 1)
                        put(count, row + k, at(count, row + k) + 1)
            if BY_VERTEX:
                put(count, own + v, at(count, own + v) + closed)
            else:
                put(count, own + p, at(count, own + p) + closed)
            total += closed
        if BY_VERTEX:
            put(count, own + u, at(count, own + u) + total)
        for p in range(begin, end):
            put(marks, at(col, p), COL_T(0))
