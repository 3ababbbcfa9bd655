# Connected components by union-find: of a graph, and inside of communities. parent: the number of a vertex of the same
# tree, at most the own number; at a root the own number. The larger root is put below the smaller, so that a root is
# the smallest vertex of its tree. One range: the trees of all vertices change.
# Tarjan: Efficiency of a good but not linear set union algorithm. Journal of the ACM 22 (1975), with path halving.
# include: kernels/views.cpu.py


@njit(**FUNCTION)
def root_of(parent, v):
    above = np.int64(at(parent, v))
    while above != v:
        following = np.int64(at(parent, above))
        put(parent, v, following)
        v = above
        above = following
    return v


# Entries `first` to `last` of the rows join the trees of their ends. known: a root; the rows of the vertices of its
# tree are not read (negative: all are).
# Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
@njit(**KERNEL)
def link_rows(lo, hi, ptr, col, first, last, known, parent):
    for v in range(lo, hi):
        a = root_of(parent, v)
        if a == known:
            continue
        begin = np.int64(at(ptr, v)) + first
        for p in range(begin, min(np.int64(at(ptr, v + 1)), begin - first + last)):
            b = root_of(parent, np.int64(at(col, p)))
            put(parent, max(a, b), min(a, b))  # the same root, if they are equal: cheaper than a branch
            a = min(a, b)


# The entries whose ends have the same label join the trees of their ends.
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
