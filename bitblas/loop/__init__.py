"""Loops that stay on the device: `repeat(body, while_=v)`, and `Program`, which is captured once and run often."""

from .host.turn import at_once
from .program import Program, repeat

__all__ = ["Program", "at_once", "repeat"]
