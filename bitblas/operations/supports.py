"""Masked products C<C> = C plus.pair C' of a matrix that has lost a few entries: only the rows of these are read.

C is symmetric, and the product counts at each entry (i, j) the k with entries (i, k) and (j, k): the support of an
edge, which is its number of triangles. Trusses count, select the entries with enough triangles, and count again. The
values of the selected entries are still the counts before the selection. So the store of a selection also lists the
entries that it removed (`Removed` in its `prepared`), and the next product lowers a copy of its values by the wedges
of these (kernels/supports.cu). A store never changes, so the list cannot be out of date; it takes 8 bytes a removed
entry. Entries with a count of 0 are in no wedge at an entry, so they are not listed.

Wang, Cheng: Truss decomposition in massive networks. PVLDB 5(9), 2012.
"""

from __future__ import annotations

import numpy as np

from semirings import Operator, Typed
from semirings.dtypes import lookup_dtype

from .. import tuning
from ..formats import CSR, Structure
from ..kernels.variant import Variant
from ..store import MatrixStore, Removed
from ..typing import Array, Number
from .value_arrays import index


def remember(counts: MatrixStore, of: Structure | None = None) -> None:
    """Note that the values of a store are the counts of all entries of a structure; None: it is symmetric."""
    counts.prepared["removed"] = Removed(counts.device.xp.zeros(0, np.int64), of)


def remember_selection(
    A: MatrixStore, C: MatrixStore, op: Typed[Operator], thunk: Number, keep: Array | None = None
) -> None:
    """Note the entries that are in A and not in C, its entries for which op(entry, thunk) is true: `keep`, if known.
    They are symmetric, because the counts are."""
    before = A.prepared.get("removed")
    if before is None or before.keys is None or C is A or op.op.positional or A.iso:
        return
    if C.structure.primary.key != CSR:
        return
    count, mean = A.nvals - C.nvals + len(before.keys), A.nvals / max(1, A.nrows)
    share, few = tuning.value("supports.removed_share"), tuning.value("supports.few_entries")
    if count > share * A.nvals:
        why = f"{count} entries were removed, of {A.nvals}: supports.removed_share = {share:g}"
        C.prepared["removed"] = Removed(None, why=why)
        return
    if not A.device.host_memory and mean <= few:
        why = f"rows have {mean:.2g} entries on average, which are soon read: supports.few_entries = {few:g}"
        C.prepared["removed"] = Removed(None, why=why)
        return
    if before.of is not None and not before.of.symmetric:  # a pass over all entries: tested last
        return
    xp, rows = A.device.xp, A.structure.plain_rows()
    values = A.values
    if keep is None:
        keep = index(A.device, op, values, None, None, thunk).astype(bool, copy=False)
    places = xp.flatnonzero(~keep)
    places = places[values[places] != 0]
    row = xp.searchsorted(rows.ptr, places.astype(rows.ptr.dtype), side="right") - 1
    keys = row.astype(np.int64) * A.nrows + rows.columns_at(places)
    if len(before.keys):
        keys = xp.sort(xp.concatenate([keys, before.keys]))
    C.prepared["removed"] = Removed(keys)


def variant(A: MatrixStore, lanes: int) -> Variant:
    """The kernel that lowers the counts of A."""
    rows = A.structure.plain_rows()
    types = ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(rows.col.dtype)), ("COUNT", A.dtype)
    return Variant("kernels/lower_supports", types, (("LANES", lanes),))


def lowered(A: MatrixStore, lanes: int) -> Array:
    """The count of each entry of A, whose values are the counts before some entries were removed."""
    device, rows, keys = A.device, A.structure.plain_rows(), A.prepared["removed"].keys
    device.foresee(f"counts of {A.nvals} entries", A.nvals * A.dtype.nbytes)
    counts: Array = A.values.copy()
    if len(keys) and A.nvals:
        # On the CPU one thread: two would lower one count at the same time
        device.kernel(variant(A, lanes))(len(keys), A.nrows, keys, rows.ptr, rows.col, counts)
    return counts
