"""Maximum bipartite matching: as many disjoint edges as possible (augmenting paths, Hopcroft-Karp).

Method: starts from a maximal matching. Searches from all unmatched vertices of one side run at once: along any edge to
the other side, along a matched edge back. A search (named by its root) ends at an unmatched vertex with an augmenting
path, on which unmatched and matched edges alternate. Swapping their roles matches one more pair. No vertex is visited
twice, so the paths are disjoint. If no search finds a path, the matching is maximum.

State: mate[v] is the partner of v, v itself if unmatched, which lone marks too. q holds the vertices to search from,
found the visited ones: each value packs two 32-bit numbers, the root of the search and the predecessor (in q, the
vertex itself). leaf[r] is the smallest unmatched vertex that the search from r reached, n if none. turned holds, along
augmenting paths, the vertices whose edges are matched next.

Input: A with a symmetric structure and two sides, of at most 2^31 vertices; values and dtype are ignored.

Check: SciPy's maximum_bipartite_matching.

Hopcroft, Karp: An n^(5/2) algorithm for maximum matchings in bipartite graphs. SIAM J. on Computing 2 (1973).
Azad, Buluc, Pothen: Computing maximum cardinality matchings in parallel on bipartite graphs. IEEE TPDS 28 (2017).
"""

from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import gather_values
from .bipartite import bipartite_sides
from .matching import maximal_matching

HALF = 32  # bits of a root and of a vertex


@algorithm(graph="bipartite", answer="vertex per vertex", arrays=(90, 20))
def maximum_matching(A, *, gb=None):
    """A maximum matching of a bipartite graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n: the partner of each matched vertex, no entry elsewhere.
    Raises InvalidValue (A not symmetric, not bipartite, or with more than 2^31 vertices), DimensionMismatch (A not
    square), TypeError (A is not a Matrix).
    """
    n = A.nrows
    if n > 2 ** (HALF - 1):
        raise gb.exceptions.InvalidValue(
            f"argument A: expected at most {2 ** (HALF - 1)} vertices, got {n}. Hint: remove vertices without edges."
        )
    side = bipartite_sides(A, gb=gb)
    if side is None:
        raise gb.exceptions.InvalidValue(
            "argument A: expected a bipartite graph, got one with an odd cycle. "
            "Hint: maximal_matching accepts any graph and finds at least half as many edges."
        )
    loop = loops.cached_loop(_paths, A, gb)
    left, mate, vertex = (loop.state[name] for name in ("left", "mate", "vertex"))
    # left = side 0; mate = a maximal matching, v at unmatched vertices
    left << side.select(gb.select.valueeq, 0)
    start = maximal_matching(A, gb=gb)
    mate << vertex
    mate(start.S) << start
    loop.run()
    # result<mate != v> = mate
    result = gb.Vector(gb.dtypes.INT64, n)
    result(gb.binary.ne(mate & vertex).new().V) << mate
    return result


def _paths(A, gb):
    n, BOOL, INT64, binary = A.nrows, gb.dtypes.BOOL, gb.dtypes.INT64, gb.binary
    vertex = gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new(INT64)
    alone = binary.bor(vertex.apply(binary.bshift, right=HALF).new() & vertex).new()  # (v, v): its own predecessor
    mate, q, turned, paths = (gb.Vector(INT64, n) for _ in range(4))
    left = gb.Vector(BOOL, n)

    def begin():
        found, root, leaf, lone = (gb.Vector(kind, n) for kind in (INT64, INT64, INT64, BOOL))
        # root = v (initial values are arbitrary); paths = all, so that the first round runs
        root << vertex
        paths << vertex
        return found, root, leaf, lone

    def body(_, found, root, leaf, lone):
        # lone<mate == v, replace> = true; q<left & lone, replace> = (v, v)
        lone(binary.eq(mate & vertex).new().V, gb.replace) << True
        q(lone.S, gb.replace) << alone
        q(left.S, gb.replace) << q
        found.clear()
        leaf << n
        mates = mate.to_dense()
        loops.repeat(lambda _: search(found, root, leaf, lone, mates), while_=q)
        # paths = leaf<leaf < n>; turned[paths] = their predecessors
        paths << leaf.select(gb.select.valuelt, n)
        ends = gb.Vector.from_coo(paths.to_coo()[1], True, size=n)
        turned(ends.S, gb.replace) << found.apply(binary.band, right=2**HALF - 1)
        loops.repeat(lambda _: turn(found, lone), while_=turned)

    def search(found, root, leaf, lone, mates):
        # t<!found, replace> = q min.first A; found<t> = t
        t = q.vxm(A, gb.semiring.min_first[INT64]).new(mask=~found.S)
        found(t.S) << t
        # searches end at unmatched vertices; others continue from the mates
        q(~lone.S, gb.replace) << t
        ends = gb.Vector(INT64, n)
        ends(lone.S) << t
        loops.unless_empty(ends, lambda: reach(t, ends, root, leaf))
        # q[mate] = (root, mate)
        v = binary.bor(q.apply(binary.band, right=-(2**HALF)).new() & mate).new()
        places, u = v.to_coo()
        q << gb.Vector.from_coo(mates[places], u, size=n, dup_op=binary.min)

    def reach(t, ends, root, leaf):
        # root<t> = t >> 32; leaf[root] min= v at the ends
        root(t.S) << t.apply(binary.bshift, right=-HALF)
        places, _ = ends.to_coo()
        v = gb.Vector.from_coo(root.to_dense()[places], vertex.to_dense()[places], size=n, dup_op=binary.min)
        leaf(binary.min) << v
        # q<leaf[root] == n, replace> = q
        v = gb.Vector(INT64, n)
        v(q.S) << gather_values(leaf, root)
        v << v.select(gb.select.valueeq, n)
        q(v.S, gb.replace) << q

    def turn(found, lone):
        # t[turned] = v; u<t & !lone> = mate, the old mates; mate<turned> = turned; mate<t> = t
        v, u = turned.to_coo()
        t = gb.Vector.from_coo(u, vertex.to_dense()[v], size=n, dup_op=binary.min)
        u = gb.Vector(INT64, n)
        u(t.S) << mate
        u(~lone.S, gb.replace) << u
        mate(turned.S) << turned
        mate(t.S) << t
        # turned[u] = their predecessors
        ends = gb.Vector.from_coo(u.to_coo()[1], True, size=n)
        turned(ends.S, gb.replace) << found.apply(binary.band, right=2**HALF - 1)

    return {"begin": begin, "body": body, "while_": paths, "left": left, "mate": mate, "vertex": vertex}
