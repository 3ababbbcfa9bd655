"""Tree over the arcs of each vertex: prefix sums of flow in a few levels of small groups."""

from .._check import tuning
from .._parts import index_range


class Tree:
    """A tree per vertex below n; its leaves are the vertex's arcs, numbered from n on by their tails.

    Up to `flow.siblings` arcs form a group, as many groups form the next group, and so on; siblings have consecutive
    numbers. size: total number of nodes; depth: levels below the vertices. T leads from a node to its children, L to
    its earlier siblings.
    """

    def __init__(self, tail, n, gb):
        width = tuning.count("flow.siblings")
        owner, parents, places, self.size, self.depth = tail, [], [], n, 0
        while len(owner) or not self.depth:
            # rank = position of a node among those of its vertex; wide = whether they exceed the width
            node = index_range(len(owner), gb)
            rank, plus = node - owner.searchsorted(owner), gb.binary.plus
            wide = gb.Vector.from_coo(owner, node * 0 + 1, size=n, dup_op=plus).to_dense(0)[owner] > width
            self.size, self.depth = self.size + len(node), self.depth + 1
            (first,) = (wide & (rank % width == 0)).nonzero()
            parent, place = owner.copy(), rank.copy()
            parent[wide] = self.size + first.searchsorted(node[wide], side="right") - 1
            place[wide] %= width
            parents.append(parent)
            places.append(place)
            owner = owner[first]
        node = index_range(self.size, gb)
        parent, place, begin = node.copy(), node * 0, index_range(self.size + 1, gb) * 0
        at = n
        for above, before in zip(parents, places, strict=True):
            parent[at : at + len(above)], place[at : at + len(above)] = above, before
            at += len(above)
        begin[1:] = place.cumsum()
        entry = index_range(int(begin[-1]), gb)
        columns = entry + (node - place - begin[:-1])[begin.searchsorted(entry, side="right") - 1]
        self.L = gb.Matrix.from_csr(begin, columns, True, nrows=self.size, ncols=self.size)
        self.T = gb.Matrix.from_coo(parent[n:], node[n:], True, nrows=self.size, ncols=self.size)
        self.groups = gb.Vector.from_coo(node[n + len(tail) :], True, size=self.size)
