"""The loop condition, rounds per run of the body, and nested loops inside a round.

Frontiers of a nested loop rotate buffers as those of any loop do, and are moved back to the first buffer before the
round continues.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from semirings.cached import cached_property

from ... import tuning
from ...kernels.variant import Variant
from ..buffers import BUFFERS, DENSE, ROUNDS, STATE, Argument, Launch
from ..fuse import Between, Inner, Item, Line, Pass, Pull, Round, Step
from ..ir import Elementwise, MultivectorProduct, Statement, Vec
from ..symbolic.context import NO_LIMIT
from .advance import compaction

if TYPE_CHECKING:
    from ...typing import Array
    from .build import Build

# ---- The loop condition: whether a body runs first and again, with the small rounds before and after it.


def start(build: Build, handle: int) -> list[Launch]:
    """The launches before the loop: small rounds, then whether the body is needed. If rows have very different lengths,
    a first run of the body instead: most searches end in it, and a while node costs more. handle: of the condition."""
    later = build.small.later and build.outer
    return [*build.launches, *finish(build, handle)] if later else _small(build, handle, follows=False)


def finish(build: Build, handle: int) -> list[Launch]:
    """The launches that end a run of the body, followed by small rounds."""
    state, which = build.condition_at(0)
    args = (
        np.int64(len(build.memory)),
        build.sources,
        build.memory,
        build.number(state, which),
        build.rounds,
        np.int64(build.copies),
        build.outermost,
        np.uint64(handle),
        build.going,
        *build.ends.args,
        *build.report_arguments,
        np.int64(not (build.outer and build.small.launches)),
    )
    return [build.launcher(Variant("loop/gpu/finish"), 1, args), *_small(build, handle, follows=True)]


def _small(build: Build, handle: int, *, follows: bool) -> list[Launch]:
    """Small rounds; those of a nested loop are inside its body, because the loop may not begin at all. follows: whether
    they follow the end of a body."""
    if not build.outer or not build.small.launches:
        return []
    condition = build.number(*build.condition_at(0))
    around = condition, condition, build.rounds, np.int64(0), build.outermost
    args = np.int64(1), *around, np.uint64(handle), build.going, *build.report_arguments, np.int64(follows)
    return [*build.small.launches, build.launcher(Variant("loop/gpu/enter"), 1, args)]


# ---- Nested loops inside a round: the launches that the enclosing build adds. Their frontiers rotate buffers as those
# of any loop do, and are moved back to the first buffer before the round continues.


def rounds_per_run(
    round_: Round,
    captures: bool,
    limit: int = NO_LIMIT,
    *,
    skewed: bool,
    inside: bool = False,
    opened: Callable[[Pull], bool] = lambda item: False,
) -> int:
    """Rounds per run of the body. Products by rows cannot be skipped, except those of listed rows (`opened`), so that
    few of them may run in vain; nor can nested loops or exchanges between ranks. If the host makes the launches, a loop
    costs nothing extra."""
    rotates = any(isinstance(item, Step) for item in round_.items)
    last = [x for x in round_.items if isinstance(x, (Inner, Between)) or (isinstance(x, Pull) and not opened(x))]
    if not captures or last:
        brief = captures and not inside and all(map(_is_brief, last))
        return BUFFERS if rotates else tuning.count("loop.rounds_pulled") if brief else 1
    if inside and all(isinstance(item, Pass) for item in round_.items):
        copies = tuning.count("loop.rounds_nested")
    elif skewed:
        soon = _is_soon_over(round_.items)
        copies = tuning.count("loop.rounds_dense") if soon else tuning.count("loop.rounds_skewed")
    else:
        copies = tuning.count("loop.rounds")
    copies = min(copies // max(1, len(round_.items) // 2), limit + BUFFERS - 1)
    return copies // BUFFERS * BUFFERS or BUFFERS


def _is_soon_over(items: Sequence[Item]) -> bool:
    """Whether a round is that of a search in which two edges may reach about as many vertices as there are."""
    if len(items) != 1 or not isinstance(items[0], Step):
        return False
    A = items[0].product.matrix
    return bool(A.nvals**2 >= A.nrows**3)


def _is_brief(item: Item) -> bool:
    return (
        isinstance(item, Pull)
        and not isinstance(item.product, MultivectorProduct)
        and item.product.matrix.nvals <= tuning.count("loop.pulled_entries")
    )


def first_launches(build: Build) -> list[Launch]:
    """The launches before the first round: the worklists of the first frontiers, the count of the condition."""
    condition, known = build.condition, build.round.entering

    def state(x: Vec) -> int:
        found = build.first[x] + 1 if x in build.first else build.remaining
        assert found is not None
        return found

    launches: list[Launch] = [compaction(build, x, product, state(x)) for x, product in known.items()]
    if isinstance(condition, Vec) and condition not in known:
        launches.append(compaction(build, condition, None, build.condition_at(0)[0]))
    elif isinstance(condition, Vec) and build.remaining is not None and condition in build.first:
        launches.append(compaction(build, condition, None, build.remaining))
    return launches


def initial_numbers(build: Build, limit: int) -> Array:
    """The initial states and rounds of a run."""
    numbers = np.zeros(len(build.numbers), np.uint64)
    # DENSE marks frontiers all of whose cells must be cleared, because worklists contain only entries.
    numbers[[(build.first[x] + 1) * STATE + DENSE for x in build.cells]] = 1
    numbers[len(numbers) - ROUNDS + 1] = limit
    return build.device.asarray(numbers)


class NestedLaunch(ABC):
    """A loop inside a capture; called as a launch, it is run by the host."""

    build: Build  # whose memory has its condition
    leave: list[Launch]  # after the loop

    @abstractmethod
    def enter(self, handle: int) -> list[Launch]:
        """The launches before the loop; they set its condition, given by its handle."""

    @abstractmethod
    def body(self, handle: int) -> list[Launch]:
        """The launches of a run of the body, which end with whether there is another one."""

    @cached_property
    def by_host(self) -> tuple[list[Launch], list[Launch]]:
        """The launches before the loop, and of a run of its body."""
        return self.enter(0), self.body(0)

    def __call__(self) -> None:
        enter, body = self.by_host
        for launch in enter:
            launch()
        while self.build.device.to_host(self.build.going)[0]:
            for launch in body:
                launch()
        for launch in self.leave:
            launch()


class NestedLoopLaunch(NestedLaunch):
    """The launches of a nested loop inside a round."""

    def __init__(self, build: Build, item: Inner, head: tuple[Argument, ...]) -> None:
        """head: of a launch of the enclosing round."""
        self.text = item.text
        self.build, self.head, self.first = build, head, initial_numbers(build, item.limit)
        self.rotating = {x: count for x, count in build.advances_of.items() if count}
        self._entering = first_launches(build)
        if not isinstance(build.condition, Vec):
            same = Statement(build.condition, Elementwise(0, None, build.condition))
            self._entering.append(build.passes(Pass([same], build.condition), -1, once=True))
        self.leave = [launch for x in self.rotating for launch in self._copies_back(x)]

    @property
    def lines(self) -> list[Line]:
        """The lines of `explain`."""
        times = "" if self.build.copies == 1 else f"{self.build.copies} rounds per run"
        return [Line("block", (self.text,), times), *(x._replace(kind=f"  {x.kind}") for x in self.build.lines)]

    def enter(self, handle: int) -> list[Launch]:
        return [self._reset, *self._entering, self._decide(handle)]

    def body(self, handle: int) -> list[Launch]:
        return [*self.build.launches, *finish(self.build, handle)]

    def _reset(self) -> None:
        build = self.build
        build.numbers[...] = self.first
        for x in self.rotating:
            for bits in build.buffers[x].bits[1:]:
                bits.fill(0)
        for x, first in build.cells.items():
            for cells in build.buffers[x].values[1:]:
                cells.fill(first)

    def _decide(self, handle: int) -> Launch:
        build = self.build
        condition = build.number(*build.condition_at(0))
        around = condition, *self.head, build.ends.before
        args = np.int64(1), *around, np.uint64(handle), build.going, *build.report_arguments, np.int64(0)
        return build.launcher(Variant("loop/gpu/enter"), 1, args)

    def _copies_back(self, x: Vec) -> list[Launch]:
        """Copy a vector from the buffer in which the last round left it to the first one."""
        build, launches = self.build, []
        for arrays in (build.buffers[x].bits, build.buffers[x].values):
            if arrays:
                words = [a.view(np.uint32) for a in arrays]
                n = np.int64(len(words[0]))
                args = n, n, build.rounds, np.int64(self.rotating[x]), *words
                settle = Variant("loop/gpu/settle", (), (("LANES", 1),))
                launches.append(build.launcher(settle, build.grid(int(n)), args))
        return launches
