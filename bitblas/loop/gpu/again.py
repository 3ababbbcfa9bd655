"""The loop condition: whether a body runs first and again, with the small rounds before and after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels.prologue import Variant

Launch = Callable[[], None]


def start(build: Any, handle: int) -> list[Launch]:
    """The launches before the loop: small rounds, then whether the body is needed. If rows have very different lengths,
    a first run of the body instead: most searches end in it, and a while node costs more. handle: of the condition."""
    later = build.small.later and build.outer
    return [*build.launches, *finish(build, handle)] if later else _small(build, handle, follows=False)


def finish(build: Any, handle: int) -> list[Launch]:
    """The launches that end a run of the body, followed by small rounds."""
    state, which = build.condition_at(0)
    args = (
        np.int64(len(build.memory)), build.sources, build.memory, build.number(state, which), build.rounds,
        np.int64(build.copies), build.outermost, np.uint64(handle), build.going, *build.ends.args, *build.telling,
        np.int64(not (build.outer and build.small.launches)),
    )  # fmt: skip
    return [build.launcher(Variant("loop/gpu/finish"), 1, args), *_small(build, handle, follows=True)]


def _small(build: Any, handle: int, *, follows: bool) -> list[Launch]:
    """Small rounds; those of a nested loop are inside its body, because the loop may not begin at all. follows: whether
    they follow the end of a body."""
    if not build.outer or not build.small.launches:
        return []
    condition = build.number(*build.condition_at(0))
    around = condition, condition, build.rounds, np.int64(0), build.outermost
    args = np.int64(1), *around, np.uint64(handle), build.going, *build.telling, np.int64(follows)
    return [*build.small.launches, build.launcher(Variant("loop/gpu/enter"), 1, args)]
