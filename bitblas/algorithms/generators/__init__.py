"""Random graphs and lattices, made on the device, reproducible from a seed."""
