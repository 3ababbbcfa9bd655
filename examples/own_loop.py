"""A loop of your own that stays on the GPU: points of a plane in clusters. Run with: python examples/own_loop.py

Single linkage: at first every point is a cluster; in a round each one joins the cluster that is nearest to it, until
few enough are left. The body has statements by index vectors, a loop inside the round, and a count to go on by. On a
GPU all rounds are one launch; on the CPU, and on python-graphblas, the same text is a plain loop.
"""

import numpy as np

import bitblas as gb
from bitblas.loop import Program, repeat


def clusters(i, j, n, most, *, gb=gb):
    """A Vector, INT64, size n: for each point a point of its cluster; at most `most` clusters, if edges allow it.

    i, j: the ends of the edges between points, the shortest edge first.
    """
    minimum, m = gb.binary.min, len(i)
    i, j = (gb.Vector.from_dense(np.asarray(x, np.int64)) for x in (i, j))
    edge, point = (gb.Vector.from_scalar(0, size).apply(gb.indexunary.index).new() for size in (m, n))
    label, moved = point.dup(), gb.Vector(gb.dtypes.BOOL, n)
    count, going = gb.Scalar(gb.dtypes.INT64), gb.Scalar(gb.dtypes.BOOL)
    going.value = n > most

    def at(x, index):  # x[index]
        return x[index.to_dense()].new()

    def body(_):
        # near = the edges between two clusters, by the place of each edge
        u, v = at(label, i), at(label, j)
        near = edge.dup()
        near(gb.binary.ne(u & v).new().V, gb.replace) << edge
        # best[c] = the shortest edge at cluster c
        edges, place = near.to_coo()
        best = gb.Vector.from_coo(u.to_dense()[edges], place, size=n, dup_op=minimum)
        best(minimum) << gb.Vector.from_coo(v.to_dense()[edges], place, size=n, dup_op=minimum)
        # p[c] = the cluster at its other end; of two that chose each other the smaller one stays
        some = gb.Vector.from_scalar(0, n)
        some(best.S) << best
        p = point.dup()
        p(best.S) << gb.binary.minus(gb.binary.plus(at(u, some) & at(v, some)).new() & point)
        p(gb.binary.eq(at(p, p) & point).new().V, minimum) << point

        def jump(_):
            q = at(p, p)
            moved(gb.binary.ne(p & q).new().V, gb.replace) << True
            p << q

        # p = p[p] until nothing changes; label = p[label]
        moved << True
        repeat(jump, while_=moved)
        label << at(p, label)
        # on, while there are more than `most` clusters, and edges between them
        roots = gb.binary.eq(label & point).new()
        count << roots.apply(gb.unary.identity[gb.dtypes.INT64]).new().reduce(gb.monoid.plus, allow_empty=False)
        count << count.apply(gb.binary.minus, right=most)
        going << count.apply(gb.binary.gt, right=0)
        going(gb.binary.land) << best.nvals

    Program(body, while_=going).run()
    return label


# Four heaps of points, and edges between points of a heap: to the twelve nearest ones.
rng = np.random.default_rng(0)
heaps = np.repeat(np.array([[0, 0], [90, 0], [0, 90], [90, 90]]), 25, axis=0)
points = heaps + rng.normal(size=heaps.shape)
far = ((points[:, None] - points[None]) ** 2).sum(axis=2)
i, j = np.nonzero((far <= np.sort(far, axis=1)[:, 12:13]) & (far > 0))
order = np.argsort(far[i, j], kind="stable")
i, j = i[order], j[order]

few = {most: clusters(i, j, 100, most) for most in (60, 20, 1)}
left = {most: len(set(label.to_dense().tolist())) for most, label in few.items()}
print("clusters that are left, by how many are enough:", left)
assert left[60] <= 60
assert left[20] <= 20
assert left[1] == 4  # no edge leads from heap to heap
assert [len(set(few[1].to_dense()[k : k + 25].tolist())) for k in range(0, 100, 25)] == [1, 1, 1, 1]


# The program uses nothing that python-graphblas has not: there it gives the same.
def compare():
    import graphblas

    for most, label in few.items():
        assert clusters(i, j, 100, most, gb=graphblas).to_dense().tolist() == label.to_dense().tolist()


compare()
