"""How several ranks run an algorithm on a distributed graph: shared work, replicated or partitioned. Pure functions.

    shared        each rank has the graph and takes its part of independent work: sources, or rows of a mask
    replicated    each rank has the graph and runs the whole algorithm, because a round takes less than an exchange
    partitioned   each rank has its rows, and a round exchanges vectors

The predicted times are compared with each other, not with a clock: T(1) is the time of one rank for the entries and
rounds that an algorithm of this kind reads; P ranks divide the entries and add an exchange to each round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from .. import tuning

# The kinds of work of an algorithm. sources: independent searches or walks; rows: a masked product, by rows of its
# mask; search: each entry is read about once, and rounds exchange bits; components: a few rounds that exchange values;
# sweeps: each round reads all entries and exchanges values; "": unknown, with arrays that each rank would need whole.
WorkKind = Literal["", "sources", "rows", "search", "components", "sweeps"]
WORK_KINDS = get_args(WorkKind)
SHARED = ("sources", "rows")
Choice = Literal["shared", "replicated", "partitioned"]
CHOICES = get_args(Choice)


class RankFacts(NamedTuple):
    """Facts that all ranks share. longest: entries of the longest row. nbytes: of the graph on one rank, with its
    transpose unless it is symmetric. free: bytes, of the rank that has the fewest."""

    ranks: int
    on_cpu: bool
    rows: int
    entries: int
    longest: int
    nbytes: int
    free: int


class RankPlan(NamedTuple):
    """A choice and its reason. seconds: predicted for GPUs, by choice; empty for kinds without a prediction."""

    choice: Choice
    reason: str
    seconds: Mapping[str, float]

    def __str__(self) -> str:
        times = ", ".join(f"{name} {1e3 * t:.3g} ms" for name, t in self.seconds.items())
        return f"{self.choice}: {self.reason}" + (f"\npredicted: {times}" if times else "")


def rounds_of(facts: RankFacts, kind: WorkKind) -> float:
    """The estimated number of rounds: a search of a graph whose rows are all short has many levels."""
    if kind in ("search", "components") and facts.longest <= tuning.count("ranks.short_rows"):
        return float(max(1.0, facts.rows**0.5))
    return tuning.value("ranks.sweeps") if kind == "sweeps" else tuning.value("ranks.levels")


def predicted(facts: RankFacts, kind: WorkKind) -> dict[str, float]:
    """The predicted seconds of each choice, for an algorithm of that kind; of one source for `sources`."""
    if kind in ("", "rows"):
        return {}
    searching = "search" if kind == "sources" else kind
    rounds, ranks = rounds_of(facts, searching), facts.ranks
    reads = tuning.value(f"ranks.reads.{searching}") * (rounds if searching == "sweeps" else 1)
    work = reads * facts.entries / tuning.value("ranks.rate")
    sent = facts.rows * tuning.value(f"ranks.bytes.{searching}") * (ranks - 1) / ranks
    one = work + rounds * tuning.value("ranks.round")
    step = tuning.value("ranks.round") + exchange_seconds(ranks)
    parts = work / ranks + rounds * (step + sent / tuning.value("ranks.bandwidth"))
    if kind == "sources":
        return {"shared": one / ranks, "replicated": one, "partitioned": parts}
    return {"replicated": one, "partitioned": parts}


def exchange_seconds(ranks: int) -> float:
    """The seconds that a call between ranks takes without its bytes, with the waits for the slowest rank."""
    return tuning.value("ranks.call") + (ranks - 2) * tuning.value("ranks.call_rank") if ranks > 1 else 0.0


def choose(facts: RankFacts, kind: WorkKind, forced: str = "") -> RankPlan:
    """How ranks run an algorithm of that kind. forced: a choice of the program, "" for none; a choice that the kind
    cannot have counts as none."""
    room = tuning.value("ranks.memory") * facts.nbytes
    fits, seconds = room <= facts.free, {} if facts.on_cpu else predicted(facts, kind)
    bytes_ = f"{facts.nbytes} bytes on each rank"
    if forced in ("replicated", "partitioned") or (forced == "shared" and kind in SHARED):
        choice: Choice = "partitioned" if forced == "partitioned" else "shared" if forced == "shared" else "replicated"
        return RankPlan(choice, "requested by the group's `choice`", seconds)
    if not fits:
        need = f"a copy takes {facts.nbytes} bytes and programs {room:.0f}, of {facts.free} free ones of a rank"
        return RankPlan("partitioned", f"each rank computes its rows, because {need}", seconds)
    if kind in SHARED:
        what = "sources" if kind == "sources" else "rows of the mask"
        return RankPlan("shared", f"each rank has the graph ({bytes_}) and takes its part of the {what}", seconds)
    if not kind:
        return RankPlan("replicated", f"each rank computes the whole result ({bytes_}): arrays are used whole", seconds)
    if facts.on_cpu:
        return RankPlan(
            "partitioned", "each rank computes its rows, because ranks on CPUs share the host's memory", seconds
        )
    if seconds["partitioned"] * tuning.value("ranks.gain") < seconds["replicated"]:
        return RankPlan("partitioned", "each rank computes its rows, because that is faster than one rank", seconds)
    short = kind != "sweeps" and facts.longest <= tuning.count("ranks.short_rows")
    why = f"rows are short (at most {facts.longest} entries), so there are many small rounds" if short else ""
    why = why or "exchanges would take longer than the work that they save"
    return RankPlan("replicated", f"each rank computes the whole result ({bytes_}): {why}", seconds)
