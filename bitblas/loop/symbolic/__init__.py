"""Symbolic execution: run a body once on symbolic operands and record its statements as plain data."""
