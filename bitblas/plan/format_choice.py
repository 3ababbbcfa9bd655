"""Choose a stored format: predicted bytes and microseconds, the rule, the memory limit, and when to convert.

One format serves all statements: two would take more bytes than plain CSR. So the choice for time is the format whose
*worst* verb is nearest to the best format for that verb. A mean would let a product that gains a factor of three pay
for one that loses a factor of two, at the expense of programs that run only the second. The worst ratio bounds the loss
of a program that uses any one verb; if it is close to 1, every verb has (nearly) its best format.

Matrices start as CSR, because most intermediate results are read once. Each product with a vector that goes through
the whole matrix counts as a read (`Structure.reads`). When the reads could have gained the time that the search takes,
the planner searches; when they would have gained the time of the conversion, it converts. This is the ski-rental rule:
total cost is at most twice that of an oracle that knows all future reads.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import DataType

from .. import tuning
from ..config import config
from ..device import Device, memory
from ..exceptions import InvalidValue
from ..formats import CSR, NAMES, Structure, class_of, format_of
from ..formats import FORMATS as STORED
from ..formats.b2sr.cost import TILES
from ..formats.contract import Layout
from ..formats.csr.kernels import rows_bytes
from ..formats.csr.sums import MOST_COLUMNS, MOST_ROWS, build_bytes, copy_bytes, has_sums, near_share
from ..formats.packing import PackedValues, fit, packed_words
from ..store import MatrixStore
from .cost_model import BFS, BITS, NUMBERS, WEIGHTS, Costs, costs_of
from .facts import Facts, best_known, count, error_of, estimates, facts
from .product import BINNED, DEGREE_BINNED, PULL, SUMS, VALUES, Plan, hot_columns, sums_numbers

# ---- Choose a stored format: predicted bytes and microseconds of each, and the rule.

FORMATS = ("auto", *NAMES)  # the formats that users may request


def verbs_of(iso: bool, square: bool) -> tuple[str, ...]:
    """The verbs that count for a matrix: products and searches of a pattern, or the product that reads its values."""
    return (WEIGHTS,) if not iso else (BITS, NUMBERS, BFS) if square else (BITS, NUMBERS)


def takes_part(key: str, prefer: str, iso: bool) -> bool:
    """Whether a format may be chosen at all. Matrices with values stay by rows: tiles and parts find a value by its
    rank, which costs more than it saves in products (H200: 26 us on a mesh's rows, 86 on its tiles) and in programs,
    which the costs do not cover; and a bitmap has a value for each position, with an entry or without."""
    format = format_of(key)
    return (iso or not (format.ranked or format.bitmap)) and (prefer == "memory" or format.cost.timed)


def has_hubs(nrows: int, nvals: int, longest: float, kind: str) -> bool:
    """Whether a matrix has hubs, and so stays by rows on a GPU, for time. The cost of a hub's tiles is not predicted
    (web-indochina-2004, Boolean: 3 us by rows, 15 by tiles, 2 predicted), and on all of 13 such graphs rows were best
    for products, or within 1.1 of the best."""
    return longest * nrows > tuning.value(f"format.hubs.{kind}") * max(1, nvals)


def allowed(seen: Facts, prefer: str, iso: bool, *, by_rows: bool = False) -> tuple[str, ...]:
    """Formats that may be chosen (`by_rows`: only those by rows): for time, those of no more bytes than 32-bit CSR."""
    most = math.inf if prefer == "memory" else seen.bytes_of(CSR)
    keys = (key for key in seen.forms if takes_part(key, prefer, iso) and format_of(key).by_rows >= by_rows)
    if prefer == "memory":
        keys = (key for key in keys if format_of(key).cost.may_be_smallest(seen))
    return tuple(key for key in keys if seen.bytes_of(key) <= most)


def candidates(seen: Facts, prefer: str, iso: bool, kind: str) -> tuple[str, ...]:
    """Formats to choose from: those allowed; of matrices with hubs, for time, only those by rows."""
    hubs = prefer == "time" and has_hubs(seen.nrows, seen.nvals, seen.longest, kind)
    return allowed(seen, prefer, iso, by_rows=hubs)


def worst_ratios(us: Mapping[str, Mapping[str, float]], floor: float) -> dict[str, float]:
    """For each format the largest ratio, over the verbs, of its microseconds to those of the best format. Times below
    the floor, the time of a launch, count as the floor. us: by format and verb."""
    times = np.maximum(floor, [list(of.values()) for of in us.values()])
    return dict(zip(us, (times / times.min(axis=0)).max(axis=1).tolist()))


class Weighed(NamedTuple):
    """The best format, and the microseconds of all formats that were compared, by format and verb: none for memory."""

    key: str
    us: Mapping[str, Mapping[str, float]]


def weigh(seen: Facts, costs: Costs, prefer: str, *, iso: bool, kind: str) -> Weighed:
    """prefer "memory": the format of fewest bytes. "time": of those of no more bytes than 32-bit CSR, the one that is
    nearest to the best format for every verb."""
    keys = candidates(seen, prefer, iso, kind)
    if prefer == "memory":
        return Weighed(min(keys, key=seen.bytes_of), {})
    us = costs.times(seen, keys, verbs_of(iso, seen.nrows == seen.ncols))
    worst = worst_ratios(us, tuning.value(f"cost.floor_us.{kind}"))
    return Weighed(min(keys, key=lambda key: worst[key] * format_of(key).cost.margin), us)


def best_form(seen: Facts, costs: Costs, prefer: str, *, iso: bool, kind: str) -> str:
    """The format that these facts choose."""
    return weigh(seen, costs, prefer, iso=iso, kind=kind).key


def without_facts(nrows: int, nvals: int, prefer: str) -> bool:
    """Whether CSR is used without a sample, for time: for few entries, or one entry a row. The latter are pointers and
    permutations, which algorithms build in every round, so sampling would take longer than using them."""
    return prefer == "time" and nvals <= max(tuning.count("format.sampled_entries") - 1, nrows)


def requested_format(structure: Structure, name: str, tile: int | None) -> str:
    """The key of the format of that name, with that tile; without one, its usual tile, or that of the fewest bytes.

    Raises InvalidValue for a tile size that the format does not have, or if it cannot hold the matrix.
    """
    formats = [format for format in STORED.values() if format.name == name]
    sizes = [format.tile for format in formats if format.tile is not None]
    if tile is not None and not sizes:
        raise InvalidValue(f"tile: format {name!r} has no tiles, got {tile}")
    if tile is not None and tile not in sizes:
        raise InvalidValue(f"tile: expected one of {', '.join(map(str, sizes))}, got {tile!r}")
    tile = formats[0].default_tile if tile is None else tile
    wanted = [format for format in formats if tile is None or format.tile == tile]
    fit = [format for format in wanted if not format.cost.refusal(structure.nrows, structure.ncols)]
    if not fit:
        raise InvalidValue(f"format: {name!r} {wanted[0].cost.refusal(structure.nrows, structure.ncols)}")
    if len(wanted) == 1:
        return fit[0].key
    sizes = [format.tile for format in fit if format.tile is not None and format.cost.counts == "tiles"]
    keys = [format.key for format in fit]
    return min(keys, key=best_known(structure, tuple(sizes), keys).bytes_of)


def choose_form(structure: Structure, format: str = "auto", tile: int | None = None, *, iso: bool = True) -> str:
    """The key of the primary format: the requested one, or the best by facts, costs and `config.prefer`.

    Raises InvalidValue for a format or tile size that does not exist, or a format that cannot hold the matrix.
    """
    if format not in FORMATS:
        raise InvalidValue(f"format: expected one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    if format != "auto":
        return requested_format(structure, format, tile)
    if tile is not None:
        raise InvalidValue(f"tile: expected only with a format that has tiles, got {tile!r}")
    return weigh_structure(structure, iso=iso).key


def weigh_structure(structure: Structure, *, iso: bool) -> Weighed:
    """The best format of a structure. Facts come in stages, the cheapest first: sizes, which may decide; a sample,
    whose longest row may leave only formats by rows, and which estimates only what the remaining formats need; exact
    numbers of tiles, if they decide and the estimate may be wrong."""
    device, prefer = structure.device, config.prefer
    if without_facts(structure.nrows, structure.nvals, prefer):
        return Weighed(CSR, {})
    while True:
        seen = for_time(structure, iso) if prefer == "time" else best_known(structure)
        found = weigh(seen, costs_of(device), prefer, iso=iso, kind=device.kind)
        format = format_of(found.key)
        if format.cost.counts != "tiles" or format.tile is None or _is_small(structure, seen, found.key, format.tile):
            return found
        if not count(structure, format.tile):
            return found


def for_time(structure: Structure, iso: bool) -> Facts:
    """The facts that a choice for time needs."""
    if not structure.nvals:
        return facts(structure)
    seen = estimates(structure)
    by_rows = has_hubs(structure.nrows, structure.nvals, seen.longest, structure.device.kind)
    left = [key for key in STORED if takes_part(key, "time", iso) and format_of(key).by_rows >= by_rows]
    return facts(structure, keys=[key for key in left if format_of(key).cost.may_be_fast(seen.own.sample)])


def _is_small(structure: Structure, seen: Facts, key: str, tile: int) -> bool:
    """Whether tiles take no more bytes than CSR, even if the estimate of their number is as wrong as it may be."""
    more = tuning.value("format.standard_errors") * error_of(structure, tile)
    most = tuple((t, number + more if t == tile else number) for t, number in seen.tiles)
    return replace(seen, tiles=most).bytes_of(key) <= seen.bytes_of(CSR)


# ---- Choose a stored format under `config.memory_limit`: pure functions of facts, of the choice without a limit, and
# of the bytes available for one matrix.


def within(seen: Facts, key: str, budget: int) -> tuple[str, str]:
    """The format to use instead of `key`, and why ("": use `key`).

    Entries arrive as CSR, so another format is built while CSR exists. A product may read the transpose: if a format
    and its transpose do not fit, the smallest format that can be built is used.
    """
    size = seen.bytes_of

    def can_be_built(k: str) -> bool:
        return k == CSR or size(CSR) + size(k) + format_of(k).cost.scratch(seen) <= budget

    if can_be_built(key) and 2 * size(key) <= budget:
        return key, ""
    best = min(filter(can_be_built, seen.forms), key=size)
    if best == key:
        return key, ""
    needed = f"{key} and its transpose need {2 * size(key)} bytes" if can_be_built(key) else f"no room to build {key}"
    return best, f"memory_limit leaves {budget} bytes: {needed}, {best} is the smallest that can be built"


def budget_of(structure: Structure) -> int | None:
    """Bytes that the formats of a matrix may take under the limit, in addition to current usage; None without a
    limit."""
    if memory.limit is None:
        return None
    seen: set[int] = set()
    arrays = [x for _, _, layout, _ in structure.forms() for x in layout.arrays().values()]
    own = sum(memory.bytes_in(x, structure.device, seen) for x in arrays)
    return memory.limit - memory.bytes_on(structure.device) + own


def apply_memory_limit(structure: Structure, key: str, iso: bool) -> tuple[str, str]:
    """`within` for an existing matrix. Values that differ take more than any structure, so such matrices stay by
    rows."""
    budget = budget_of(structure) if iso else None
    if budget is None or (key == CSR and 2 * rows_bytes(structure.nrows, structure.ncols, structure.nvals) <= budget):
        return key, ""
    return within(best_known(structure), key, budget)


# ---- When a matrix changes its stored format: when reads have amortized the search for a better one and the
# conversion.

NEVER = 1 << 62  # reads


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


def check_again_at(structure: Structure, iso: bool, reads: int) -> None:
    """Check the choice again at this number of reads."""
    several, one = structure.check_at
    structure.check_at = (several, reads) if iso else (reads, one)


def initial_format(structure: Structure, iso: bool) -> str:
    """The format of a new matrix if the user requests none: the one that it has, unless bytes count more than time."""
    if structure.hypersparse or (config.prefer != "memory" and config.memory_limit is None):
        return structure.primary.key
    key = choose_form(structure, iso=iso) if config.prefer == "memory" else structure.primary.key
    return apply_memory_limit(structure, key, iso)[0]


def format_to_use(structure: Structure, iso: bool, *, now: bool = False) -> str:
    """The format to use now: the primary one, until reads have amortized another or the caller requests the best
    (`now`). Notes in `structure.check_at` at how many reads to check again."""
    key, choice = structure.primary.key, choice_of(structure, iso)
    if choice.key is None and may_change(structure) and (now or structure.reads >= reads_needed(structure, iso)):
        find_best_format(structure, iso)
    if choice.key is not None and (now or structure.reads >= reads_needed(structure, iso)):
        return choice.key
    check_again_at(structure, iso, reads_needed(structure, iso))
    return key


def keep_format(structure: Structure, iso: bool) -> None:
    """Keep the current format: there is no memory for the chosen one."""
    choice_of(structure, iso).key = structure.primary.key
    choice_of(structure, iso).gain = 0.0
    check_again_at(structure, iso, NEVER)


def outlook(structure: Structure, iso: bool) -> str:
    """When the best format will be built, in words; "" if the matrix already has it."""
    if may_change(structure) and choice_of(structure, iso).key is None:
        find_best_format(structure, iso)
    key = choice_of(structure, iso).key
    if key in (None, structure.primary.key):
        return ""
    left = reads_needed(structure, iso) - structure.reads
    products = "" if left > NEVER // 2 else f"after {max(1, left)} more products with vectors, or "
    return f"stored as {structure.primary.key} so far; {key} is built {products}for a loop on a GPU or a file"


def may_change(structure: Structure) -> bool:
    """Whether there is a choice to make."""
    return structure.primary.key == CSR and not without_facts(structure.nrows, structure.nvals, config.prefer)


def reads_needed(structure: Structure, iso: bool) -> int:
    """Total number of reads that amortizes the next step: the search, or building the best format. NEVER if there is no
    gain."""
    choice, kind, nvals = choice_of(structure, iso), structure.device.kind, structure.nvals
    if choice.key is None:
        gain = most_gain(structure, iso) if may_change(structure) else 0.0
        base, each = tuning.value(f"format.search_us.{kind}"), tuning.value(f"format.search_us_per_entry.{kind}")
        cost = base + each * nvals
    elif choice.made is not None and choice.made() is not None:
        return 0  # another matrix has already built it
    else:
        gain, base = choice.gain, tuning.value(f"format.convert_us.{kind}")
        each = tuning.value(f"format.convert_us_per_entry.{kind}")
        cost = (base + each * nvals) * forms_to_make(structure, choice.key)
    return math.ceil(cost / gain) if gain > 0 else NEVER


def could_gain(kind: int, wide: int, device: Device, *, iso: bool) -> bool:
    """Whether another format could speed up a product of this `kind` in values of `wide` bytes, for a pattern.

    On the CPU, sums of eight-byte values gain from tiles only if one instruction permutes eight of them. FP64, us by
    rows and along tiles, without and with such an instruction: delaunay_n14 66, 98, 54, n18 2060, 1990, 961;
    stencil27_20 78, 100, _58 2660, 2280, 1220.
    """
    return device.is_simt or kind != VALUES or not iso or wide < 8 or device.permute_bytes >= 8


def forms_to_make(structure: Structure, key: str) -> int:
    """Number of formats to build: the format; its transpose, if one is stored now; CSR again, if operations other than
    products read it."""
    mine = structure.primary
    transposed = structure.has(mine.key, transposed=True) and structure.layout(mine.key, transposed=True) is not mine
    return 1 + transposed + (structure.other_reads > 0 and not format_of(key).by_rows)


def most_gain(structure: Structure, iso: bool) -> float:
    """Upper bound of the microseconds that any format gains in a product: the time by rows beyond the floor."""
    nvals = structure.nvals
    worst = Facts(structure.nrows, structure.ncols, nvals, tuple((tile, nvals) for tile in TILES), heads=nvals)
    us = costs_of(structure.device).times(worst, (CSR,), verbs_of(iso, square=False))[CSR]
    return mean_us(us, structure.device.kind) - tuning.value(f"cost.floor_us.{structure.device.kind}")


def mean_us(times: Mapping[str, float], kind: str) -> float:
    """Mean microseconds of a product over the verbs; times below the floor count as the floor."""
    floor = tuning.value(f"cost.floor_us.{kind}")
    return sum(max(floor, us) for us in times.values()) / len(times)


def find_best_format(structure: Structure, iso: bool) -> None:
    """Find the best format, and its gain per product."""
    choice, kind = choice_of(structure, iso), structure.device.kind
    best, us = weigh_structure(structure, iso=iso)
    key, _ = apply_memory_limit(structure, best, iso)
    if structure.other_reads and class_of(key).compact:
        key = CSR  # because each of those statements would build the rows again
    # Otherwise the gain is unknown: such a format is only built if the user prefers memory
    if key != CSR and format_of(key).cost.timed:
        verbs = verbs_of(iso, square=False)
        if key not in us:
            us = costs_of(structure.device).times(facts(structure), (CSR, key), verbs)
        before, after = (mean_us({verb: us[layout][verb] for verb in verbs}, kind) for layout in (CSR, key))
        choice.gain = before - after
    choice.key = key


# ---- Auxiliary formats, built when amortized: the transpose, and plain rows of a matrix stored as tiles.
#
# A product that prefers the transpose can often do without: it pushes along the matrix instead of pulling from the
# transpose, or the other way round. One search does not amortize a sort of all entries; a search from many sources
# does. The cost of doing without is counted in the structure, in reads of all its entries
# (`Structure.transpose_credit`).
#
# Plain rows serve pushes on the CPU. A push along tiles reads the tiles of eight rows for the entries of one: two to
# five times the time of a push along rows (rows_for_push.per_entry). Pulls keep using the tiles. Rows cost the 4 bytes
# an entry that tiles saved. So they are made when their cost is amortized by what pushes have lost, and never if bytes
# count more than time.


def may_keep_rows(layout: Layout) -> bool:
    """Whether pushes would be faster along CSR rows, and those may be kept."""
    format = layout.format
    plain = format.plain and not format.by_rows and format.cached_as(CSR) == CSR
    return plain and not layout.device.is_simt and not layout.compact


def extra_push_work(layout: Layout) -> float:
    """Entries that a push along the format reads for one entry of the vector, if rows would be faster; else 0."""
    return layout.nvals / max(1, layout.nrows) if may_keep_rows(layout) else 0.0


def rows_amortized(structure: Structure) -> bool:
    """Whether pushes have lost as much as building rows takes, and memory allows it."""
    needed = tuning.value("rows_for_push.per_entry") * structure.nvals + tuning.value("rows_for_push.least")
    if structure.rows_credit < needed:
        return False
    return config.prefer == "time" and config.memory_limit is None


def is_available(structure: Structure, *, transposed: bool, valued: bool, made: bool = True) -> bool:
    """Whether a product may read the primary format, or that of the transpose. valued: values are read, whose positions
    have to be known, so a symmetric matrix cannot serve as its own transpose. made: the transpose may be built."""
    if not transposed or structure.has(structure.primary.key, transposed=True):
        return True
    return (made and transpose_amortized(structure)) or (structure.symmetric and not valued)


def transpose_amortized(structure: Structure) -> bool:
    """Whether building the transpose is amortized, and there is memory for it."""
    device, primary = structure.device, structure.primary
    if structure.transpose_credit < tuning.value(f"transpose.reads.{device.kind}"):
        return False
    return not device.missing(primary.nbytes + 16 * primary.work)


# A copy for sums (formats/csr/sums.py) is read by products with full vectors.


def may_copy_for_sums(plan: Plan, A: MatrixStore, layout: Layout, semiring: Typed[Semiring], u: DataType) -> bool:
    """Whether a pull would be faster by a copy for sums: of plain rows and values on a GPU, that are degree-binned, or
    whose columns are near the diagonal or so few that a block keeps all vector values in shared memory."""
    if plan.kernel not in (BINNED, PULL) or layout.key != CSR or not layout.device.is_simt:
        return False
    if (
        isinstance(A.raw, PackedValues)
        or layout.nrows >= MOST_ROWS
        or layout.ncols >= MOST_COLUMNS
        or layout.nvals < tuning.value("sums.least_entries")
    ):
        return False
    if plan.kernel == BINNED:
        return True
    if not sums_numbers(semiring, plan.kind, layout, plan.full, u):
        return False
    return layout.ncols <= hot_columns(layout.device) or near_share(layout) >= tuning.value("sums.near_share")


def sums_needed(structure: Structure) -> float:
    """The number of products that amortizes a copy for sums of plain rows. It is only made on request if memory counts
    more than time, or if rows are degree-binned and the vector is in the caches, but not in shared memory."""
    rows, nvals = structure.primary, structure.nvals
    binned = rows.format.kernels.get("mxv.pull.binned")
    shape = "uneven" if binned is not None and binned.suits(rows) else "even"
    cached = shape == "uneven" and hot_columns(rows.device) < rows.ncols < tuning.value("sums.uneven_columns")
    if config.prefer != "time" or cached:
        return math.inf
    build = tuning.value("sums.build_us") + tuning.value("sums.build_us_per_entry") * nvals
    return math.ceil(build / max(1, nvals) / tuning.value(f"sums.gain_us_per_entry.{shape}"))


def sums_amortized(structure: Structure) -> bool:
    """Whether products have amortized a copy for sums."""
    return structure.sums_credit >= sums_needed(structure)


def with_sums(plan: Plan, A: MatrixStore, layout: Layout, semiring: Typed[Semiring], u: DataType) -> Plan:
    """The plan of a pull, by a copy for sums if that exists, or is amortized and fits."""
    if not may_copy_for_sums(plan, A, layout, semiring, u):
        return plan
    if not has_sums(layout, hot_columns(layout.device)):
        left = sums_needed(A.structure) - A.structure.sums_credit
        if left > 0:
            valued = A.dtype.nbytes if plan.product is None and not A.iso else 0
            size = f"a copy for sums, about {copy_bytes(layout.nrows, layout.nvals, valued)} bytes"
            when = 'is built after A.prepare("sums")'
            if left != math.inf:
                when = f"is amortized after {left:.0f} more products, or {when.removeprefix('is ')}"
            return plan._replace(reason=f"{plan.reason}; {size}, {when}")
        if missing := layout.device.missing(build_bytes(layout.nrows, layout.ncols, layout.nvals)):
            return plan._replace(reason=f"{plan.reason}; no copy for sums: {missing}")
    return plan._replace(kernel=SUMS, reason=f"{plan.reason.partition(f'; {DEGREE_BINNED}')[0]}; a copy for sums")


# ---- Whether the values of a matrix are bit-packed, and the bytes that they take. See formats/values.py.


def wants_packed(A: MatrixStore) -> bool:
    """Whether values are packed automatically: if memory is preferred and there are enough entries."""
    return config.prefer == "memory" and not A.deferred and A.nvals >= tuning.count("packed_values.entries")


def packed_bytes(nvals: int, width: int) -> int:
    """Bytes of `nvals` packed values of `width` bits."""
    return 4 * packed_words(nvals, width)


def packs(device: Device, dtype: DataType, nvals: int, found: tuple[np.generic, int] | str) -> bool:
    """Whether values are packed automatically. found: their base and bits, or why they cannot be packed."""
    if isinstance(found, str):
        return False
    needed = packed_bytes(nvals, found[1])
    return needed < nvals * dtype.nbytes and not device.missing(needed)


class ValueBytes(NamedTuple):
    """Bytes of the values of a matrix: as an array of their type, packed to `width` bits, and as they are stored. plain
    is 0 if the matrix is iso, width is 0 if they cannot be packed."""

    plain: int = 0
    width: int = 0
    packed: int = 0
    held: int = 0

    def __str__(self) -> str:
        if not self.plain:
            return "values: one for all entries"
        packed = f"packed to {self.width} bits: {self.packed} bytes" if self.width else "cannot be packed"
        return f"values: {self.plain} bytes, {packed}; held: {self.held}"


NO_VALUES = ValueBytes()


def value_bytes(A: MatrixStore) -> ValueBytes:
    """Reads all values, unless they are packed."""
    raw = A.raw
    if isinstance(raw, np.generic) or not A.nvals:
        return NO_VALUES
    plain = A.nvals * A.dtype.nbytes
    if isinstance(raw, PackedValues):
        size = packed_bytes(A.nvals, raw.width)
        return ValueBytes(plain, raw.width, size, size)
    found = fit(A.device, A.dtype, raw)
    if isinstance(found, str):
        return ValueBytes(plain, held=plain)
    return ValueBytes(plain, found[1], packed_bytes(A.nvals, found[1]), plain)
