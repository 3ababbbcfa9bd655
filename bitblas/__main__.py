"""`python -m bitblas` is the command `bitblas`."""

import sys

from .cli import main

sys.exit(main())
