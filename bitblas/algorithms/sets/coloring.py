"""Graph coloring: few colors such that adjacent vertices differ (parallel greedy, Jones-Plassmann).

Method: the greedy coloring in the order of falling degree (ties random), 32 colors at a time as bits of a word. A
vertex takes the lowest color that no earlier neighbour has, as soon as no earlier neighbour can still get that color,
which is usually long before all of them are colored. Vertices for which none of the 32 colors is free wait for the next
32. If a few vertices have many neighbours, those are colored first, before later vertices read their colors. The result
needs at most one color more than the highest degree, usually far fewer.

State: word holds, for each vertex, the color it took as one of the low 32 bits, or the colors it may still get as bits
of the upper 32; 0 if it waits or has its color from another word. f = 0 at vertices that are neither colored nor
waiting. A row of D holds the earlier neighbours.

Input: A with a symmetric structure (each edge stored both ways); values, dtype and self loops are ignored.

Check: neighbours differ; the greedy coloring, vertex by vertex.

Jones, Plassmann: A parallel graph coloring heuristic. SIAM J. on Scientific Computing 14 (1993).
Alabandi, Powers, Burtscher: Increasing the parallelism of graph coloring via shortcutting. PPoPP 2020.
Welsh, Powell: An upper bound for the chromatic number of a graph. The Computer Journal 10 (1967), for the order.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import degree_vector, index_range, random_hash

COLORS = 0xFFFFFFFF  # the low 32 bits, one per color


@algorithm(graph="undirected", answer="class per vertex")
def coloring(A, *, seed=None, gb=None):
    """A proper coloring of an undirected graph with few colors.

    A: Matrix, n x n, any dtype, symmetric structure (checked). seed: int, or None for 0: the same seed gives the same
    colors on every device and library. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: colors from 0, without gaps.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix, seed not an
    integer).
    """
    seed = 0 if seed is None else check.integer("seed", seed)
    loop = loops.cached_loop(_choosing, A, gb, seed)
    return loop.evaluate("colors", gb)


@algorithm(graph="undirected", answer="vertex sets")
def color_classes(A, *, seed=None, gb=None):
    """The classes of a proper coloring: sets of pairwise non-adjacent vertices.

    A: Matrix, n x n, any dtype, symmetric structure (checked). seed: int, or None for 0, as for `coloring`. gb: the
    library, bitblas if None.
    Returns a Matrix, BOOL, k x n for k colors: row c has an entry at each vertex of color c.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix, seed not an
    integer).
    """
    colors = coloring(A, seed=seed, gb=gb)
    color = colors.to_dense(0)
    k = int(color.max()) + 1 if len(color) else 0
    return gb.Matrix.from_coo(color, index_range(len(color), gb), True, nrows=k, ncols=len(color))


def _choosing(A, gb, seed):
    n, binary, INT64, UINT64 = A.nrows, gb.binary, gb.dtypes.INT64, gb.dtypes.UINT64
    # D = A<s[i] < s[j]>, s = (degree, random)
    vertex, degree = degree_vector(A, gb).to_coo()
    s = degree << 32 | random_hash(vertex.astype("int64"), seed)
    i, j, _ = A.to_coo(values=False)
    after = s[i] < s[j]
    D = gb.Matrix.from_coo(i[after], j[after], True, nrows=n, ncols=n)
    bor_second = gb.semiring.register_anonymous(gb.monoid.bor, binary.second)[UINT64]
    band, shift = binary.band[UINT64], binary.bshift[UINT64]
    colors, rest, base = gb.Vector(INT64, n), gb.Vector(gb.dtypes.BOOL, n), gb.Scalar(INT64)
    later, f = gb.Vector(gb.dtypes.BOOL, n), gb.Vector(UINT64, n)
    parts = _parts(s, degree_vector(D, gb), gb)

    def begin():
        word = gb.Vector(UINT64, n)
        # word = 0; rest = all
        word << 0
        rest << True
        return (word,)

    def body(k, word):
        # later = rest; word = 0; word<later> = COLORS << 32; rest = none; base = 32 k - 1
        later(rest.S, gb.replace) << True
        word << 0
        word(later.S) << COLORS
        word << word.apply(shift, right=32)
        rest.clear()
        base << k
        base << base.apply(binary.times, right=32)
        base << base.apply(binary.minus, right=1)
        for part in parts:
            # f<later, replace> = 0 at the part
            f(later.S, gb.replace) << part
            loops.repeat(lambda _: take(word), while_=f)

    def take(word):
        # near<f> = D bor.second word; free = COLORS & ~near; bit = free & -free, the lowest free color or 0
        near = D.mxv(word, bor_second).new(mask=f.S)
        near << binary.bor[UINT64](near | f)
        free = near.apply(binary.bxor[UINT64], right=COLORS).new().apply(band, right=COLORS).new()
        bit = band(free & free.apply(gb.unary.ainv[UINT64]).new()).new()
        # open<bit & near >> 32 != 0>: an earlier neighbour may still get this color
        open_ = band(bit & near.apply(shift, right=-32).new()).new().select(gb.select.valuene, 0).new()
        # rest<bit == 0> = true; word<bit> = bit, or free << 32 if open; colors<bit> = base + log2(bit) + 1; f<open> = f
        waits = bit.select(gb.select.valueeq, 0).new()
        rest(waits.S) << True
        word(bit.S) << bit
        free(open_.S, gb.replace) << free.apply(shift, right=32)
        word(free.S) << free
        bit(~open_.S, gb.replace) << bit
        bit(~waits.S, gb.replace) << bit
        colors(bit.S) << bit.apply(gb.unary.ss.frexpe[gb.dtypes.FP64]).new().apply(binary.plus, right=base)
        f(open_.S, gb.replace) << f

    return {"begin": begin, "body": body, "while_": rest, "colors": colors}


def _parts(s, before, gb):
    """The vertices in descending order of s, in parts, each a Vector of zeros. before: the number of earlier
    neighbours.
    """
    n, order, (_, before) = before.size, (-s).argsort(), before.to_coo()
    edges = before[order].cumsum()
    shares = [tuning.value(f"coloring.share_{part}") for part in (1, 2, 3)]
    uneven = n and int(before.max()) * n > tuning.value("coloring.skew") * int(edges[-1])
    ends = [*(int((edges <= edges[-1] * share).sum()) for share in shares if uneven), n]
    parts = [order[i:j] for i, j in zip([0, *ends], ends)]
    return [gb.Vector.from_coo(part, 0, gb.dtypes.UINT64, size=n) for part in parts]
