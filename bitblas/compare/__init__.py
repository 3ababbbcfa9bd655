"""bitblas against SuiteSparse:GraphBLAS: the same programs on the same graph, answers, times and bytes."""
