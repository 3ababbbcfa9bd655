"""Graph coloring: few colors such that adjacent vertices differ (parallel greedy, Jones-Plassmann).

Method: the sequential greedy coloring in the order of falling degree (equal ones: random), 32 colors at a time, which
are bits of a word. A vertex takes the lowest color that no neighbour before it has as soon as none of those before it
can still get that color, which is mostly long before all of them are colored. Those that find none of the 32 free
wait for the next 32. Where few vertices have many neighbours, those are done first: nobody looks at vertices before
them until these are done. It needs at most one color more than the highest degree, and mostly far fewer.

State: word holds at each vertex the color that it took, as one of the low 32 bits, or those that it may still get, as
bits of the upper 32; 0 at those that wait or have their color from another word. f = 0 where a vertex is neither
colored nor waits. A row of D has the neighbours that come before.

Input: A with a symmetric structure (each edge stored both ways); values, dtype and self loops do not matter.

Check: neighbours differ; the greedy coloring, vertex by vertex.

Jones, Plassmann: A parallel graph coloring heuristic. SIAM J. on Scientific Computing 14 (1993).
Alabandi, Powers, Burtscher: Increasing the parallelism of graph coloring via shortcutting. PPoPP 2020.
Welsh, Powell: An upper bound for the chromatic number of a graph. The Computer Journal 10 (1967), for the order.
"""

from .. import _check as check
from .._parts import numbers
from .._scores import degrees, drawn

# Where one vertex has so many times the mean of neighbours before it, the first vertices, which these shares of edges
# lead to, are done one part after the other. Edges looked at, over edges (counted): rmat20 32.7, 7.5; rmat16 20.1, 5.1.
# ms on an H200, rmat20: 13.0, with two parts less 7.8, with these 7.6.
UNEVEN, SHARES = 8, (1 / 64, 1 / 16, 1 / 4)
COLORS = 0xFFFFFFFF  # the bits of a word that stand for colors


@check.on_its_device
def coloring(A, *, seed=None, gb=None):
    """A proper coloring of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). seed: int, or None for 0: the same seed gives the
    same colors, on every device and library. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: colors from 0, without gaps.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix,
    seed not an integer).
    """
    gb = check.library(gb)
    check.symmetric(gb, A)
    seed = 0 if seed is None else check.integer("seed", seed)
    loop = check.loop(_choosing, A, gb, seed)
    loop.run()
    return loop.result(loop.state["colors"])


@check.on_its_device
def color_classes(A, *, seed=None, gb=None):
    """The classes of a proper coloring: sets of vertices of which no two are adjacent.

    A: Matrix, n x n, any dtype, symmetric structure (checked). seed: int, or None for 0, as for `coloring`. gb: the
    library, bitblas if None.
    Returns a Matrix, BOOL, k x n for k colors: row c has an entry at each vertex of color c.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix,
    seed not an integer).
    """
    colors = coloring(A, seed=seed, gb=gb)
    gb = check.library(gb)
    color = colors.to_dense(0)
    k = int(color.max()) + 1 if len(color) else 0
    return gb.Matrix.from_coo(color, numbers(len(color), gb), True, nrows=k, ncols=len(color))


def _choosing(A, gb, seed):
    n, binary, INT64, UINT64 = A.nrows, gb.binary, gb.dtypes.INT64, gb.dtypes.UINT64
    # D = A where (degree, random) of the row is below that of the column
    vertex, degree = degrees(A, gb).to_coo()
    s = degree << 32 | drawn(vertex.astype("int64"), seed)
    i, j, _ = A.to_coo(values=False)
    after = s[i] < s[j]
    D = gb.Matrix.from_coo(i[after], j[after], True, nrows=n, ncols=n)
    beside = gb.semiring.register_anonymous(gb.monoid.bor, binary.second)[UINT64]
    band, shift = binary.band[UINT64], binary.bshift[UINT64]
    colors, rest, base = gb.Vector(INT64, n), gb.Vector(gb.dtypes.BOOL, n), gb.Scalar(INT64)
    later, f = gb.Vector(gb.dtypes.BOOL, n), gb.Vector(UINT64, n)
    parts = _parts(s, degrees(D, gb), gb)

    def begin():
        word = gb.Vector(UINT64, n)
        # word = 0; rest = all
        word << 0
        rest << True
        return (word,)

    def body(k, word):
        # later = rest; word = 0; word<later> = all may be; rest = none; base = 32 k - 1
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
            check.repeat(lambda _: take(word), while_=f)

    def take(word):
        # near<f> = D bor.second word; free = the colors that no neighbour before has; bit = the lowest of them, or 0
        near = D.mxv(word, beside).new(mask=f.S)
        near << binary.bor[UINT64](near | f)
        free = near.apply(binary.bxor[UINT64], right=COLORS).new().apply(band, right=COLORS).new()
        bit = band(free & free.apply(gb.unary.ainv[UINT64]).new()).new()
        # open = a neighbour before may still get it
        open_ = band(bit & near.apply(shift, right=-32).new()).new().select(gb.select.valuene, 0).new()
        # colors<bit> = base + the number of the bit; word = bit, or those that are free; rest<bit == 0> = true
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
    """The vertices from the largest s on, in parts, each a Vector of 0 at its own. before: how many neighbours are."""
    n, order, (_, before) = before.size, (-s).argsort(), before.to_coo()
    edges = before[order].cumsum()
    uneven = n and int(before.max()) * n > UNEVEN * int(edges[-1])
    ends = [*(int((edges <= edges[-1] * share).sum()) for share in SHARES if uneven), n]
    parts = [order[i:j] for i, j in zip([0, *ends], ends)]
    return [gb.Vector.from_coo(part, 0, gb.dtypes.UINT64, size=n) for part in parts]
