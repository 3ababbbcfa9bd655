"""Coloring: numbers for the vertices, as few as possible, such that neighbours have different ones.

Method: speculative greedy, for 64 colors at a time, which are the bits of a word. In a round every vertex that has no
color yet chooses the lowest one that no neighbour has, and keeps it unless a neighbour that comes before it chose the
same. Vertices come in the order of falling degree (equal ones: random). Those that find none of the 64 free wait for
the next 64. It needs at most one color more than the highest degree, and mostly far fewer: about as many as the
sequential greedy coloring in this order.

State: f holds the colors that the neighbours of a vertex have, as bits, UINT64; no entry stands for "has a color, or
waits". A row of D has those neighbours that come before. choice is 0 at vertices without a choice, not missing: full
vectors are multiplied by rows, and here these are few and short, however many neighbours come after.

Input: A with a symmetric structure (each edge stored both ways); values, dtype and self loops do not matter.

Check: neighbours differ; the same rounds, vertex by vertex.

Gebremedhin, Manne: Scalable parallel graph coloring algorithms. Concurrency: Practice and Experience 12 (2000).
Welsh, Powell: An upper bound for the chromatic number of a graph. The Computer Journal 10 (1967), for the order.
"""

from .. import _check as check
from .._parts import numbers
from .._scores import degrees, drawn


@check.on_its_device
def coloring(A, *, seed=None, gb=None):
    """A proper coloring of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). seed: int, or None for 0: the same seed gives the
    same colors, on every device and library. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: colors from 0, without gaps.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library, seed no integer).
    """
    gb = check.library(gb)
    check.square(gb, A)
    seed = 0 if seed is None else check.integer("seed", seed)
    loop = check.loop(_choosing, A, gb, seed)
    loop.run()
    return loop.result(loop.state["colors"])


@check.on_its_device
def color_classes(A, *, seed=None, gb=None):
    """The classes of a proper coloring: sets of vertices of which no two are adjacent.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). seed: int, or None for 0, as for `coloring`. gb: the
    library, bitblas if None.
    Returns a Matrix, BOOL, k x n for k colors: row c has an entry at each vertex of color c.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library, seed no integer).
    """
    colors = coloring(A, seed=seed, gb=gb)
    gb = check.library(gb)
    color = colors.to_dense(0)
    k = int(color.max()) + 1 if len(color) else 0
    return gb.Matrix.from_coo(color, numbers(len(color), gb), True, nrows=k, ncols=len(color))


def _choosing(A, gb, seed):
    n, binary, UINT64 = A.nrows, gb.binary, gb.dtypes.UINT64
    # D = A where (degree, random) of the row is below that of the column
    vertex, degree = degrees(A, gb).to_coo()
    s = degree << 32 | drawn(vertex.astype("int64"), seed)
    i, j, _ = A.to_coo(values=False)
    up = s[i] < s[j]
    D = check.ordered_as(A, gb.Matrix.from_coo(i[up], j[up], True, nrows=n, ncols=n))
    beside = gb.semiring.register_anonymous(gb.monoid.bor, gb.binary.second)[UINT64]
    colors, rest, base = gb.Vector(gb.dtypes.INT64, n), gb.Vector(gb.dtypes.BOOL, n), gb.Scalar(gb.dtypes.INT64)
    f = gb.Vector(UINT64, n)

    def begin():
        choice = gb.Vector(UINT64, n)
        choice << 0
        rest << True
        return (choice,)

    def body(k, choice):
        # f<rest, replace> = 0; rest = none; base = 64 k - 1
        f(rest.S, gb.replace) << 0
        rest.clear()
        base << k
        base << base.apply(binary.times, right=64)
        base << base.apply(binary.minus, right=1)
        choose(choice)
        check.repeat(lambda _: keep(choice), while_=f)

    def choose(choice):
        # choice<f> = ~f & (f + 1), the lowest bit that is free, 0 where none is: then the vertex waits
        bit = binary.band(f.apply(gb.unary.bnot).new() & f.apply(binary.plus[UINT64], right=1).new()).new()
        choice << 0
        choice(bit.S) << bit
        waits = bit.select(gb.select.valueeq, 0).new()
        rest(waits.S) << True
        f(~waits.S, gb.replace) << f

    def keep(choice):
        # near<f, replace> = D bor.second choice; fresh<f, replace> = choice where near has other bits
        near = D.mxv(choice, beside).new(mask=f.S)
        lost = binary.band(near & choice).new().select(gb.select.valuene, 0).new()
        fresh = choice.dup(mask=f.S)
        fresh(~lost.S, gb.replace) << fresh
        # colors<fresh> = base + the number of the bit
        colors(fresh.S) << fresh.apply(gb.unary.ss.frexpe[gb.dtypes.FP64]).new().apply(binary.plus, right=base)
        # f<lost, replace> = f bor (A bor.second fresh)
        taken = A.mxv(fresh, beside).new(mask=lost.S)
        f(lost.S, gb.replace) << f
        f(binary.bor) << taken
        choose(choice)

    return {"begin": begin, "body": body, "while_": rest, "colors": colors}
