"""Loops that stay on the device: `repeat(body, while_=v)`, and `Program`, which is captured once and run often. Inside
a body, both are nested loops, and `if_(condition, then, else_)` replaces Python's `if`.
"""

from .program import Program, at_once, holds_matrix, if_, repeat
from .stack import Stack

__all__ = ["Program", "Stack", "at_once", "holds_matrix", "if_", "repeat"]
