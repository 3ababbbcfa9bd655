"""Command-line entry point: `python -m bitblas.algorithms > docs/algorithms.md` writes the page of all algorithms."""

from ._catalog import page

print(page(), end="")
