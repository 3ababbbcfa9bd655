"""Random parts of a graph, the same for the same seed: walks."""
