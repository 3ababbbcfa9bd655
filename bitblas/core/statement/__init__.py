"""Statements, C(mask, accum, replace) << expr: masks, delayed expressions, indices, and the call style."""
