"""Constants shared by CPU kernels and their callers."""

from __future__ import annotations

OTHERS = 1  # return code: the arguments have other types; nothing ran
NO_MEMORY = 2  # return code: a scratch array could not be allocated
