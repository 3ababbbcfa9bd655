"""Plans of products (SpMV, SpGEMM, multivectors): facts go in, a frozen decision that prints itself comes out.

Kernels decide nothing. Thresholds are rows of the tuning table (bitblas/tuning.py).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.dtypes import BOOL, DataType, cast_scalar

from .. import tuning
from ..device import Device
from ..display import html
from ..formats import CSR, Layout, Structure, format_of
from ..formats.bitmap.layout import lines_of
from ..formats.schedule import power_of_two as power_of_two
from ..kernels.variant import COUNT as COUNT
from ..kernels.variant import KINDS, VALUES, WORDS
from ..store import FlatStore, MatrixStore, Removed

if TYPE_CHECKING:
    from ..operations.operands import MatrixMask

# ---- The plan of a product.

# Kernels of products with a vector. BINNED is a pull by rows binned by length (formats/csr/kernels.py); WIDE the CPU's
# pull by whole tiles; PRESENCE a pull of a full vector whose result is the rows that have entries; LIST the CPU's push
# along a sorted list of entries; SUMS a pull by a copy for repeated sums (formats/csr/sums.py).
PULL, BINNED, WIDE, PRESENCE, PUSH, LIST = "pull", "binned pull", "wide pull", "presence", "push", "list"
SUMS = "sums"
# Kernels of products of two matrices: dot products at the entries of a mask; Gustavson's, by rows; by lines of a
# multivector. Semirings of functions of a user-defined type: all products are sorted by position.
# A product without a mask of two matrices of tiles is computed tile by tile, as tiles. Under a mask, two matrices that
# have all entries are multiplied as dense arrays (operations/sddmm.py).
# A masked product of a matrix with itself, whose values are the counts before some entries were removed, lowers these
# (operations/supports.py).
DOT, ROWS, LINES, SORTED, TILES, SDDMM = "dot", "rows", "lines", "sorted", "tiles", "sddmm"
REMOVED = "removed"


def equal_products(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> np.generic | None:
    """The common value of all products, if there is one: pair; first or second of an iso operand; any operator that
    ignores positions if both are iso. `a`, `u`: the values, np.generic if iso."""
    x, y = (u, a) if flip else (a, u)
    x_key, y_key = ((v.dtype.char, v.tobytes()) if isinstance(v, np.generic) else None for v in (x, y))
    return _equal_products(semiring, x_key, y_key)


@functools.lru_cache(1 << 12)
def _equal_products(semiring: Typed[Semiring], x: Any, y: Any) -> np.generic | None:
    """The same for operands given as (type, bytes), or None if not iso."""
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    uses = {"x": op.expr not in ("1", "y"), "y": op.expr not in ("1", "x")}
    given = {"x": x, "y": y}
    if op.positional or any(used and given[name] is None for name, used in uses.items()):
        return None
    values = {name: np.frombuffer(given[name][1], given[name][0])[0] if used else 0 for name, used in uses.items()}
    names = {name: cast_scalar(value, op.casts(t)[0]) for name, value in values.items()}
    return op.evaluate(t, **names)


# The operators of the CPU's lanes, by expression (lanes.cpu.py has the functions in this order).
LANE_EXPRESSIONS = ("x", "y", "plus(x, y)", "minus(x, y)", "times(x, y)", "least(x, y)", "greatest(x, y)")


def is_wide(semiring: Typed[Semiring], kind: int, key: str, a: Any) -> bool:
    """Whether the CPU's kernel for all 64 positions of a tile at once supports the product: see lanes.cpu.py."""
    z, monoid, op = semiring.return_type, semiring.op.monoid, semiring.op.binaryop
    if "mxv.pull.wide" not in format_of(key).kernels or kind == WORDS or z is BOOL or z.kind == "c":
        return False
    if kind == COUNT:
        return True
    compute = op.compute_type(semiring.op.operand_type(semiring.dtype))
    known = op.expr in LANE_EXPRESSIONS and monoid.binaryop.expr in LANE_EXPRESSIONS[2:]
    return known and not op.positional and compute is z and isinstance(a, np.generic)


class Plan(NamedTuple):
    """How one product runs: the format that is read (of A or of its transpose), direction, kernel and lanes. A product
    is prepared and run from its plan; `gb.explain` returns the same plan.

    wide: the CPU's kernel for all positions of a tile at once. source: the text of its kernels, if requested. kernel:
    one of the names above. full: the vector is known to have all entries. product: the value of all products, if they
    are equal.
    """

    verb: str
    semiring: str
    key: str
    transposed: bool
    # pull: by rows of the output; push: by entries of the vector; dot: by entries of the mask; gustavson: row by row;
    # tiles: tile by tile
    direction: str
    kind: int
    lanes: int
    reason: str
    wide: bool = False
    source: str = ""
    kernel: str = PULL
    full: bool = False
    product: np.generic | None = None

    def __str__(self) -> str:
        said, text = self._said(), f"\n\n{self.source}" if self.source else ""
        how = f"{said['direction']} on {said['form']}, {said['computes']}, {said['lanes']} lanes"
        return f"{said['product']}: {how} ({said['why']}){text}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html([("plan", ""), *self._said().items()], *([self.source] if self.source else []))

    def _said(self) -> dict[str, str]:
        layout = self.key + (" of the transpose" if self.transposed else "")
        return {
            "product": f"{self.verb} {self.semiring}",
            "form": layout,
            "direction": self.direction,
            "computes": KINDS[self.kind],
            "lanes": "8 x 8" if self.wide else str(self.lanes),
            "why": self.reason,
        }


def kind_of(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> tuple[int, np.generic | None]:
    """WORDS, COUNT or VALUES, and the common value of all products, if there is one."""
    product = equal_products(semiring, a, u, flip=flip)
    return VALUES if product is None else WORDS if semiring.op.monoid.is_idempotent else COUNT, product


def reads_matrix(semiring: Typed[Semiring], flip: bool) -> bool:
    """Whether the multiplier reads the matrix's values, which are y in its expression if `flip`, else x."""
    op = semiring.op.binaryop
    return not op.reads_positions_only and op.expr not in ("1", "x" if flip else "y")


def any_order(semiring: Typed[Semiring], kind: int) -> bool:
    """Whether sums may be taken in any order. Counts and inexact float sums are taken by rows."""
    exact = semiring.return_type.kind not in "fc" or semiring.op.monoid.is_exact_in_any_order
    return kind == WORDS or (kind == VALUES and exact)


def has_fused_epilogue(key: str, semiring: Typed[Semiring], w: DataType, accum: Typed | None) -> bool:
    """Whether a pull has its epilogue in the kernel: for the outputs and accumulators that are common with a semiring.
    Each epilogue is a separate kernel, which takes 0.1 to 1 s to compile; all others take one more element-wise
    kernel."""
    if not format_of(key).kernels["mxv.pull"].fused or w is not semiring.return_type:
        return False
    return accum is None or (accum.op.name == semiring.op.monoid.name and accum.dtype is w)


def may_split_rows(semiring: Typed[Semiring], kind: int, layout: Layout, full: bool) -> bool:
    """Whether a GPU may split rows freely (without a mask): partial products combine the same way within a row and
    across rows."""
    monoid, op = semiring.op.monoid, semiring.op.binaryop
    return layout.device.is_simt and kind == VALUES and full and monoid.name != "any" and not op.positional


def is_binned(semiring: Typed[Semiring], kind: int, layout: Layout, full: bool, u: DataType) -> bool:
    """Whether rows are degree-binned, if no entry of the output stays: sums of numbers over enough entries to amortize
    the schedule."""
    binned = layout.format.kernels.get("mxv.pull.binned")
    return binned is not None and sums_numbers(semiring, kind, layout, full, u) and binned.suits(layout)


def sums_numbers(semiring: Typed[Semiring], kind: int, layout: Layout, full: bool, u: DataType) -> bool:
    """Whether a GPU may split rows, and sums numbers."""
    numbers = all(t is not BOOL and t.kind in "fiu" for t in (semiring.return_type, u))
    return numbers and may_split_rows(semiring, kind, layout, full)


DEGREE_BINNED = "degree-binned rows"


def with_bins(plan: Plan, layout: Layout, semiring: Typed[Semiring], u: DataType, *, ordered: bool) -> Plan:
    """The plan of a pull with its schedule of rows, once the format exists. ordered: the matrix was reordered."""
    format = layout.format
    if plan.kernel != PULL or not is_binned(semiring, plan.kind, layout, plan.full, u):
        return plan
    binned = format.kernels["mxv.pull.binned"]
    why = DEGREE_BINNED
    if binned.keeps_hot_columns:
        hot = binned.hot(layout, hot_bytes(layout.device) // u.nbytes)
        by_degree = "no hot columns" if ordered else 'no hot columns, which A.reorder("degree") may give'
        why = f"{why}, {f'{hot} hot columns in shared memory' if hot else by_degree}"
    return plan._replace(kernel=BINNED, reason=f"{plan.reason}; {why}")


def hot_columns(device: Device) -> int:
    """Columns of which a block keeps vector values of 4 bytes in shared memory."""
    return hot_bytes(device) // 4


def hot_bytes(device: Device) -> int:
    """Bytes of shared memory for a block of a degree-binned pull, which has a multiprocessor for itself."""
    sizes = (tuning.count("binned.shared.bytes"), tuning.count("binned.shared.fewer_bytes"))
    return next((size for size in sizes if size <= device.block_shared_bytes), 0)


# ---- The plan of matrix-matrix products.

# SpGEMM on a GPU: a row has a hash table in shared memory, of which three in four slots may be used. A row that fits
# none is a long row, with a bitset in shared memory; blocks process the long rows one after the other.
TABLE_LANES = (8, 16, 32)  # lanes that share a row


def converted(structures: Iterable[Structure], key: str = "") -> str:
    """What a plan says about matrices that are stored for size, in another format than `key`, and whose rows it reads:
    they are converted for the statement, and their rows are not kept. "" if there are none."""
    made = [of.primary.key for of in structures if of.primary.compact and of.primary.key != key]
    return f"this statement converts {' and '.join(made)}" if made else ""


def plan_mxm(
    A: MatrixStore,
    B: MatrixStore,
    semiring: Typed[Semiring],
    mask: MatrixMask | None,
    transposed: tuple[bool, bool] = (False, False),
) -> Plan:
    """Dot products at the entries of a mask; without one, of two matrices of tiles with enough entries, tile by tile;
    otherwise row by row: see operations/spgemm.py. transposed: the operands."""
    kind, product = kind_of(semiring, A.raw, B.raw)
    layout, shared = A.structure.primary, A.device.is_simt
    key, direction, kernel, lanes, wide = layout.format.rows_key, "gustavson", ROWS, 1, False
    reason = "no mask, so row by row"
    if mask is None and "mxm" in layout.format.kernels and layout.key == B.structure.primary.key:
        enough, why = pays_by_tiles(layout, B.structure.primary, transposed, kind)
        if enough and _are_counts(semiring, kind, product, A):
            lanes = min(layout.format.rows_per_unit, 32) if shared else 1
            what = "mxm", semiring.op.name, layout.key, False, "tiles"
            return Plan(*what, kind, lanes, f"no mask, so tile by tile: {why}", kernel=TILES, product=product)
        reason = f"{reason}: {why}"
    if mask is not None and not mask.complement:
        dot = layout.format.kernels.get("dot")
        format = layout.format if dot is not None and (dot.on_cpu or shared) else format_of(CSR)
        key = format.kernels["dot"].key_with(format, B.structure.primary.format, A.nrows, A.ncols)
        kernels, direction, kernel = format_of(key).kernels, "dot", DOT
        lanes = kernels["dot"].lanes(layout) if shared else 1
        wide = not shared and "dot.wide" in kernels and kind != VALUES
        reason = "dot products only at the entries of the mask"
        if counts_itself(A, B, semiring, mask, kind, product) and (removed := A.prepared.get("removed")) is not None:
            if not (why := _recounts(A, semiring, removed)):
                reason = f"only the rows of {len(removed.keys)} removed entries: the values are the counts before"
                lanes = 32 if shared else 1
                return Plan("mxm", semiring.op.name, CSR, False, "removed", kind, lanes, reason, kernel=REMOVED)
            reason = f"{reason}; all are counted again: {why}"
    masks = () if mask is None else (mask.structure,)
    reason = "; ".join(filter(None, (reason, converted((A.structure, B.structure, *masks), key))))
    what = "mxm", semiring.op.name, key, False, direction
    return Plan(*what, kind, lanes, reason, wide, "", kernel, False, product)


def counts_itself(
    A: MatrixStore,
    B: MatrixStore,
    semiring: Typed[Semiring],
    mask: MatrixMask | None,
    kind: int,
    product: np.generic | None,
) -> bool:
    """Whether C<mask> = A plus.pair B counts at the entries of A, with B = A or its transpose, in integers that hold
    every count."""
    if mask is None or mask.complement or not (A.structure is B.structure is mask.structure):
        return False
    z, counts = semiring.return_type, kind == COUNT and product == 1 and semiring.op.monoid.name == "plus"
    return counts and z.kind in "iu" and z.nbytes >= 4 and A.nrows == A.ncols < 1 << 31


def _recounts(A: MatrixStore, semiring: Typed[Semiring], removed: Removed) -> str:
    """Why the counts cannot be those in the values of A, less the wedges of the removed entries; "" if they can."""
    if removed.keys is None:
        return removed.why
    if A.structure.primary.key != CSR or A.packed or A.iso:
        return f"entries are stored as {A.structure.primary.key}, not as rows with a value each"
    if A.dtype is not semiring.return_type:
        return f"the values are {A.dtype}, not {semiring.return_type}"
    return "the structure is not symmetric" if removed.of is not None and not removed.of.symmetric else ""


def plan_sddmm(
    A: MatrixStore,
    B: MatrixStore,
    semiring: Typed[Semiring],
    mask: MatrixMask | None,
    transposed: tuple[bool, bool],
) -> Plan | None:
    """The plan of a product of two matrices with all entries at those of a mask; None if it is none: see
    operations/sddmm.py. Equal products are counted, and BOOL values are not numbers side by side."""
    if mask is None or mask.complement or semiring.dtype._is_udt or not (_is_dense(A) and _is_dense(B)):
        return None
    shared, z = A.device.is_simt, semiring.return_type
    if BOOL in (A.dtype, B.dtype) or A.iso or B.iso or mask.structure.hypersparse or (shared and z.kind == "c"):
        return None
    if equal_products(semiring, None, None) is not None:
        return None
    width = A.nrows if transposed[0] else A.ncols
    lanes = sddmm_lanes(width, max(A.dtype.nbytes, B.dtype.nbytes)) if shared else 1
    key = mask.structure.primary.format.rows_key
    why = f"both operands have all entries: dot products of {width} numbers at the entries of the mask (SDDMM)"
    made = converted((mask.structure, *(of.structure for of in (A, B) if not isinstance(of, FlatStore))), key)
    why, what = "; ".join(filter(None, (why, made))), ("mxm", semiring.op.name, key, False, "dot")
    return Plan(*what, VALUES, lanes, why, kernel=SDDMM)


def sddmm_lanes(width: int, size: int) -> int:
    """Lanes that share a dot product of numbers of `size` bytes: each has some, 16 bytes if they divide it."""
    together = 16 // size
    return power_of_two(width if width % together else width // together, 1, 32)


def _is_dense(A: MatrixStore) -> bool:
    """Whether A is known to have an entry at each position, of which there are some. Counts nothing."""
    count = A.flat.count if isinstance(A, FlatStore) else A.structure.nvals
    return count == A.nrows * A.ncols > 0


def pays_by_tiles(left: Layout, right: Layout, transposed: tuple[bool, bool], kind: int) -> tuple[bool, str]:
    """Whether a product of tiles takes less time tile by tile than row by row, and the reason: the products
    a(i, k) b(k, j) per pair of tiles that it multiplies, if entries and tiles were spread evenly. transposed: the
    operands."""
    if kind == VALUES:
        return False, "its products differ"
    inner, tile = left.nrows if transposed[0] else left.ncols, left.rows_per_unit
    pairs = left.work * right.work / max(1, -(-inner // tile))
    found = left.nvals * right.nvals / max(1, inner) / pairs if pairs else 0.0
    kind_of_sum, device = KINDS[kind], left.device.kind
    least = tuning.value(f"spgemm.tile_products.{kind_of_sum}.{device}")
    row = f"spgemm.tile_products.{kind_of_sum}.{device} = {least:g}"
    return found >= least * tile, f"{found:.3g} products per pair of tiles, {row} times {tile}"


def _are_counts(semiring: Typed[Semiring], kind: int, product: np.generic | None, A: MatrixStore) -> bool:
    """Whether the sums of a product are presence, or numbers of products, which INT32 can count."""
    numbers = semiring.op.monoid.name == "plus" and semiring.return_type.kind in "iuf"
    return kind == WORDS or bool(numbers and product == 1 and max(A.nrows, A.ncols) < 1 << 31)


def plan_sorted(verb: str, semiring: Typed[Semiring], key: str) -> Plan:
    """The plan of a product over a semiring that computes with values of a user-defined type."""
    why = "functions of a user-defined type: all products are computed on the host and sorted by position"
    return Plan(verb, semiring.op.name, key, False, "sorted", VALUES, 1, why, kernel=SORTED)


def row_tables(bytes_per_slot: int) -> list[tuple[int, int]]:
    """Lanes and slots of the tables for short rows: as many slots as fit in shared memory."""
    tables = []
    for lanes in TABLE_LANES:
        room = tuning.count("spgemm.shared.bytes") * lanes // (256 * bytes_per_slot)
        slots = tuning.count(f"spgemm.table.slots_{lanes}_lanes")
        tables.append((lanes, min(slots, 1 << room.bit_length() - 1)))
    return tables


# ---- When a product with a multivector (tall-skinny matrix) runs on bitmaps (formats/bitmap).


def is_tall_skinny(nrows: int, ncols: int, nvals: int, kind: str, itemsize: int) -> bool:
    """Whether a matrix is converted to a bitmap for a product, and its result too, with values of `itemsize` bytes:
    rows of up to eight words, as many as a graph has vertices."""
    lines = lines_of(nrows, ncols)
    least = max(tuning.count("multivector.least_rows"), tuning.count("multivector.rows_per_column") * lines.width)
    shape = 1 < lines.width <= tuning.count("multivector.most_columns") and lines.number >= least
    dense = nvals * tuning.value(f"multivector.rows_per_entry.{kind}") >= lines.number
    return shape and dense and lines.places * itemsize <= tuning.value(f"multivector.bytes.{kind}")


def key_of_lines(structure: Structure, prefer: str, *, per_entry: bool) -> str:
    """The format in which a product with a multivector reads a matrix: the stored one if its rows can be walked, else
    rows. Tiles, next to which rows are kept, are walked if there are no rows yet; on a GPU only to save memory, because
    a warp takes a row there, and a thread in CSR. per_entry: products differ by entry, or by row and column, which rows
    of virtual nodes cannot."""
    format = structure.primary.format
    if format.has_virtual_nodes:
        return CSR if per_entry else format.key
    walks = structure.primary.compact or not (structure.has(CSR) or (structure.device.is_simt and prefer == "time"))
    return format.key if walks and "mxm.lines" in format.kernels else format.rows_key


# ---- Epilogues: how a kernel ends w<mask, accum, replace> = t.


class Epilogue(NamedTuple):
    """Epilogue of a pull with sums of type z: how w<mask, accum, replace> = t ends in the kernel.

    merge: entries of w may stay. store: values are written; otherwise all values are equal and only presence is
    written.
    """

    z: DataType
    w: DataType
    accum: Typed | None = None
    merge: bool = False
    store: bool = True

    def constants(self) -> tuple[tuple[str, int], ...]:
        flags = {"MERGE": self.merge, "ACCUM": self.accum is not None, "STORE": self.store, "W_BOOL": self.w is BOOL}
        return tuple((name, int(flag)) for name, flag in flags.items())


def plan_epilogue(
    z: DataType, product: np.generic | None, w: DataType, value: np.generic | None, accum: Typed | None
) -> Epilogue:
    """The epilogue of a statement whose output, of type w, keeps entries. product, value: the single value of all
    entries of t, and of w, or None; if they are equal and the accumulator reproduces that value, only presence is
    written."""
    if product is None or value is None or not _same(cast_scalar(product, w), value):
        return Epilogue(z, w, accum, merge=True)
    if accum is not None:
        op = accum.op.binaryop if isinstance(accum.op, Monoid) else accum.op
        t = accum.op.compute_type(accum.dtype) if isinstance(accum.op, Monoid) else accum.dtype
        if op.positional or not _same(cast_scalar(op.evaluate(t, x=value, y=product), w), value):
            return Epilogue(z, w, accum, merge=True)
    return Epilogue(BOOL, w, accum, merge=True, store=False)


def _same(x: Any, y: Any) -> bool:
    """Whether two scalars of one type are bitwise equal."""
    return bool(np.asarray(x).tobytes() == np.asarray(y).tobytes())
