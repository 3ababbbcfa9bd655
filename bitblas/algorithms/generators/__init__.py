"""Graphs made by rules and by chance, on the device where they are needed; the same for the same seed."""
