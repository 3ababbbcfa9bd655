"""GPU executor of loops: bind memory, capture launches as a CUDA graph, run it."""
