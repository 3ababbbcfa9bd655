"""When a matrix changes its stored format: when reads have amortized the search for a better one and the conversion.

Matrices start as CSR, because most intermediate results are read once. Each product with a vector that goes through
the whole matrix counts as a read (`Structure.reads`). When the reads could have gained the time that the search takes,
the planner searches; when they would have gained the time of the conversion, it converts. This is the ski-rental rule:
total cost is at most twice that of an oracle that knows all future reads.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from dataclasses import dataclass

from ..config import config
from ..device import Device
from ..formats import CSR, Structure, class_of, format_of
from ..formats.b2sr.choice import TILES
from .costs import FLOOR, costs_of
from .facts import Facts, facts
from .forms import choose_form, verbs_of, weighed, without_facts
from .limit import limited
from .product import VALUES

NEVER = 1 << 62  # reads
MUCH = 4  # a push from a fourth of a vector's entries is a read, too: along tiles it would be a pull, at less cost
# Microseconds of the search, with those per entry (of CSR, whose row pointers are read), and of building a format.
# Measured on two cores of an EPYC (building tiles: 10 to 150 ns an entry), on an H100 (building: 0.6 to 2.6 ms for 10^5
# to 3 * 10^7 entries) and on an H200 (search: 0.22 ms with hubs, 0.6 on a mesh, of which 0.07 to 0.09 are on the
# device).
LOOK = {"cpu": (800.0, 2e-4), "gpu": (400.0, 1e-6)}
MAKE = {"cpu": (500.0, 0.03), "gpu": (700.0, 7e-5)}


@dataclass
class Choice:
    """The best format of a structure, for iso matrices or for others. key: the best format (None: not searched yet);
    gain: microseconds per read; made: the structure in that format, as long as it is alive."""

    key: str | None = None
    gain: float = 0.0
    made: weakref.ref[Structure] | None = None


def choice_of(structure: Structure, iso: bool) -> Choice:
    """The choice for the current `config.prefer`."""
    if structure.choices is None:
        structure.choices = {}
    found: Choice = structure.choices.setdefault((iso, config.prefer), Choice())
    return found


def ask_again(structure: Structure, iso: bool, reads: int) -> None:
    """Check the choice again at this number of reads."""
    several, one = structure.due
    structure.due = (several, reads) if iso else (reads, one)


def when_made(structure: Structure, iso: bool) -> str:
    """The format of a new matrix if the user requests none: the one that it has, unless bytes count more than time."""
    if structure.renumbers or (config.prefer != "memory" and config.memory_limit is None):
        return structure.primary.key
    key = choose_form(structure, iso=iso) if config.prefer == "memory" else structure.primary.key
    return limited(structure, key, iso)[0]


def due(structure: Structure, iso: bool, *, now: bool = False) -> str:
    """The format to use now: the primary one, until reads have amortized another or the caller requests the best
    (`now`). Notes in `structure.due` at how many reads to check again."""
    key, choice = structure.primary.key, choice_of(structure, iso)
    if choice.key is None and may_change(structure) and (now or structure.reads >= needed(structure, iso)):
        look(structure, iso)
    if choice.key is not None and (now or structure.reads >= needed(structure, iso)):
        return choice.key
    ask_again(structure, iso, needed(structure, iso))
    return key


def give_up(structure: Structure, iso: bool) -> None:
    """Keep the current format: there is no memory for the chosen one."""
    choice_of(structure, iso).key = structure.primary.key
    choice_of(structure, iso).gain = 0.0
    ask_again(structure, iso, NEVER)


def outlook(structure: Structure, iso: bool) -> str:
    """When the best format will be built, in words; "" if the matrix already has it."""
    if may_change(structure) and choice_of(structure, iso).key is None:
        look(structure, iso)
    key = choice_of(structure, iso).key
    if key in (None, structure.primary.key):
        return ""
    left = needed(structure, iso) - structure.reads
    products = "" if left > NEVER // 2 else f"after {max(1, left)} more products with vectors, or "
    return f"stored as {structure.primary.key} so far; {key} is built {products}for a loop on a GPU or a file"


def may_change(structure: Structure) -> bool:
    """Whether there is a choice to make."""
    return structure.primary.key == CSR and not without_facts(structure.nrows, structure.nvals, config.prefer)


def needed(structure: Structure, iso: bool) -> int:
    """Total number of reads that amortizes the next step: the search, or building the best format. NEVER if there is no
    gain."""
    choice, kind, nvals = choice_of(structure, iso), structure.device.kind, structure.nvals
    if choice.key is None:
        gain = most_gain(structure, iso) if may_change(structure) else 0.0
        base, each = LOOK[kind]
        cost = base + each * nvals
    elif choice.made is not None and choice.made() is not None:
        return 0  # another matrix has already built it
    else:
        gain, (base, each) = choice.gain, MAKE[kind]
        cost = (base + each * nvals) * forms_to_make(structure, choice.key)
    return math.ceil(cost / gain) if gain > 0 else NEVER


def could_gain(kind: int, wide: int, device: Device, *, iso: bool) -> bool:
    """Whether another format could speed up a product of this `kind` in values of `wide` bytes, for a pattern.

    On the CPU, sums of eight-byte values gain from tiles only if one instruction permutes eight of them. FP64, us by
    rows and along tiles, without and with such an instruction: delaunay_n14 66, 98, 54, n18 2060, 1990, 961;
    stencil27_20 78, 100, _58 2660, 2280, 1220.
    """
    return device.shares_rows or kind != VALUES or not iso or wide < 8 or device.picked_bytes >= 8


def forms_to_make(structure: Structure, key: str) -> int:
    """Number of formats to build: the format; its transpose, if one is stored now; CSR again, if operations other than
    products read it."""
    mine = structure.primary
    transposed = structure.has(mine.key, transposed=True) and structure.form(mine.key, transposed=True) is not mine
    return 1 + transposed + (structure.read_besides > 0 and not format_of(key).by_rows)


def most_gain(structure: Structure, iso: bool) -> float:
    """Upper bound of the microseconds that any format gains in a product: the time by rows beyond the floor."""
    nvals = structure.nvals
    worst = Facts(structure.nrows, structure.ncols, nvals, tuple((tile, nvals) for tile in TILES), heads=nvals)
    us = costs_of(structure.device).times(worst, (CSR,), verbs_of(iso, square=False))[CSR]
    return mean_us(us, structure.device.kind) - FLOOR[structure.device.kind]


def mean_us(times: Mapping[str, float], kind: str) -> float:
    """Mean microseconds of a product over the verbs; times below the floor count as the floor."""
    return sum(max(FLOOR[kind], us) for us in times.values()) / len(times)


def look(structure: Structure, iso: bool) -> None:
    """Find the best format, and its gain per product."""
    choice, kind = choice_of(structure, iso), structure.device.kind
    best, us = weighed(structure, iso=iso)
    key, _ = limited(structure, best, iso)
    if structure.read_besides and class_of(key).compact:
        key = CSR  # because each of those statements would build the rows again
    # Otherwise the gain is unknown: such a format is only built if the user prefers memory
    if key != CSR and format_of(key).timed:
        verbs = verbs_of(iso, square=False)
        if key not in us:
            us = costs_of(structure.device).times(facts(structure), (CSR, key), verbs)
        before, after = (mean_us({verb: us[form][verb] for verb in verbs}, kind) for form in (CSR, key))
        choice.gain = before - after
    choice.key = key
