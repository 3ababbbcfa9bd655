"""A graph of which the plain rows are not allowed. Run with: python examples/larger_than_its_rows.py

`config.memory_limit` stands for a machine that is too small. The edges are never all there: they are drawn block after
block, as often as somebody asks. `Matrix.from_chunks` makes a form of them that fits, band of rows by band of rows, and
symmetric=True has it checked that each edge is there both ways, so that nothing ever wants a transpose.
"""

import numpy as np

import bitblas as gb
from bitblas.algorithms import bfs_levels, connected_components

VERTICES, BLOCKS, EDGES = 1 << 17, 40, 1 << 15  # edges of a block


class Ring:
    """Edges between vertices that are mostly near each other, on a ring."""

    shape = (VERTICES, VERTICES)

    def __iter__(self):
        for block in range(BLOCKS):
            rng = np.random.default_rng(block)
            i = rng.integers(0, VERTICES, EDGES)
            j = (i + 1 + (64 / rng.random(EDGES) ** 0.7).astype(np.int64)) % VERTICES
            yield i, j
            yield j, i


def main():
    with gb.config.set(device="cpu"):
        plain = 4 * 2 * BLOCKS * EDGES  # bytes of the columns alone
        with gb.config.set(memory_limit=plain):
            try:
                gb.Matrix.from_chunks(Ring(), symmetric=True, format="csr")
            except gb.exceptions.OutOfMemory as error:
                print(f"plain rows: {error}")
            A = gb.Matrix.from_chunks(Ring(), symmetric=True)
            print(f"{A.nvals} entries in {A.memory().structure} bytes as {A.format}; their columns alone are {plain}")
            levels, labels = bfs_levels(A, 0), connected_components(A)
            print(f"{levels.nvals} vertices within {levels.reduce(gb.monoid.max).value} edges of the first one")
            print(f"{len(np.unique(labels.to_coo()[1]))} components")
            assert A.memory().structure < plain


if __name__ == "__main__":
    main()
