"""Random walks: uniform steps, or steps in proportion to edge weights (DeepWalk).

Method: the edges of a row are consecutive entries of A. A random number selects one of them, for all walks at once;
with weights it selects by their running sum. For very large graphs in host memory only the rows of the current vertices
are extracted in each step. Random numbers are hashes of walk, step and seed: the same on every device and library.

State: at[k] is the vertex of walk k, an array; -1 after its end at a vertex without an out-edge.

Input: any square A. A stored entry A[i, j] is the edge i -> j; values are used only if weighted.

Check: every step is an edge; shares by weight; the same walks from both libraries.

Perozzi, Al-Rfou, Skiena: DeepWalk, online learning of social representations. KDD 2014.
Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3. SC 2011, for numbers by counters.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import degrees, index_range, prefers_row_extraction, random_hash


@algorithm(answer="walks", arrays=(16, 8), work="sources")
def random_walks(A, starts, length, *, weighted=False, seed=None, gb=None):
    """A random walk from each of the vertices in `starts`.

    A: Matrix, n x n, any dtype. starts: vertices, one per walk. length: int >= 1, steps. weighted: bool, take edges in
    proportion to their values (0 or more); else uniformly. seed: int, or None for 0: the same seed gives the same
    walks. gb: the library, bitblas if None.
    Returns a Matrix, INT64, len(starts) x (length + 1): a row holds the vertices of a walk, the start first; it ends
    early at a vertex without an out-edge, or without one of weight above 0.
    Raises InvalidValue (length below 1, a weight out of range), DimensionMismatch (A not square), IndexOutOfBound (a
    start out of range), TypeError (wrong types).
    """
    n = A.nrows
    starts = check.vertices(gb, "starts", starts, n)
    length = check.count(gb, "length", length, "a walk has one step or more")
    seed = 0 if seed is None else check.integer("seed", seed)
    steps = (Near if prefers_row_extraction(A, tuning.count("walks.edges") * length) else Steps)(A, weighted, gb)
    work = loops.shared_work()
    own, size = work.part(range(len(starts))), len(starts)
    at = gb.Vector.from_coo(index_range(size, gb), starts, gb.dtypes.INT64, size=size).to_dense(0)[own.start : own.stop]
    places, chances = [at], chance(draws(own, length, seed, gb))
    for random in chances:
        here, k = steps.here(at)
        if not len(here.j):
            break
        # at = the drawn neighbour if an edge exists, else -1
        going = (at >= 0) & (here.d[k] > 0)
        at = going * (here.next_vertices(k, random) + 1) - 1
        places.append(at)
        loops.report(total=length)
    return work.stacked(table(places, length, gb))


def draws(walks, length, seed, gb):
    """Hashes of walk (a range of numbers), seed and step: an INT64 array with a row for each step from 1 on."""
    size = len(walks)
    check.default_memory(gb, f"random walks: draws of {size} walks of {length} steps", 48 * size * length)
    k = index_range(size * length, gb)
    return random_hash(k % max(1, size) + walks.start, seed, k // max(1, size) + 1).reshape(length, size)


def chance(drawn):
    """Hashes as numbers in (0, 1)."""
    return (drawn + 0.5) / 2**32


class Steps:
    """All edges of A, to draw steps from: d edges leave a vertex; edge k leads to j[k], from rows[k] if rows are
    requested.
    """

    def __init__(self, A, weighted, gb, rows=False):
        self.weighted = check.flag("weighted", weighted)
        if weighted:
            check.weights(gb, A)
            A = A.select(gb.select.valuegt, 0).new() if A.dtype != gb.dtypes.BOOL else A
        # row v has the entries first[v] .. first[v] + d[v] - 1; sums[k] = the weights up to entry k
        i, j, w = A.to_coo(rows=rows, values=self.weighted)
        self.rows, self.j, self.d = i.view("int64") if rows else None, j.view("int64"), degrees(A, gb)
        self.first = self.d.cumsum() - self.d
        if self.weighted:
            self.w = w.astype("float64")
            self.sums = self.w.cumsum()

    def here(self, at):
        """The steps from the vertices `at`, and the numbers of these vertices there."""
        return self, at

    def next_vertices(self, at, random):
        """The next vertex of each walk at `at`, by its random number in (0, 1); arbitrary if no edge leaves."""
        first, d = self.first[at], self.d[at]
        if not self.weighted:
            return self.j[(first + (random * d).astype("int64")).clip(0, len(self.j) - 1)]
        first, end = first.clip(0, len(self.j) - 1), (first + d - 1).clip(0)
        low = self.sums[first] - self.w[first]
        k = self.sums.searchsorted(low + random * (self.sums[end] - low), side="right").clip(first, end)
        return self.j[k]


class Near:
    """Like Steps, for a graph whose rows are extracted on demand."""

    def __init__(self, A, weighted, gb):
        self.A, self.weighted, self.gb = A, check.flag("weighted", weighted), gb
        if weighted:
            check.weights(gb, A)

    def here(self, at):
        # the rows of the current vertices; row 0 for ended walks
        v, _ = self.gb.Vector.from_coo(at.clip(0), True, size=self.A.nrows).to_coo(values=False)
        return Steps(self.A[v, :].new(), self.weighted, self.gb), v.view("int64").searchsorted(at.clip(0))


def table(places, length, gb):
    """The Matrix of walks from their vertices after each step, -1 after the end."""
    n, size = length + 1, len(places[0])
    place = index_range(size * n, gb) * 0 - 1  # row by row in one array
    for step, at in enumerate(places):
        place[step::n] = at
    (k,) = (place >= 0).nonzero()
    return gb.Matrix.from_coo(k // n, k % n, place[k], gb.dtypes.INT64, nrows=size, ncols=n)
