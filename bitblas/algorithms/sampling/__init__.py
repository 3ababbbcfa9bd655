"""Random walks and sampled neighbourhoods, reproducible from a seed."""
