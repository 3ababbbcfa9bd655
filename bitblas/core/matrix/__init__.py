"""Matrix and TransposedMatrix: one module for each thing that is done with a matrix."""
