"""Compare bitblas with SuiteSparse:GraphBLAS: same programs, same graph; results, times and bytes."""
