"""Loops that stay on the device: `repeat(body, while_=v)`, and `Program`, which is captured once and run often."""

from .program import Program, repeat

__all__ = ["Program", "repeat"]
