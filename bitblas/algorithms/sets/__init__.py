"""Independent sets, colorings, bipartition and matchings."""
