"""A matrix through a text file and back, by both readers; and the expected result, from the values."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .compare import host

REFUSED = "refused"
INTEGERS = {
    name: (np.iinfo(name.lower()).min, np.iinfo(name.lower()).max)
    for name in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")
}


def entries(A: Any) -> tuple[list[int], list[int], list[Any]]:
    """Rows, columns and values in the order of the rows, as Python numbers."""
    rows, columns, values = map(host, A.to_coo())
    order = np.lexsort((columns, rows))
    return rows[order].tolist(), columns[order].tolist(), values[order].tolist()


def ours(A: Any, kind: str, dtype: str) -> Any:
    """What the whole and the chunked reader of bitblas make of the file that bitblas wrote."""
    import bitblas as gb

    def read(path: Path, *, chunked: bool) -> Any:
        try:
            if kind == "mtx":
                return entries(gb.io.mmread(path, dtype=dtype or None, chunked=chunked))
            size, weights = A.nrows, True if A.nvals else None
            how = {"dtype": dtype or None, "chunked": chunked, "size": size, "weights": weights, "directed": True}
            return entries(gb.io.read_edgelist(path, **how).matrix)
        except gb.exceptions.InvalidValue:
            return REFUSED

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"matrix.{kind}"
        if not _all_finite(A):
            return "not finite"
        gb.io.mmwrite(path, A) if kind == "mtx" else gb.io.write_edgelist(path, A, weights=True)
        is_whole = kind == "mtx" and (str(A.dtype) == "UINT64" or not A.nvals)  # these are read whole alone
        return [read(path, chunked=chunked and not is_whole) for chunked in (False, True)]


def expected(A: Any, kind: str, dtype: str) -> Any:
    """The same from the oracle's matrix: its entries, or an error if a value does not fit the type."""
    if not _all_finite(A):
        return "not finite"
    rows, columns, values = entries(A)
    if str(A.dtype) == "BOOL":
        values = [int(x) for x in values] if kind == "csv" or not all(values) else [True] * len(values)
    found: Any = rows, columns, [_as(x, dtype) for x in values]
    if None in found[2]:
        found = REFUSED
    return [found, found]


def _all_finite(A: Any) -> bool:
    values = host(A.to_coo()[2])
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())


def _as(x: Any, dtype: str) -> Any:
    """A number as that type; None if it does not fit an integer type."""
    if dtype in INTEGERS:
        low, high = INTEGERS[dtype]
        return int(x) if x == int(x) and low <= int(x) <= high else None
    if dtype == "FP32":
        return float(np.float32(x))
    return bool(x) if dtype == "BOOL" else float(x) if dtype == "FP64" else x
