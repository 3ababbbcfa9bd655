"""From statements to the kernels of a round, and their text: pure functions."""
