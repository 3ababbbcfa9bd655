"""`bitblas run -n 4 program.py`: start a program on several ranks (docs/scale.md)."""

from __future__ import annotations

import argparse

from .source import Fault


def run(args: argparse.Namespace) -> int:
    """The exit code of the first rank that failed, else 0."""
    from ..distributed.launch import run as launch

    if not args.program:
        raise Fault("run: expected a program, as in bitblas run -n 2 program.py")
    return launch(args.ranks, args.program, args.device)
