"""The plan: facts about the operands go in, a frozen decision that prints itself comes out. Kernels decide nothing.

Thresholds stand here, with their reason and whether they were measured; those of a stored form in its choice.py.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, cast, lookup_dtype

from ..formats import Form, Structure, format_of, longest_unit
from ..formats.lanes import power_of_two as power_of_two
from ..kernels.kinds import COUNT as COUNT
from ..kernels.kinds import KINDS, VALUES, WORDS
from ..kernels.prologue import Variant
from ..store import MatrixStore, VectorStore, words

# A scattered entry against a streamed one (GPU: 30 % of a grid pushes in 27 us, pulls in 9).
PUSH_COST = {"cpu": 4.0, "gpu": 16.0}
SPREAD = 1 << 21  # threads that uneven rows are spread over


# ---- products -------------------------------------------------------------------------------------------------------


def equal_products(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> np.generic | None:
    """The one value that all products have, if they all have one: pair; first or second of an iso operand; any
    operator that ignores positions when both are iso. `a`, `u`: the values, np.generic where iso."""
    x, y = (u, a) if flip else (a, u)
    x_key, y_key = ((v.dtype.char, v.tobytes()) if isinstance(v, np.generic) else None for v in (x, y))
    return _equal_products(semiring, x_key, y_key)


@functools.lru_cache(1 << 12)
def _equal_products(semiring: Typed[Semiring], x: Any, y: Any) -> np.generic | None:
    """The same for operands given as (type, bytes), or None where they are not iso."""
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    uses = {"x": op.expr not in ("1", "y"), "y": op.expr not in ("1", "x")}
    given = {"x": x, "y": y}
    if op.positional or any(used and given[name] is None for name, used in uses.items()):
        return None
    compute = op.compute_type(t)
    names = {
        name: cast(np.frombuffer(given[name][1], given[name][0])[0], compute) if used else compute.np_type.type(0)
        for name, used in uses.items()
    }
    return op.evaluate(t, **names)


# What the CPU's lanes compute, by the expression of the operator (lanes.cpu.py has the functions in this order).
LANE_EXPRESSIONS = ("x", "y", "plus(x, y)", "minus(x, y)", "times(x, y)", "least(x, y)", "greatest(x, y)")


def is_wide(semiring: Typed[Semiring], kind: int, key: str, a: Any) -> bool:
    """Whether the CPU's kernel for all 64 places of a tile at once can do the product: see lanes.cpu.py."""
    z, monoid, op = semiring.return_type, semiring.op.monoid, semiring.op.binaryop
    if not format_of(key).wide or kind == WORDS or z is BOOL:
        return False
    if kind == COUNT:
        return True
    compute = op.compute_type(semiring.op.operand_type(semiring.dtype))
    known = op.expr in LANE_EXPRESSIONS and monoid.binaryop.expr in LANE_EXPRESSIONS[2:]
    return known and not op.positional and compute is z and isinstance(a, np.generic)


@dataclass(frozen=True)
class Plan:
    """How one product runs: the form read (of A or of its transpose), the direction, the kernel and its lanes.

    wide: the CPU's kernel for all places of a tile at once.
    """

    verb: str
    semiring: str
    key: str
    transposed: bool
    direction: str  # pull: by rows of the output; push: by entries of the vector; dot: by entries of the mask
    kind: int
    lanes: int
    reason: str
    wide: bool = False

    def __str__(self) -> str:
        form = self.key + (" of the transpose" if self.transposed else "")
        how = f"{self.direction} on {form}, {KINDS[self.kind]}, {'8 x 8' if self.wide else self.lanes} lanes"
        return f"{self.verb} {self.semiring}: {how} ({self.reason})"


def kind_of(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> tuple[int, np.generic | None]:
    """WORDS, COUNT or VALUES, and the value of all products where they are equal."""
    product = equal_products(semiring, a, u, flip=flip)
    return VALUES if product is None else WORDS if semiring.op.monoid.is_idempotent else COUNT, product


def _unordered(semiring: Typed[Semiring], kind: int) -> bool:
    """Sums that may be taken in any order: not counts, which are taken by rows, and no float sums."""
    exact = semiring.return_type.kind != "f" or semiring.op.monoid.is_exact_in_any_order
    return kind == WORDS or (kind == VALUES and exact)


def may_push(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool) -> bool:
    """Whether the product can be made by pushing along the entries of the vector."""
    return _unordered(semiring, kind_of(semiring, a, u, flip=flip)[0])


def has_rows(structure: Structure, transposed: bool) -> bool:
    """Whether the form that a push reads may be asked for: a compact one is not made again to push along it once, but
    for a loop (loop/build.py)."""
    return not structure.primary.compact or structure.has(structure.primary.key, transposed=transposed)


def is_sparse(u: VectorStore) -> bool:
    """Whether the entries of a vector are so few that pushing along them may cost less than pulling by rows. They are
    counted only where what is known leaves it open, because a GPU's host waits for the count."""
    cost = PUSH_COST["gpu" if u.device.is_gpu else "cpu"]
    return not (u.count is None and u.least * cost >= u.size) and u.nvals * cost < u.size


def is_light(u: VectorStore, form: Form) -> bool:
    """Whether the rows of a form where u has entries hold few entries too: a few vertices can have most of the edges.
    They are counted only where the longest row leaves it open, because a GPU's host waits for the count."""
    stored = form.work
    cost = PUSH_COST["gpu" if u.device.is_gpu else "cpu"]
    return u.nvals * longest_unit(form) * cost < stored or _entries_of(u, form) * cost < stored


def _entries_of(u: VectorStore, form: Form) -> int:
    """The entries (tiles) of the rows (tile rows) where u has entries."""
    per, device = form.rows_per_unit, u.device
    if device.is_gpu:
        total = device.xp.zeros(1, np.uint64)
        variant = Variant("kernels/weigh", (("PTR", lookup_dtype(form.ptr.dtype)),), (("ROWS", per), ("LANES", 1)))
        device.kernel(variant)(words(u.size), u.present, form.ptr, total)
        return int(device.to_host(total)[0])
    if per < 8:
        units = np.flatnonzero(np.unpackbits(u.present.view(np.uint8), bitorder="little")) // per
    else:
        units = np.flatnonzero(u.present.view(f"uint{per}"))
    return int((form.ptr[units + 1] - form.ptr[units]).sum())


def plan_mxv(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool
) -> tuple[Plan, np.generic | None]:
    """Format, direction and kernel of A (+).(x) u, and the value of all products where they are equal."""
    gpu = A.device.is_gpu
    kind, product = kind_of(semiring, A.raw, u.values, flip=flip)
    key = A.structure.primary.key
    floats = semiring.return_type.kind == "f" and not semiring.op.monoid.is_exact_in_any_order
    push, reason = False, "a float sum has a fixed order" if floats else "counts are taken by rows"
    if _unordered(semiring, kind):
        push, reason = is_sparse(u), f"{u.nvals} of {u.size} entries active"
        if push and not has_rows(A.structure, not transpose):
            push, reason = False, f"pushing would need {key} of the transpose too"
        if push and A.structure.has(key, transposed=not transpose):  # planning builds nothing
            push = is_light(u, A.structure.form(key, transposed=not transpose))
    transposed = transpose != push
    primary, nrows = A.structure.primary, A.ncols if transposed else A.nrows
    lanes = primary.format.lanes(primary, nrows, kind, push=push) if gpu else 1
    verb = "vxm" if flip else "mxv"
    wide = not gpu and not push and is_wide(semiring, kind, key, A.raw)
    return Plan(verb, semiring.op.name, key, transposed, "push" if push else "pull", kind, lanes, reason, wide), product


def is_fused(key: str, semiring: Typed[Semiring], w: DataType, accum: Typed | None) -> bool:
    """Whether a pull ends its statement in its kernel: for the outputs and accumulators that programs use with a
    semiring. Each end is a kernel of its own, which takes 0.1 to 1 s to compile; all others take one more pass."""
    if not format_of(key).fused or w is not semiring.return_type:
        return False
    return accum is None or (accum.op.name == semiring.op.monoid.name and accum.dtype is w)


def is_staged(semiring: Typed[Semiring], kind: int, form: Form, full: bool) -> bool:
    """Whether a block of a GPU reads the entries of its rows as one run (without a mask): where rows are of very
    different lengths, and products of any row and of any part of it are joined alike."""
    monoid, op = semiring.op.monoid, semiring.op.binaryop
    may = kind == VALUES and full and monoid.name != "any" and not op.positional
    return may and form.format.is_uneven(form)


def staged_lanes(lanes: int, rows: int) -> int:
    """Lanes for a row where rows are staged: more where these are few, so that the long ones, which neighbour each
    other in an order by degree, are spread over more blocks (plus_second, H200, microseconds with 4, 8, 16 lanes:
    RMAT 20 224, 242, 300; RMAT 18 55, 55, 68, by degree 108, 55, 58; email-Enron 25, 17, 15, and with 1: 79)."""
    return max(lanes, power_of_two(SPREAD / max(1, rows), 1, 8))
