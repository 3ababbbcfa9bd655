"""Matrix and TransposedMatrix, one module per group of methods."""
