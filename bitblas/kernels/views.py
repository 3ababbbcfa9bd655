"""Views in CPU kernels: arguments that belong together under one name, as in CUDA C++ (views.cuh).

A .cpu.py text writes `u: VectorView` in a signature and `u.bits` in the body. Numba gets plain arguments instead
(`u_bits`), because a native call with single arguments costs least. `f(u)` passes all fields.
"""

from __future__ import annotations

import re

VIEWS = {
    "VectorView": ("bits", "values", "iso", "stride"),
    "DenseView": ("bits", "values"),
    "VectorValues": ("values", "iso", "stride"),
    "MatrixValues": ("values", "iso", "stride"),
    "MaskView": ("bits", "stride", "invert"),
    "RowsView": ("begin", "end", "row_of", "row_stride"),
    "ColumnsView": ("col", "width"),
    "TilesView": ("col", "bits", "value_ptr"),
    "PackedTilesView": ("col.col", "col.width", "bits", "value_ptr"),
    "RestView": ("near", "near_width", "far", "far_width", "in_tiles", "in_near", "parts"),
    "Region": ("row_low", "row_high", "col_low", "col_high", "diag_low", "diag_high"),
    "LinesView": ("bits", "values", "iso", "stride"),
    "LinesMask": ("bits", "stride", "invert"),
    "LinesOutput": ("bits", "values"),
    "Values": ("values", "iso", "stride"),
    "LeftView": ("ptr", "col", "values", "iso", "stride"),
    "RightView": ("ptr", "col", "values", "iso", "stride"),
    "MaskRows": ("ptr", "rows", "col", "width"),
    "Matrix": ("ptr", "col", "width"),
    "MatrixC": ("ptr", "col", "values"),
    "OutputView": ("bits", "values"),
    "Epilogue": ("w.bits", "w.values", "w.iso", "w.stride", "moved", "replace", "t.bits", "t.values"),
}
_VIEWED = re.compile(rf"\b(\w+): ({'|'.join(VIEWS)})\b")
_FUNCTION = re.compile(r"^def .*?(?=^[^\s)])|^def .*", re.M | re.S)


def arguments(name: str, view: str) -> list[str]:
    """The plain arguments of a view."""
    return [f"{name}_{field.replace('.', '_')}" for field in VIEWS[view]]


def without_views(text: str) -> str:
    """The text of a module in which functions take plain arguments."""
    return _FUNCTION.sub(lambda function: _expanded(function[0]), text) if _VIEWED.search(text) else text


def _expanded(function: str) -> str:
    for name, view in _VIEWED.findall(function[: function.index("):")]):
        every = ", ".join(arguments(name, view))
        function = function.replace(f"{name}: {view}", every, 1)
        for field in VIEWS[view]:
            function = re.sub(rf"(?<![\w.]){name}\.{re.escape(field)}\b", f"{name}_{field.replace('.', '_')}", function)
        function = re.sub(rf"(?<![\w.\"]){name}(?=[,)])", every, function)
    return function
