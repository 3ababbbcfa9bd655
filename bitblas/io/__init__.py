"""Read and write graphs and matrices: files, tables, and objects of other libraries.

Files: Matrix Market, edge lists, NPZ, Binsparse, METIS, DIMACS, WebGraph, Parquet and bitblas' own format. Tables:
pandas, polars, Arrow.
Libraries: scipy.sparse, python-graphblas, NetworkX, igraph. Each is imported by the functions that need it.

Vertices count from 0 here, and from 1 in Matrix Market files. Every fault of a file raises one exception that names the
file and, in a text file, the line.
"""

from ..atomic import replacing
from ..graph import Graph
from .binsparse import from_binsparse, read_binsparse, write_binsparse
from .build import host_coo
from .edgelist import read_edgelist, read_sif, write_edgelist
from .file_formats import FILE_FORMATS, file_format_of, read, write
from .libraries import (
    from_graphblas,
    from_igraph,
    from_networkx,
    from_scipy_sparse,
    to_graphblas,
    to_igraph,
    to_networkx,
    to_scipy_sparse,
)
from .matrixmarket import mmread, mmwrite
from .npz import read_npz, write_npz
from .partitioning import read_dimacs, read_metis, write_metis
from .tables import from_table, read_parquet, to_arrow, to_pandas, to_polars, write_parquet
from .webgraph import read_webgraph

__all__ = [
    "FILE_FORMATS",
    "Graph",
    "file_format_of",
    "from_binsparse",
    "from_graphblas",
    "from_igraph",
    "from_networkx",
    "from_scipy_sparse",
    "from_table",
    "host_coo",
    "mmread",
    "mmwrite",
    "read",
    "read_binsparse",
    "read_dimacs",
    "read_edgelist",
    "read_metis",
    "read_npz",
    "read_parquet",
    "read_sif",
    "read_webgraph",
    "replacing",
    "to_arrow",
    "to_graphblas",
    "to_igraph",
    "to_networkx",
    "to_pandas",
    "to_polars",
    "to_scipy_sparse",
    "write",
    "write_binsparse",
    "write_edgelist",
    "write_metis",
    "write_npz",
    "write_parquet",
]
