"""Which vertices are alike: a number for each two of them, by the neighbours that they share."""
