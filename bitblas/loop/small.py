"""Small rounds inside one cluster: the kernel that runs a body round after round while its frontier is small.

It stands before the rounds of the captured body and hands the frontier over to them, as kernels/rounds.cuh says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kernels.prologue import Variant
from .along import Along
from .buffers import BUFFERS
from .fuse import Round, Step
from .ir import Scal, Statement, Vec
from .operands import launchable
from .passes import entry_text
from .pointwise import Parameter, macro
from .steps import SEGMENT_ENTRIES

# A frontier leaves the cluster when it has more units, or more entries of the matrix in them, and comes back with half
# of that. Measured on an H200 with prototypes: a round of 30 000 entries takes 5 us there, and as long on the grid.
MOST_UNITS = 8192
MOST_WORK = 1 << 16
MAX_LANES = 16


class Small(NamedTuple):
    """The launch of small rounds; none: why not."""

    launches: list[Callable[[], None]]
    text: str


def refusal(round_: Round, condition: Vec | Scal) -> str:
    """Why no cluster runs the rounds of a body; empty where one can."""
    steps = [item for item in round_.items if isinstance(item, Step)]
    if len(round_.items) != 1 or len(steps) != 1:
        return "a round is more than one step"
    (step,) = steps
    if step.target != step.product.u or step.target != condition:
        return "the step does not write the frontier that it reads, by which the loop goes on"
    if step.mask is not None and step.mask.vec == step.target:
        return "the step's mask is its own frontier"
    return ""


def small_rounds(build: Any) -> Small:
    """The launch for the body of a build, bound to its memory."""
    cluster, why = build.device.cluster, refusal(build.round, build.condition)
    if cluster is None:
        why = "the device has no thread-block clusters"
    if why:
        return Small([], f"small rounds run as others do: {why}")
    (item,) = build.round.items
    along, u = Along.of(build, item), build.buffers[item.product.u]
    variant, parameters = rounds_variant(
        along.variant(item, entry_text((), item.product.u, build.iso)), item.before, item.product.u, build.iso, cluster,
        lanes_of(along.form.work, along.form.units),
    )  # fmt: skip
    state = build.first[item.target]
    args = (
        np.int64(along.form.units), np.int64(item.product.outer), np.int64(SEGMENT_ENTRIES), np.uint64(MOST_UNITS),
        np.uint64(MOST_WORK), build.rounds, build.number(state + 1), build.number(state), *u.bits,
        *(build.cells_at(u, k, along.kind) for k in range(BUFFERS)),
        u.lists[0], u.lists[1], u.lists[2], u.segments[0], *launchable(build.mask(item.mask)), *along.matrix(build.device),
        *build.resolve(parameters),
    )  # fmt: skip
    launch = build.launcher(variant, cluster.blocks, args, cluster.threads)
    return Small([launch], f"while the frontier is small, rounds run in one cluster: {variant}")


def lanes_of(work: int, units: int) -> int:
    """Lanes for a row or tile row with that many entries or tiles on average: there are fewer threads than on the grid."""
    return next((lanes for lanes in (4, 8) if lanes * units >= work), MAX_LANES)


def rounds_variant(
    step: Variant, before: Sequence[Statement], u: Vec, iso: Any, cluster: Any, lanes: int
) -> tuple[Variant, tuple[Parameter, ...]]:
    """The kernel for a step and the statements that go along, and the parameters of these. The frontier, whose buffers
    turn inside the kernel, is none of them."""
    text, at_entry = entry_text(before, u, iso)
    turning = [p for p in text.parameters if p.key[0] in ("bits", "val") and p.key[1] == u.id]
    others = tuple(p for p in text.parameters if p not in turning)
    names = [f"#define x{u.id}_{p.key[0]} {'b.bits' if p.key[0] == 'bits' else 'b.val'}" for p in turning]
    lines = [macro("PARAMETERS", [f", {p.declaration}" for p in others]), *names, at_entry]
    constants = {**dict(step.constants), "LANES": lanes, "PULLS": 0}
    constants |= {"PLACES": 0, "CLUSTER": cluster.blocks, "THREADS": cluster.threads, "QUEUE_BYTES": cluster.queue_bytes}
    variant = dataclasses.replace(
        step, kernel=step.kernel.rpartition("/")[0] + "/rounds", constants=tuple(constants.items()),
        functions=(*step.functions, *text.functions), text="\n".join(lines) + "\n",
        label=f"{step.label}{' with statements' if before else ''}",
    )  # fmt: skip
    return variant, others
