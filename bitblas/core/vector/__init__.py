"""Vector: one module for each thing that is done with a vector."""
