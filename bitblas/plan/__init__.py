"""The planner: pure functions from facts about the operands to a frozen, printable decision. Kernels decide nothing."""
