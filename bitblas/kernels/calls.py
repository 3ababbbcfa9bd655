"""Constants shared by CPU kernels and their callers."""

from __future__ import annotations

OTHERS = 1  # a call gives: the arguments have other types; nothing has run
NO_MEMORY = 2  # there was none for a scratch array
