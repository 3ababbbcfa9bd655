"""Tree over the arcs of each vertex: prefix sums of flow in a few levels of small groups."""

from .._parts import numbers

WIDTH = 16  # siblings at most: sums before a place take (WIDTH - 1) / 2 entries a node, and so much is kept


class Tree:
    """The trees of all vertices below n, whose leaves are the arcs, numbered from n on by their tails.

    Groups of up to WIDTH arcs follow them, groups of groups and so on; siblings have consecutive numbers. size: of all;
    depth: levels below the vertices. T leads from a node to those below it, L to its siblings before it.
    """

    def __init__(self, tail, n, gb):
        owner, parents, places, self.size, self.depth = tail, [], [], n, 0
        while len(owner) or not self.depth:
            # rank = the number of a node among those of its vertex; wide = whether they are too many to be siblings
            node = numbers(len(owner), gb)
            rank, plus = node - owner.searchsorted(owner), gb.binary.plus
            wide = gb.Vector.from_coo(owner, node * 0 + 1, size=n, dup_op=plus).to_dense(0)[owner] > WIDTH
            self.size, self.depth = self.size + len(node), self.depth + 1
            (first,) = (wide & (rank % WIDTH == 0)).nonzero()
            parent, place = owner.copy(), rank.copy()
            parent[wide] = self.size + first.searchsorted(node[wide], side="right") - 1
            place[wide] %= WIDTH
            parents.append(parent)
            places.append(place)
            owner = owner[first]
        node = numbers(self.size, gb)
        parent, place, begin = node.copy(), node * 0, numbers(self.size + 1, gb) * 0
        at = n
        for above, before in zip(parents, places, strict=True):
            parent[at : at + len(above)], place[at : at + len(above)] = above, before
            at += len(above)
        begin[1:] = place.cumsum()
        entry = numbers(int(begin[-1]), gb)
        columns = entry + (node - place - begin[:-1])[begin.searchsorted(entry, side="right") - 1]
        self.L = gb.Matrix.from_csr(begin, columns, True, nrows=self.size, ncols=self.size)
        self.T = gb.Matrix.from_coo(parent[n:], node[n:], True, nrows=self.size, ncols=self.size)
        self.groups = gb.Vector.from_coo(node[n + len(tail) :], True, size=self.size)
