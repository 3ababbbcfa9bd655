"""Which vertices matter: a number for each, by the walks or the shortest paths that lead there."""
