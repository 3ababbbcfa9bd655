"""Sets of vertices or edges without conflicts: independent sets, colors, sides, matchings."""
