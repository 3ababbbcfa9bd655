"""Graph generators: random graphs and lattices, made on the device, reproducible from a seed."""
