"""Symbolic stand-ins for a body's objects during capture: sizes, types and devices are known, entries are not and raise
CaptureError."""

from __future__ import annotations

from typing import Any


class Shape:
    """Stands for a Vector."""

    def __init__(self, recorder: Any, vector: Any) -> None:
        data = vector._data
        self.size, self.dtype, self.device = data.size, data.dtype, data.device
        self.order = None  # known after recording
        self._recorder, self._vector, self._name = recorder, vector, vector.name

    def __getattr__(self, name: str) -> Any:
        if name == "nvals":
            return self._recorder.count(self._vector)
        self._recorder.refuse(f"{self._name}: reading its entries")


class MatrixShape:
    """Stands for a Matrix."""

    def __init__(self, recorder: Any, matrix: Any) -> None:
        data = matrix._data
        self.nrows, self.ncols, self.dtype, self.device = data.nrows, data.ncols, data.dtype, data.device
        self.order = None
        self._recorder, self._matrix = recorder, matrix

    def __getattr__(self, name: str) -> Any:
        if name == "nvals":
            return self._recorder.count(self._matrix)
        self._recorder.refuse(f"{self._matrix.name}: reading its entries")
