"""Components, strong components, topological order, spanning forests."""
