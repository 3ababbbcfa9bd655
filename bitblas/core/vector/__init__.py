"""Vector, one module per group of methods."""
