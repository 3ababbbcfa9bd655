"""What hangs together: components, the order of what has no cycles, spanning forests."""
