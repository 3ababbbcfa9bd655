"""A statement, C(mask, accum, replace) << expr: masks, delayed expressions, indices, and where they enter."""
