"""Benchmarks of bitblas and its peers: SuiteSparse:GraphBLAS on the CPU, cuSPARSE on a GPU. See README.md."""
