"""Small rounds inside one thread block cluster: one kernel runs a body round after round while its frontier is small.

It runs before the loop and after the rounds of its captured body, and passes the frontier on to those. An advance alone
goes from frontier to frontier (kernels/rounds.cuh); a body with element-wise kernels keeps a worklist of the positions
that have entries (kernels/worklist_rounds.cuh).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import BOOL

from ... import tuning
from ...formats import CSR
from ...kernels.variant import Variant
from ...plan.product import VALUES, WORDS
from ...store import words
from .. import analysis
from ..analysis import sparse_vectors
from ..buffers import BUFFERS, Argument, Launch
from ..codegen.cuda_dialect import CudaKernel, Key, Parameter, macro
from ..codegen.cuda_kernels import WorklistRound, entry_text, is_exact, split_round, worklist_text
from ..fuse import Advance, Between, OnStack, Pull, Round, copies, fits_one_kernel, size_of
from ..ir import Elementwise, InitializeCells, IsoValues, Product, Scal, Vec
from .products import AdvanceMatrix, keeps_rows, launch_arguments

if TYPE_CHECKING:
    from ...device.base import Cluster
    from .build import Build


class SmallRounds(NamedTuple):
    """The launch of small rounds, or why there is none. later: it runs none before the rounds of the first body.
    counted: the vectors whose entries decide whether rounds are small, before any statement has written them."""

    launches: list[Launch]
    text: str
    later: bool = False
    counted: frozenset[Vec] = frozenset()


def plan_small_rounds(round_: Round, condition: Vec | Scal) -> Advance | WorklistRound | str:
    """How a cluster runs the rounds of a body: by an advance alone, or by worklists; or why it does not."""
    before, advances, after = split_round(round_.items)
    if any(isinstance(item, Pull) for item in round_.items):
        return "a product pulls by rows"
    if any(isinstance(item, Between) for item in round_.items):
        return "ranks exchange something in a round"
    if any(isinstance(item, OnStack) for item in round_.items):
        return "a round saves a frontier or reads one back"
    if len(advances) != 1:
        return f"a round has {len(advances)} advances"
    (advance,) = advances
    if advance.mask is not None and advance.mask.vec == advance.target:
        return "the advance's mask is the vector that it writes"
    elementwise = (*before, *after)
    if not elementwise:
        if advance.target != advance.product.u or advance.target != condition:
            return "the advance does not write the vector that it reads and that is the loop condition"
        return advance
    if any(s.elsewhere or isinstance(s.value, InitializeCells) for p in elementwise for s in p.statements):
        return "an element-wise kernel uses index vectors"
    if not any(p.counted is not None for p in elementwise) and advance.target != condition:
        return "no element-wise kernel counts the loop condition"
    if any(size_of(s) not in (None, advance.target.size) for p in elementwise for s in p.statements):
        return "vectors have different sizes"
    if not all(is_exact(s) for p in elementwise for s in p.statements):
        return "a sum of floats is taken in a fixed order"
    if not fits_one_kernel([*(p.statements for p in elementwise), advance.before]):
        return "the statements do not fit into one kernel"
    needed = {advance.target, advance.product.u, *(p.counted for p in elementwise if isinstance(p.counted, Vec))}
    sparse = sparse_vectors(elementwise, needed)
    if sparse is None:
        return "element-wise kernels write where no sparse vector has an entry"
    return WorklistRound(tuple(before), advance, tuple(after), sparse, condition)


def searches_by_rows(build: Build, product: Product) -> bool:
    """Whether a search along tiles is faster along plain rows, next to the tiles: if a cluster runs it with the visited
    bits in shared memory, and all rows are short."""
    structure, cluster = product.matrix.structure, build.device.cluster
    if cluster is None or structure.primary.format.by_rows or not keeps_rows(structure):
        return False
    if structure.nvals > tuning.value("cluster.row_entries") * structure.nrows or not cluster.holds(product.outer):
        return False
    how = plan_small_rounds(build.round, build.condition)
    if not isinstance(how, Advance) or how.product is not product or not how.also:
        return False
    kind, _ = analysis.product_kind(product, build.iso)
    any_product = kind == WORDS or product.semiring.op.monoid.name == "any"
    if not any_product or how.mask is None or not how.mask.complement:
        return False
    rows = structure.layout(CSR, transposed=not product.transpose)
    return not rows.format.kernels["advance"].segments(rows, build.longest(rows))


def small_rounds(build: Build) -> SmallRounds:
    """The launch of small rounds for the body of a build, bound to its memory."""
    cluster, how = build.device.cluster, plan_small_rounds(build.round, build.condition)
    if cluster is None:
        return SmallRounds([], "no small rounds in a cluster: the device has no thread-block clusters")
    if isinstance(how, str):
        return SmallRounds([], f"no small rounds in a cluster: {how}")
    advance = how if isinstance(how, Advance) else how.advance
    along = AdvanceMatrix.of(build, advance)
    base = along.kernel.variant(entry_text((), advance.product.u, build.iso))
    lanes = lanes_of(along.layout.work, along.layout.units)
    u, t = build.buffers[advance.product.u], build.buffers[advance.target]
    state = build.first[advance.target]
    units, size = np.int64(along.layout.units), np.int64(advance.product.outer)
    most = tuning.count("cluster.positions"), tuning.count("cluster.listed_entries")
    if isinstance(how, Advance):
        most = tuning.count("cluster.units"), tuning.count("cluster.entries")
        if not along.kernel.any_product and along.layout.rows_per_unit > 1:
            most = most[0], min(most[1], tuning.count("cluster.value_entries"))
    # If rows have very different lengths, few rounds are small before the first large ones: check only later.
    first = build.copies if along.segments else 0
    longest = build.longest(along.layout)
    limits = np.int64(longest), np.int64(first), *map(np.uint64, most)
    states = build.number(state + 1), build.number(state)
    buffers = *t.bits, *(build.cells_at(t, k, along.kernel.kind) for k in range(BUFFERS))
    args: tuple[Argument, ...]
    matrix = *launch_arguments(build.mask(advance.mask)), *along.matrix(build.device, longest)
    if isinstance(how, Advance):
        if lanes == tuning.count("cluster.lanes") and fits_64_registers(along, base):
            cluster = cluster._replace(threads=2 * cluster.threads)
        visited = visited_vector(advance, along)
        fits = visited is not None and along.layout.rows_per_unit == 1 and cluster.holds(advance.target.size)
        shared = cluster.bits_bytes if fits else 0
        variant, parameters = rounds_variant(base, advance, build.iso, cluster, lanes, visited, shared)
        lists = u.lists[0], u.lists[1], u.lists[2], u.segments[0]
        args = units, size, *limits, build.rounds, *states, *buffers, *lists
    else:
        variant, parameters = worklist_variant(base, how, build.iso, cluster, lanes)
        xp = build.device.xp
        spill = (build.scratch.array(max(1, advance.target.size), np.uint32) for _ in range(3))
        lists = t.lists[0], t.lists[2], t.segments[0], xp.zeros(words(advance.target.size), np.uint64), *spill
        condition = build.number(*build.condition_at(0))
        source = u.at(u.bits), *launch_arguments(build.values_of(u, along.kernel))
        args = units, size, *limits, condition, build.rounds, *states, *buffers, *source, *lists
    launch = build.launcher(
        variant, cluster.blocks, (*args, *matrix, *build.resolve(parameters)), variant.constant("THREADS")
    )
    counted = frozenset[Vec]() if isinstance(how, Advance) else how.sparse
    return SmallRounds([launch], f"rounds with small frontiers run in one cluster: {variant}", first > 0, counted)


def lanes_of(work: int, units: int) -> int:
    """Lanes for a row or tile row, by its average number of items: a cluster has fewer threads than the grid."""
    short = tuning.count("cluster.lanes_short")
    return short if short * units >= work else tuning.count("cluster.lanes")


def fits_64_registers(along: AdvanceMatrix, advance: Variant) -> bool:
    """Whether small rounds of an advance spill nothing with 64 registers per thread, half of what a thread can have."""
    decodes = advance.constant("PACKED") or along.layout.format.kernels["advance"].item == "code"
    any_of_equal = along.kernel.any_product and isinstance(along.values, np.generic)
    return along.kernel.kind == WORDS or (any_of_equal and not decodes)


def visited_vector(advance: Advance, along: AdvanceMatrix) -> Vec | None:
    """The vector whose complement is the mask, if the statements at the entries of the frontier do nothing to it but
    add these entries: it may have them a round earlier, when they are found. None if there is none."""
    mask, kernel = advance.mask, along.kernel
    if not advance.also or mask is None or not mask.complement:
        return None
    if not kernel.any_product or (kernel.kind != WORDS and advance.target.dtype is BOOL):  # values are bits
        return None
    for s in advance.before:
        reads = isinstance(s.value, Elementwise) and mask.vec in (*s.value.terms, *s.value.defaults)
        if reads or (s.target == mask.vec and s.accum is not None):
            return None
    return mask.vec


def rounds_variant(
    base: Variant, advance: Advance, iso: IsoValues, cluster: Cluster, lanes: int, visited: Vec | None, shared: int
) -> tuple[Variant, tuple[Parameter, ...]]:
    """The kernel of an advance and the statements at its entries, and its parameters. The frontier, whose buffers
    rotate inside the kernel, is not among them. visited: a vector to whose bits the kernel itself adds the entries; if
    it gets a copy of their values, it holds them from the beginning. shared: bytes of a block's shared memory for these
    bits while the cluster runs; 0: they stay where they are."""
    u, before = advance.product.u, advance.before
    written = frozenset[Vec]() if visited is None else frozenset({visited})
    writers = [s for s in before if s.target == visited]
    direct = base.constant("KIND") == VALUES and len(writers) == 1 and copies(writers[0], u, iso)
    others = [s for s in before if not (direct and s in writers)]
    text, at_entry = entry_text(others, u, iso, whole=written, unread=written)
    lines = list[str]()
    if visited is not None:
        text.bits(visited, written=True)
        lines.append(f"#define VISITED_BITS x{visited.id}_bits")
    if visited is not None and direct:
        text.values(visited, written=True)
        lines.append(f"#define ENTRY_VALUES x{visited.id}_val")
    rotating = [p for p in text.parameters if p.key in (Key("bits", u.id), Key("val", u.id))]
    parameters = tuple(p for p in text.parameters if p not in rotating)
    lines += [f"#define x{u.id}_{p.key.kind} b.{p.key.kind}" for p in rotating]
    lines += [macro("PARAMETERS", [f", {p.declaration}" for p in parameters]), at_entry]
    label = " with statements" if before else ""
    macros = "\n".join(lines) + "\n"
    variant = _variant(base, "rounds", text, macros, label, cluster, lanes, places=False)
    unread = base.constant("KIND") == WORDS or advance.product.semiring.op.binaryop.positional
    reads = not unread or any(p.key.kind == "val" for p in rotating)
    flags = {"VISITED": int(visited is not None), "READS_FRONTIER": int(reads), "SHARED_BYTES": shared}
    return dataclasses.replace(variant, constants=tuple((dict(variant.constants) | flags).items())), parameters


def worklist_variant(
    advance: Variant, round_: WorklistRound, iso: IsoValues, cluster: Cluster, lanes: int
) -> tuple[Variant, tuple[Parameter, ...]]:
    """The kernel of a round of element-wise kernels and an advance, and the parameters of its statements."""
    text, others, macros = worklist_text(round_, iso)
    count = sum(len(p.statements) for p in (*round_.before, *round_.after)) + len(round_.advance.before)
    return _variant(
        advance, "worklist_rounds", text, macros, f" with {count} statements", cluster, lanes, places=True
    ), others


def _variant(
    advance: Variant,
    kernel: str,
    text: CudaKernel,
    macros: str,
    label: str,
    cluster: Cluster,
    lanes: int,
    *,
    places: bool,
) -> Variant:
    """The advance's variant as that of another kernel of its format."""
    constants = {**dict(advance.constants), "LANES": lanes, "PULLS": 0, "PLACES": int(places), "VISITED": 0}
    constants |= {"CLUSTER": cluster.blocks, "THREADS": cluster.threads, "QUEUE_BYTES": cluster.queue_bytes}
    # The step's own functions keep their names; those of statements are f0, f1, ..
    return dataclasses.replace(
        advance,
        kernel=f"{advance.kernel.rpartition('/')[0]}/{kernel}",
        constants=tuple(constants.items()),
        functions=(*advance.functions, *text.functions),
        text=macros,
        label=advance.label + label,
    )
