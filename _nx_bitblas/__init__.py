"""What NetworkX reads of the backend while it is imported itself: plain data, a package of its own, since `import
networkx` must not import bitblas, nor anything else."""
