"""Several GPUs, several machines: the same programs, matrices and vectors in shares. docs/scale.md."""
from .start import init, current
