"""The CPU's back end of the loop compiler: rounds as a table of kernels that machine code walks through."""
