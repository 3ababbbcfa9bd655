"""Dominating sets: every vertex is a member, or has an edge from a member.

Method: the greedy algorithm, many steps at once. The gain of a vertex is the number of vertices not yet dominated that
it would dominate. A vertex joins if its gain, ties by a random number, exceeds that of every vertex that would dominate
one of the same: such vertices are found by two steps of max.second. The result is that of the sequential algorithm,
which takes the best vertex of all, because no other vertex changes the gain of one that joins.

State: open_ has an entry at each vertex that is not dominated.

Input: any square A; a member dominates itself and the ends of its edges. Values and dtype are ignored.

Check: the sequential algorithm in the same order; NetworkX's is_dominating_set.

Chvatal: A greedy heuristic for the set-covering problem. Mathematics of Operations Research 4 (1979).
Berger, Rompel, Shor: Efficient NC algorithms for set cover with applications to learning and geometry. JCSS 49 (1994).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import MASK, mixed_vector


@algorithm(answer="value per vertex")
def dominating_set(A, *, seed=None, gb=None):
    """A dominating set with few members, by the greedy algorithm: at most 1 + ln(n) times as many as needed.

    A: Matrix, n x n, any dtype; edges are followed in their direction. seed: int, or None for 0, which decides ties:
    the same seed gives the same set on every device and library. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at the members, no entry elsewhere. A vertex without in-edges is a member.
    Raises DimensionMismatch (A not square), TypeError (A is not a Matrix, seed not an integer).
    """
    seed = 0 if seed is None else check.integer("seed", seed)
    loop = loops.cached_loop(_covering, A, gb)
    # seed mod 2^32
    loop.state["seed"] << (seed & MASK)
    return loop.evaluate("members", gb)


def _covering(A, gb):
    n, BOOL, INT64, UINT32, binary = A.nrows, gb.dtypes.BOOL, gb.dtypes.INT64, gb.dtypes.UINT32, gb.binary
    seed = gb.Scalar(UINT32)
    mixed = mixed_vector(gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new(UINT32), gb)
    members, open_, fresh = gb.Vector(BOOL, n), gb.Vector(BOOL, n), gb.Vector(BOOL, n)
    # B = A or I: a vertex dominates itself
    B = binary.pair[BOOL](A | gb.Vector.from_scalar(True, n).diag()).new()

    def begin():
        members.clear()
        open_ << True
        # a random number for each vertex
        return (mixed_vector(mixed.apply(binary.bxor[UINT32], right=seed).new(), gb),)

    def body(_, draw):
        # key = gain in the upper bits, a random number in the lower; gain = B plus.pair open, no entry for 0
        key = B.mxv(open_, gb.semiring.plus_pair[INT64]).new().apply(binary.bshift, right=32).new()
        key << binary.bor[INT64](key & draw)
        # best<open> = B' max.second key; most = B max.second best
        best = B.T.mxv(key, gb.semiring.max_second[INT64]).new(mask=open_.S)
        most = B.mxv(best, gb.semiring.max_second[INT64]).new()
        # fresh<most == key, replace> = true; members<fresh> = true
        fresh(binary.eq(most & key).new().V, gb.replace) << True
        members(fresh.S) << True
        # open<!(B' any.pair fresh), replace> = open
        covered = B.T.mxv(fresh, gb.semiring.any_pair[BOOL]).new()
        open_(~covered.S, gb.replace) << open_

    return {"begin": begin, "body": body, "while_": open_, "members": members, "seed": seed, "matrix": B}
