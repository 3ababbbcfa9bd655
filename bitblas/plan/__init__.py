"""Pure functions: facts about operands go in, a frozen, printable decision comes out. Kernels decide nothing."""
