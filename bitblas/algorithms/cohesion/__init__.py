"""Local density around vertices and edges: triangles, clustering, squares, cores, trusses."""
