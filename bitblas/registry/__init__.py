"""Kernels that are compiled ahead of time: the CPU's for packages and caches, and a check of the CUDA kernels."""
