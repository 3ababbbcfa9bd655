"""Building blocks: arrays and edge lists, pointer jumping, random numbers, multi-source breadth-first search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from .. import tuning
from . import _check as check
from . import _loops as loops

if TYPE_CHECKING:
    from ..core import Matrix, Vector
    from ..operations.peeling import EdgeNumbers
    from ..order import Order
    from ..store import MatrixStore
    from ..typing import Array

# ---- Building blocks on arrays: row degrees, induced subgraphs, edge lists to graphs, renumbering, pointer jumping.
#
# Pointer jumping: Shiloach, Vishkin: An O(log n) parallel connectivity algorithm. J. of Algorithms 3 (1982).

# ---- Building blocks on arrays: row degrees, induced subgraphs, edge lists to graphs, renumbering.


def degrees(A: Matrix, gb: ModuleType) -> Array:
    """The number of entries in each row of A: an INT64 array."""
    # d = A plus.pair 1
    ones = gb.Vector.from_scalar(True, A.ncols)
    return A.mxv(ones, gb.semiring.plus_pair[gb.dtypes.INT64]).new().to_dense(0)


def prefers_row_extraction(A: Matrix, least: float) -> bool:
    """Whether extracting rows on demand is cheaper than copying all entries: in host memory with more than `least`
    entries, or a share of that (`walks.decoding`) if the format must be decoded.
    """
    device, store = getattr(A, "device", None), getattr(A, "_store", None)  # both None on python-graphblas
    if device is not None and not device.host_memory:
        return False
    decoded = store is not None and "rows" in store.structure.primary.format.kernels
    return A.nvals > least / (tuning.value("walks.decoding") if decoded else 1)


def induced_subgraph(A: Matrix, v: Vector, gb: ModuleType) -> Matrix:
    """The subgraph of A induced by the entries of v: an n x n Matrix of A's dtype."""
    C, (i, _) = gb.Matrix(A.dtype, A.nrows, A.ncols), v.to_coo(values=False)
    # C(i, i) = A(i, i)
    C[i, i] << A[i, i].new()
    return C


def rows_of(A: Matrix, rows: slice) -> Matrix:
    """These rows, which are consecutive; A itself if they are all."""
    return A if rows.stop - rows.start == A.nrows else A[rows, :].new()


def cost_of_rows(M: Matrix, left: Array, right: Array, gb: ModuleType) -> Array:
    """The cost of each row of a product A B' under the mask M, whose entry (i, j) reads row i of A and row j of B. left
    and right are the row lengths of A and B.
    """
    # cost = d .* left + M plus.second right, d = M plus.pair 1
    near = M.mxv(gb.Vector.from_dense(right), gb.semiring.plus_second[gb.dtypes.INT64]).new().to_dense(0)
    return degrees(M, gb) * left + near + 1


def transposed(A: Matrix, gb: ModuleType) -> Matrix:
    """A' as a Matrix; the transpose of a transposed matrix is one."""
    T = A.T
    return T if isinstance(T, gb.Matrix) else T.new()


def index_range(n: int, gb: ModuleType) -> Array:
    """0 to n - 1: an INT64 array."""
    check.default_memory(gb, f"numbers of {n} places", 16 * n)
    return gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new().to_dense().astype("int64")


def map_matrix(key: Vector, ncols: int, gb: ModuleType) -> Matrix:
    """The matrix with the entry (i, key[i]) for each i: BOOL, key.size x ncols. key: a full Vector of integers from 0
    to ncols - 1.
    """
    made = getattr(key, "_as_map", None)
    if made is not None:
        return made(ncols)
    pointers = index_range(key.size + 1, gb)
    return gb.Matrix.from_csr(pointers, key.to_dense(), True, nrows=key.size, ncols=ncols)


def undirected_graph(i: Array, j: Array, n: int, gb: ModuleType) -> Matrix:
    """The undirected graph of the edges i - j: BOOL, n x n, each edge both ways, without self loops."""
    kept = i != j
    A = gb.Matrix.from_coo(i[kept], j[kept], True, nrows=n, ncols=n)
    # A = A or A'
    A << gb.binary.pair[gb.dtypes.BOOL](A | A.T)
    return A


def renumber(label: Array, gb: ModuleType) -> tuple[Array, int]:
    """The labels renumbered to 0..k-1 in ascending order, and k."""
    n = len(label)
    # number[c] = the count of used labels below c
    there = gb.Vector.from_coo(label, 1, size=n).to_dense(0)
    return (there.cumsum() - 1)[label], int(there.sum())


# ---- Pointer jumping: find the root of each vertex in a forest stored as a parent vector.


def gather_values(p: Vector, f: Vector) -> Vector:
    """p[f] for a full Vector f of indices, which the API takes as an array."""
    return p[f.to_dense()].new()


def roots(p: Vector) -> Vector:
    """The root above each vertex: p = p[p] until nothing changes. The test costs as much as a step, so each test
    follows two.
    """
    while True:
        p = gather_values(p, p)
        shorter = gather_values(p, p)
        if shorter.isequal(p):
            return p
        p = shorter


# ---- Counter-based random numbers: hashes of vertex numbers, identical in every library and on every device.

MASK = 0xFFFFFFFF
# The two rounds of MurmurHash3's 32-bit finalizer, which is a bijection.
ROUNDS = (16, 0x85EBCA6B), (13, 0xC2B2AE35)


def random_hash(x: Array, *keys: Array | int) -> Array:
    """A hash in [0, 2**32) of each integer of x (an INT64 array) and the keys."""
    return hash_more(_mixed(x & MASK), *keys)


def hash_more(x: Array, *keys: Array | int) -> Array:
    """Hash more keys: drawn(x, a, b) is further(drawn(x, a), b). A key is an integer or an array as long as x."""
    for key in keys:
        x = _mixed(x ^ (key & MASK))
    return x


def _mixed(x: Array) -> Array:
    for shift, factor in ROUNDS:
        x = (x ^ x >> shift) * factor & MASK  # overflow only affects bits above the 32 that are kept
    return x ^ x >> 16


def mixed_vector(x: Vector, gb: ModuleType) -> Vector:
    """`_mixed` by GraphBLAS statements, usable in a loop's body, of a Vector of UINT32, whose products wrap: the hash
    of x and a key is mixed(mixed(x) ^ key). Distinct values of x give distinct results.
    """
    binary, UINT32 = gb.binary, gb.dtypes.UINT32
    bxor, times, shift = binary.bxor[UINT32], binary.times[UINT32], binary.bshift[UINT32]
    for down, factor in ROUNDS:
        # x = (x ^ x >> down) * factor mod 2^32
        x = bxor(x & x.apply(shift, right=-down).new()).new().apply(times, right=factor).new()
    # x ^ x >> 16
    return bxor(x & x.apply(shift, right=-16).new()).new()


def degree_vector(A: Matrix, gb: ModuleType) -> Vector:
    """The number of entries of each row: a full Vector of INT64."""
    # d = 0; d += A plus.pair d
    degree = gb.Vector.from_scalar(0, A.nrows, dtype=gb.dtypes.INT64)
    degree(gb.monoid.plus) << A.mxv(degree, gb.semiring.plus_pair[gb.dtypes.INT64])
    return degree


# ---- Multi-source breadth-first search: 64 searches at once, one bit of a 64-bit word per search.
#
# Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo: The more the merrier, efficient multi-source graph
# traversal. PVLDB 8 (2014).

WORD = 64


class MultiSourceSearch:
    """State of the searches. seen: for each vertex the bits of the searches that reached it, UINT64, full; fresh: the
    bits added in the last round.
    """

    def __init__(self, A: Matrix, gb: ModuleType) -> None:
        n, UINT64 = A.nrows, gb.dtypes.UINT64
        self.gb, self.ring = gb, gb.semiring.bor_band[UINT64]
        self.seen, self.fresh, self.next = (gb.Vector(UINT64, n) for _ in range(3))
        self.any, self.depth = gb.Scalar(UINT64), gb.Scalar(gb.dtypes.FP64)
        self.going = gb.Scalar(gb.dtypes.BOOL)
        # B = -1 (all bits set), one value for all entries
        self.B = A.apply(gb.unary.one[UINT64]).new()
        self.B << self.B.apply(gb.unary.ainv)

    def start(self, sources: Sequence[int]) -> None:
        """Begin searches from up to 64 vertices."""
        gb = self.gb
        self.seen << 0
        # seen = 0; seen[sources[k]] |= 1 << k; fresh = seen; depth = 0
        bits = [1 << k for k in range(len(sources))]
        self.seen(gb.binary.bor) << gb.Vector.from_coo(sources, bits, gb.dtypes.UINT64, size=self.seen.size)
        self.fresh << self.seen
        self.depth << 0.0
        self.going << True

    def step(self, back: bool) -> None:
        """One round, along the edges or backwards. Afterwards depth is the distance of the fresh bits."""
        binary, seen, fresh, t = self.gb.binary, self.seen, self.fresh, self.next
        # t = seen or (B' bor.band fresh)
        t << (self.B if back else self.B.T).mxv(fresh, self.ring)
        t(binary.bor) << seen
        # fresh = t xor seen; seen = t
        fresh << binary.bxor(t & seen)
        seen << t
        # depth += 1; going = any(fresh != 0)
        self.depth << self.depth.apply(binary.plus, right=1.0)
        self.any << fresh.reduce(self.gb.monoid.bor)
        self.going << self.any.apply(binary.ne, right=0)


def batches(n: int) -> list[range]:
    """The vertices in ranges of 64."""
    return [range(first, min(n, first + WORD)) for first in range(0, n, WORD)]


def count_bits(x: Vector, t: Vector, gb: ModuleType) -> None:
    """Statements: x = the number of set bits of each word of x; t is scratch space.

    Warren: Hacker's delight. 2002, section 5-1: sums of 2, 4 and 8 neighbouring bits, then of the 8 bytes.
    """
    UINT64, binary = gb.dtypes.UINT64, gb.binary
    band, shift, plus, times = (x[UINT64] for x in (binary.band, binary.bshift, binary.plus, binary.times))
    # x = x - (x >> 1 & 0101..)
    t << x.apply(shift, right=-1)
    t << t.apply(band, right=0x5555555555555555)
    x << binary.minus(x & t)
    # x = (x & 0011..) + (x >> 2 & 0011..)
    t << x.apply(shift, right=-2)
    t << t.apply(band, right=0x3333333333333333)
    x << x.apply(band, right=0x3333333333333333)
    x << plus(x & t)
    # x = x + (x >> 4) & 00001111..
    t << x.apply(shift, right=-4)
    x << plus(x & t)
    x << x.apply(band, right=0x0F0F0F0F0F0F0F0F)
    # x = the sum of the bytes
    x << x.apply(times, right=0x0101010101010101)
    x << x.apply(shift, right=-56)


# ---- Edges and peeling: bitblas counts triangles, and peels vertices or edges, by operations of its own
# (operations/peeling.py), at the cost of the edges that change. A is symmetric. Where `has_peeling(A)` is false,
# algorithms say the same by statements.


def has_peeling(A: Matrix) -> bool:
    """Whether the operations of this section run on A: a matrix of bitblas that is not distributed."""
    return loops.runs_fused(_itself(A))


def _itself(A: Matrix) -> Matrix:
    """The Matrix of a transposed view, which has the same structure."""
    return A if not hasattr(A, "_matrix") else A._matrix


def core_levels(A: Matrix, gb: ModuleType) -> Vector:
    """The core number of each vertex: a full Vector of INT64."""
    from ..operations import peeling

    store = _itself(A)._stored
    return _full(A, _in_user_order(peeling.core_levels(store), store.order), gb)


def triangles_of_vertices(A: Matrix, gb: ModuleType) -> tuple[Array, Array]:
    """The number of triangles that contain each vertex, and the number of its neighbours: INT64 arrays."""
    from ..operations import peeling

    edges, order = loops.cached(_edge_numbers, _itself(A), gb)
    found, degree = peeling.triangles_of_vertices(edges)
    return _in_user_order(found, order), _in_user_order(degree, order)


def triangles_of_edges(A: Matrix, gb: ModuleType) -> Matrix:
    """The number of triangles that contain each edge, both ways: INT64."""
    from ..operations import peeling

    return _of_edges(A, peeling.triangles_of_edges, gb)


def truss_edges(A: Matrix, least: int, gb: ModuleType) -> Matrix:
    """The edges that remain, both ways, if each must be in `least` remaining triangles, with their number: INT64."""
    from ..operations import peeling

    return _of_edges(A, lambda edges: peeling.truss(edges, least), gb)


def truss_levels(A: Matrix, gb: ModuleType) -> Matrix:
    """The truss number of each edge, both ways: INT64."""
    from ..operations import peeling

    return _of_edges(A, peeling.truss_numbers, gb)


def has_one_thread_labels(A: Matrix, threads: int) -> bool:
    """Whether `component_labels` or `strong_labels` runs on A: a matrix of bitblas in host memory, with at most so many
    threads."""
    return has_peeling(A) and A.device.host_memory and A.device.threads <= threads


def reads_plain_rows(A: Matrix) -> bool:
    """Whether plain rows of a matrix of bitblas are soon read."""
    return _itself(A)._store.structure.reads_plain_rows


def component_labels(A: Matrix, gb: ModuleType) -> Vector:
    """The smallest vertex number in the component of each vertex; entries join both ways."""
    from ..operations.strong import connected_components

    return _full(A, connected_components(_itself(A)._stored), gb)


def strong_labels(A: Matrix, gb: ModuleType) -> Vector:
    """The smallest vertex number in the strongly connected component of each vertex."""
    from ..operations.strong import strong_components

    return _full(A, strong_components(_itself(A)._store), gb)


def has_rounds(A: Matrix) -> bool:
    """Whether `more_strong_labels` runs on A: a matrix of bitblas on one GPU, with 32-bit vertex numbers."""
    return has_peeling(A) and A.device.is_simt and A.nrows < 1 << 31


def more_strong_labels(A: Matrix, label: Vector, left: Vector, gb: ModuleType) -> Vector:
    """Labels of all vertices: those of `label`, and the smallest vertex number in the strongly connected component of
    the vertices with an entry in `left`."""
    from ..operations.strong import propagate_priorities

    found = label.to_dense()
    propagate_priorities(_itself(A)._in_users_order, found, left.to_coo()[0])
    return gb.Vector.from_dense(found)


def contracted_strong_labels(A: Matrix, gb: ModuleType) -> Vector:
    """The smallest vertex number in the strongly connected component of each vertex, where `has_rounds`."""
    from ..operations.strong import contract_cycles

    return gb.Vector.from_dense(contract_cycles(_itself(A)._in_users_order))


def _edge_numbers(A: Matrix, gb: ModuleType) -> tuple[EdgeNumbers, Order | None]:
    from ..operations import peeling

    return peeling.number_edges(A._stored), A._stored.order


def _of_edges(A: Matrix, compute: Callable[[EdgeNumbers], MatrixStore], gb: ModuleType) -> Matrix:
    edges, order = loops.cached(_edge_numbers, _itself(A), gb)
    found: Matrix = gb.Matrix._from_store(compute(edges).tagged(order))
    return found


def _full(A: Matrix, values: Array, gb: ModuleType) -> Vector:
    """The full Vector of INT64 values, a new array on A's device, which is not copied."""
    from ..operations.value_arrays import as_vector

    found: Vector = gb.Vector._from_store(as_vector(A.device, values, len(values), shared=False))
    return found


def _in_user_order(values: Array, order: Order | None) -> Array:
    """Values by stored position, by vertex."""
    return values if order is None else values[order.inverse]
