"""Compare the planner's choices with measured times, and refit its constants.

A pair of a graph and a verb is right if the chosen format takes at most 1.1 times as long as the fastest format that
may be chosen for time (no more bytes than 32-bit CSR). Times below `cost.floor_us` count as the floor, because they are
those of a launch and do not distinguish formats. One format serves all verbs, so possibly no choice is right for each:
`single` is the ratio of the format that an oracle would choose by the same rule.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bitblas import tuning
from bitblas.calibrate import Sample, fitted
from bitblas.formats import CSR
from bitblas.plan.cost_model import Costs, shipped
from bitblas.plan.format_choice import allowed, best_form, verbs_of, without_facts, worst_ratios

from . import table

RIGHT = 1.1  # largest ratio to the best format of a right choice


class Pair(NamedTuple):
    """One graph and verb. us: measured; ratio: to the best format that may be chosen; of_all: to the best of all."""

    graph: str
    verb: str
    chosen: str
    predicted: float
    us: float
    best: str
    ratio: float
    of_all: float
    single: float


HEADS = ("graph", "verb", "chosen", "predicted us", "us", "best", "ratio", "to all", "single form")


def choice(sample: Sample, costs: Costs, *, iso: bool, kind: str) -> str:
    """The format that the planner chooses for time."""
    seen = sample.facts
    if without_facts(seen.nrows, seen.nvals, "time"):
        return CSR
    return best_form(seen, costs, "time", iso=iso, kind=kind)


def pairs(sample: Sample, costs: Costs, kind: str) -> list[Pair]:
    """The pairs of one graph that were measured."""
    seen, floor, found = sample.facts, tuning.value(f"cost.floor_us.{kind}"), []
    for iso in (True, False):
        verbs = [v for v in verbs_of(iso, seen.nrows == seen.ncols) if f"{CSR} {v}" in sample.us]
        us = {key: {v: sample.us.get(f"{key} {v}", float("inf")) for v in verbs} for key in seen.forms}
        may = {key: us[key] for key in allowed(seen, "time", iso)}
        if not verbs:
            continue
        chosen, worst = choice(sample, costs, iso=iso, kind=kind), worst_ratios(may, floor)
        single = min(worst, key=lambda key: worst[key])
        for verb in verbs:
            time = {key: max(floor, times[verb]) for key, times in us.items()}
            best = min(may, key=lambda key: time[key])
            found.append(
                Pair(
                    sample.name, verb, chosen, costs.predict(seen, chosen, verb), us[chosen][verb], best,
                    time[chosen] / time[best], time[chosen] / min(time.values()), time[single] / time[best],
                )
            )  # fmt: skip
    return found


def share(found: Sequence[Pair], ratio: str = "ratio") -> float:
    """The share of right pairs."""
    return sum(getattr(pair, ratio) <= RIGHT for pair in found) / max(1, len(found))


def summary(found: Sequence[Pair], worst: int = 12) -> str:
    """Shares by verb and overall, and the worst pairs."""
    lines = []
    for verb in (*dict.fromkeys(pair.verb for pair in found), "all"):
        mine = [pair for pair in found if verb in (pair.verb, "all")]
        known = share(mine, "single")
        within = f"within {RIGHT}: {share(mine):.0%}; the best single form: {known:.0%}"
        lines.append(f"{verb:8s} {len(mine):4d} pairs, {within}")
    wrong = sorted((p for p in found if p.ratio > RIGHT), key=lambda p: -p.ratio)[:worst]
    return "\n".join(lines + ([table.table(HEADS, wrong, left=3)] if wrong else []))


def errors(samples: Sequence[Sample], costs: Costs) -> str:
    """Mean and largest relative error of predictions for formats that may be chosen, by format and verb."""
    off: dict[str, list[float]] = {}
    for sample in samples:
        may = allowed(sample.facts, "time", True)
        for name, us in sample.us.items():
            key, verb = name.split()
            if key in may:
                off.setdefault(name, []).append(abs(costs.predict(sample.facts, key, verb) / us - 1))
    rows = [(*name.split(), len(x), 100 * sum(x) / len(x), 100 * max(x)) for name, x in sorted(off.items())]
    return table.table(("form", "verb", "graphs", "mean error %", "largest %"), rows, left=2)


# ---- refit ----


class Measured(NamedTuple):
    """Samples of a device, each with whether it is a graph of `choices`."""

    device: str
    kind: str  # "cpu", "gpu"
    threads: int
    bandwidth: float | None  # None: not measured
    samples: list[tuple[Sample, bool]]


def load(paths: Sequence[str]) -> Measured:
    """Read files of `bitblas calibrate --json` or `choices --json`. ValueError for other files, or for several kinds of
    devices."""
    found, kinds, bandwidth = [], set(), None
    for path in paths:
        try:
            made = json.loads(Path(path).read_text())
            kinds.add((str(made["device"]), "gpu" if made["gpu"] else "cpu", int(made.get("threads", 1))))
            bandwidth = made.get("bandwidth", bandwidth)
            found += [(Sample.from_json(sample), "command" not in made) for sample in made["samples"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: not measured samples ({error!r})") from error
    if len(kinds) != 1:
        raise ValueError(f"expected files of one device, got those of {sorted(kinds)}")
    return Measured(*kinds.pop(), bandwidth, found)


def refit(paths: Sequence[str]) -> tuple[Costs, str, str]:
    """Constants fitted to all samples, the kind of their device, and how well they choose: for the graphs that they
    were fitted to, and for each graph by constants fitted to the others."""
    device, kind, threads, bandwidth, found = load(paths)
    everything = [sample for sample, _ in found]
    graphs = [sample for sample, judged in found if judged] or everything
    bandwidth = bandwidth or shipped(kind).shared(threads).bandwidth
    costs = fitted(everything, device, "shipped", bandwidth, threads).costs
    seen = [pair for sample in graphs for pair in pairs(sample, costs, kind)]
    unseen = []
    for sample in graphs:
        others = fitted([other for other in everything if other.name != sample.name], device, "without one").costs
        if others.us.keys() >= sample.us.keys():
            unseen += pairs(sample, others, kind)
    text = [errors(graphs, costs), "", "fitted to these graphs too", summary(seen), ""]
    return costs, kind, "\n".join([*text, "each graph by constants fitted without it", summary(unseen)])


def ship(costs: Costs, kind: str, path: Path) -> None:
    """Write the constants into the file of bundled ones."""
    made: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    mine = costs.to_json()
    mine["us"] = {name: [float(f"{c:.4g}") for c in constants] for name, constants in mine["us"].items()}
    path.write_text(json.dumps(made | {kind: mine}, indent=0) + "\n")
