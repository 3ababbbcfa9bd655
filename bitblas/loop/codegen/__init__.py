"""Fusion and code generation: pure functions from the statements of a body to the kernels of a round and their text."""
