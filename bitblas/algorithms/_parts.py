"""Building blocks on arrays: row degrees, induced subgraphs, edge lists to graphs, renumbering."""

from ._memory import room_here


def degrees(A, gb):
    """The number of entries in each row of A: an array of INT64."""
    ones = gb.Vector.from_scalar(True, A.ncols)
    return A.mxv(ones, gb.semiring.plus_pair[gb.dtypes.INT64]).new().to_dense(0)


def by_rows(A, least):
    """Whether to ask for some rows again and again takes less than to copy all entries once: of a graph in memory of
    the host with more than so many, or a quarter of them where they have to be decoded."""
    device, store = getattr(A, "device", None), getattr(A, "_store", None)  # python-graphblas knows neither
    if device is not None and not device.host_memory:
        return False
    decoded = store is not None and store.structure.primary.format.picks
    return A.nvals > least / (4 if decoded else 1)


def among(A, v, gb):
    """The entries of A, n x n, between vertices that have an entry in v; a Matrix of the same size and dtype."""
    C, (i, _) = gb.Matrix(A.dtype, A.nrows, A.ncols), v.to_coo(values=False)
    # C(i, i) = A(i, i)
    C[i, i] << A[i, i].new()
    return C


def numbers(n, gb):
    """0 to n - 1: an array of INT64."""
    room_here(gb, f"numbers of {n} places", 16 * n)
    return gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new().to_dense().astype("int64")


def undirected(i, j, n, gb):
    """The BOOL Matrix, n x n, of the edges i - j, both ways, without self loops."""
    kept = i != j
    A = gb.Matrix.from_coo(i[kept], j[kept], True, nrows=n, ncols=n)
    A << gb.binary.pair[gb.dtypes.BOOL](A | A.T)
    return A


def numbered(label, gb):
    """The labels as numbers from 0 without gaps, and how many there are."""
    n = len(label)
    there = gb.Vector.from_coo(label, 1, size=n).to_dense(0)
    return (there.cumsum() - 1)[label], int(there.sum())
