"""`python -m bitblas` runs the command `bitblas`."""

import sys

from .cli import main

sys.exit(main())
