"""`A.profile()`: tables of facts and predictions for each stored format, also under each vertex order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .. import tuning
from ..config import config
from ..display import aligned, html
from ..formats import CSR, format_of
from ..formats.packing import packed_words, width_of
from ..store import MatrixStore
from .cost_model import Costs, costs_of
from .facts import Facts, best_known, is_sampled
from .format_choice import (
    NO_VALUES,
    ValueBytes,
    apply_memory_limit,
    candidates,
    choose_form,
    outlook,
    value_bytes,
    verbs_of,
    worst_ratios,
)
from .pattern import NO_PATTERN, Pattern, pattern_of

AS_IT_IS = "as it is"  # name of the current order


@dataclass(frozen=True, repr=False)
class Profile:
    """Facts, predicted bytes per format, microseconds per verb and format, and the choice; prints as a table.

    measured: measured microseconds by (form, verb). permutation: bytes of the order, bit-packed. values: bytes of the
    values, which every format has in addition. device: where the matrix is stored and measured; predictions are for
    `costs.device`. pattern: what a picture of the entries shows, by the classes of Bit-GraphBLAS.
    """

    facts: Facts
    costs: Costs
    chosen: str
    held: tuple[str, ...]
    verbs: tuple[str, ...]
    reason: str = ""  # how a memory limit changed the choice, if it did
    measured: tuple[tuple[tuple[str, str], float], ...] = ()
    permutation: int = 0
    values: ValueBytes = NO_VALUES
    device: str = ""
    sampled: bool = False  # tiles are estimated from a sample, not counted
    outlook: str = ""  # when the chosen format will be built, if it does not exist yet
    pattern: Pattern = NO_PATTERN

    def predicted(self, key: str) -> dict[str, float]:
        """Microseconds of each verb in a format; empty if the calibration does not cover the format."""
        if not format_of(key).cost.timed:
            return {}
        return self.costs.times(self.facts, (key,), self.verbs)[key]

    def fill(self, key: str) -> str:
        """Entries per tile, of a format with tiles."""
        if format_of(key).tile is None:
            return ""
        tiles, inside, _ = self.facts.listing_in(key)
        return f"{inside / max(1.0, tiles):.2f}"

    def __str__(self) -> str:
        return "\n".join([_head(self), *_lines(self._rows()), *self._notes()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html(_head(self), self._rows(), *self._notes())

    def _rows(self) -> list[list[str]]:
        """A header row, then a row for each format."""
        f, measured = self.facts, dict(self.measured)
        heads = ["form", "entries/tile", "bytes", "bytes/entry"]
        for verb in self.verbs:
            heads += [f"{verb} us", "measured"] if measured else [f"{verb} us"]
        rows = [[*heads, ""]]
        for key in f.forms:
            size = f.bytes_of(key)
            cells = [key, self.fill(key), str(size), f"{size / max(1, f.nvals):.2f}"]
            for verb, us in _times(self, key):
                cells += [us, f"{measured[key, verb]:.1f}"] if measured else [us]
            rows.append([*cells, "<- auto" * (key == self.chosen) + " (held)" * (key in self.held)])
        return rows

    def _notes(self) -> list[str]:
        """The lines below the table."""
        verdict = f"measured on {self.device}: {self.verdict()}" if self.measured else ""
        values = str(self.values) if self.values.plain else ""
        pattern = f"pattern: {self.pattern}" if self.pattern.classes else ""
        return [line for line in (verdict, values, self.reason, self.outlook, pattern) if line]

    @property
    def stored(self) -> str:
        return self.held[0]

    def verdict(self) -> str:
        """How far the choice is from the best format of no more bytes than CSR, for each verb, as measured."""
        us, found = dict(self.measured), []
        forms = {
            self.chosen,
            *(key for key in self.facts.forms if self.facts.bytes_of(key) <= self.facts.bytes_of(CSR)),
        }
        for verb in self.verbs:
            best = min(sorted(forms), key=lambda key: us[key, verb])
            found.append(f"{verb} {us[self.chosen, verb] / us[best, verb]:.2f} times {best}")
        return f"{self.chosen} takes {', '.join(found)}"


def _head(seen: Profile) -> str:
    f, costs = seen.facts, seen.costs
    elsewhere = "" if costs.device == seen.device else f"; run `bitblas calibrate` for this {seen.device}"
    levels = f", about {f.levels:.0f} levels" if f.levels else ""
    sampled = " (sampled)" if seen.sampled else ""
    return (
        f"{f.nrows} x {f.ncols}, {f.nvals} entries, {f.fill:.2f} entries per 8x8 tile{sampled}{levels}; "
        f"times: predicted for {costs.device} ({costs.source}){elsewhere}"
    )


def _lines(rows: list[list[str]]) -> list[str]:
    """The rows as text, with the mark at their end left-aligned."""
    return [f"{line}  {row[-1].strip()}".rstrip() for line, row in zip(aligned([row[:-1] for row in rows]), rows)]


def _times(seen: Profile, key: str) -> list[tuple[str, str]]:
    """The verbs, and the predicted time of each in a format, as table cells."""
    us = seen.predicted(key)
    return [(verb, f"{us[verb]:.1f}" if verb in us else "-") for verb in seen.verbs]


def profile(A: MatrixStore, *, asked: bool = False) -> Profile:
    """Facts about a matrix, and the format that the planner chooses. asked: the user requested its format, which
    stays."""
    held = tuple(key for key, transposed, _, _ in A.structure.forms() if not transposed)
    chosen, reason = apply_memory_limit(A.structure, choose_form(A.structure, iso=A.iso), A.iso)
    verbs = verbs_of(A.iso, A.nrows == A.ncols)
    when = "" if asked else outlook(A.structure, A.iso)
    return Profile(
        best_known(A.structure),
        costs_of(A.device),
        chosen,
        held,
        verbs,
        reason,
        values=value_bytes(A),
        device=A.device.model,
        sampled=is_sampled(A.structure),
        outlook=when,
        pattern=pattern_of(A.structure),
    )


class Saving(NamedTuple):
    """The format of fewest bytes under an order, its bytes including the permutation, and the share of bytes saved
    against the smallest format in the current order (negative: it takes more)."""

    layout: str
    nbytes: int
    share: float


@dataclass(frozen=True, repr=False)
class Orders:
    """The profile of a matrix under each vertex order, and the best pair of an order and a format; prints as a table.

    Bytes include the permutation, also that of the current order. seconds: time to find each order.
    """

    profiles: Mapping[str, Profile]  # by the name of the order
    best: tuple[str, str]  # order and form
    seconds: Mapping[str, float] = field(default_factory=dict)

    def bytes_of(self, order: str, key: str) -> int:
        """Predicted bytes of a format under an order, including the permutation."""
        seen = self.profiles[order]
        return seen.facts.bytes_of(key) + seen.permutation

    def saved(self, order: str, key: str) -> float:
        """Share of the bytes of a format that the order saves, including the permutation."""
        return 1 - self.bytes_of(order, key) / max(1, self.bytes_of(next(iter(self.profiles)), key))

    @property
    def savings(self) -> dict[str, Saving]:
        """The largest saving of each order."""
        found: dict[str, Saving] = {}
        for order, seen in self.profiles.items():
            keys = [key for key in seen.facts.forms if format_of(key).cost.may_be_smallest(seen.facts)]
            key = min(keys, key=lambda key: self.bytes_of(order, key))
            nbytes = self.bytes_of(order, key)
            first = next(iter(found.values()), Saving(key, nbytes, 0.0))
            found[order] = Saving(key, nbytes, 1 - nbytes / max(1, first.nbytes))
        return found

    def __str__(self) -> str:
        return "\n".join([self._head(), *_lines(self._rows()), *self._notes()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html(self._head(), self._rows(), *self._notes())

    def _notes(self) -> list[str]:
        """A line for each order: its time, and its largest saving."""
        found, lines = self.savings, []
        for order, seconds in self.seconds.items():
            layout, nbytes, share = found[order]
            each = nbytes / max(1, self.profiles[order].facts.nvals)
            what = (
                f"{abs(100 * share):.0f} % {'less' if share >= 0 else 'more'} than {next(iter(found.values())).layout}"
            )
            lines.append(
                f"{order}: found in {seconds:.3g} s; fewest bytes in {layout}, {each:.2f} an entry, {what} as it is"
            )
        return lines

    def _head(self) -> str:
        return _head(next(iter(self.profiles.values())))

    def _rows(self) -> list[list[str]]:
        verbs = next(iter(self.profiles.values())).verbs
        heads = ["order", "form", "entries/tile", "bytes", "permutation", "bytes/entry", "saved"]
        rows = [[*heads, *(f"{verb} us" for verb in verbs), ""]]
        for order, seen in self.profiles.items():
            f = seen.facts
            for key in f.forms:
                size, extra = f.bytes_of(key), seen.permutation
                cells = [order, key, seen.fill(key), str(size), str(extra), f"{(size + extra) / max(1, f.nvals):.2f}"]
                cells.append(f"{100 * self.saved(order, key):.0f} %")
                best = " <- best" * ((order, key) == self.best)
                rows.append([*cells, *(us for _, us in _times(seen, key)), "<- auto" * (key == seen.chosen) + best])
        return rows


def orders(stores: Mapping[str, MatrixStore], kind: str, seconds: Mapping[str, float]) -> Orders:
    """The table of a matrix that is given in several orders, the current one first. seconds: time to find the
    others."""
    found = {
        name: replace(profile(A), permutation=0 if A.order is None else 4 * packed_words(A.nrows, width_of(A.nrows)))
        for name, A in stores.items()
    }
    iso = next(iter(stores.values())).iso
    return Orders(found, best_pair(found, config.prefer, iso=iso, kind=kind), seconds)


def best_pair(found: Mapping[str, Profile], prefer: str, *, iso: bool, kind: str) -> tuple[str, str]:
    """The order and the format of fewest bytes, including the permutation; for time, of the pairs that are no larger
    than 32-bit CSR, the one nearest to the best pair for every verb, by the rule of `forms.best_form`."""
    size = {
        (order, key): seen.facts.bytes_of(key) + seen.permutation
        for order, seen in found.items()
        for key in candidates(seen.facts, prefer, iso, kind)
    }
    if prefer == "memory":
        return min(size, key=lambda pair: size[pair])
    plain = next(iter(found.values())).facts.bytes_of(CSR)
    fit = [pair for pair, nbytes in size.items() if nbytes <= plain or pair[1] == CSR]
    names = {f"{order} {key}": (order, key) for order, key in fit}
    us = {name: found[order].predicted(key) for name, (order, key) in names.items()}
    worst = worst_ratios(us, tuning.value(f"cost.floor_us.{kind}"))
    return names[min(us, key=lambda name: worst[name] * format_of(names[name][1]).cost.margin)]
