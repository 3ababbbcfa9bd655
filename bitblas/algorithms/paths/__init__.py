"""How far, and which way: searches, shortest paths, what is within reach."""
