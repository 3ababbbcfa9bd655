"""The list of all algorithms as a page: python -m bitblas.algorithms > docs/algorithms.md."""

from ._catalog import page

print(page(), end="")
