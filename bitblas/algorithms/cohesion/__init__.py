"""How dense it is around a vertex or an edge: triangles, squares, cores, trusses."""
