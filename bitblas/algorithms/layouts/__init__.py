"""Where to draw the vertices: positions in a plane, for pictures."""
