"""What kernels of the CPU and those who call them agree on."""

from __future__ import annotations

OTHERS = 1  # a call gives: the arguments have other types; nothing has run
NO_MEMORY = 2  # there was none for a scratch array
