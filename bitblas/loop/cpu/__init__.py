"""CPU executor of loops: rounds as a table of kernels, run by machine code."""
