"""Which vertices belong together: communities, and how good a division into them is."""
