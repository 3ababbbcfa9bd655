"""Save and load a Matrix: its stored formats as they are in memory, so that loading is mapping or one copy to a GPU.

Sections: "matrix" (shape, dtype, name; the values), "form" for each stored format, the primary one first, and "places"
for a format: the position of each of its values in the primary one; "order": the permutation of a reordered matrix. A
section that a version does not support is skipped if it is marked as optional, otherwise the file is refused. "graph",
the names of a Graph (`io/file_formats.py`), is optional.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import dtypes
from semirings.user_types import UserType, described

from ... import operations
from ...device import Device
from ...exceptions import InvalidValue
from ...formats import Layout, Structure, restored
from ...formats.packing import PackedValues, base_of, packed_words
from ...order import Order, order_of
from ...store import MatrixStore, Raw
from ..convert import check_size, device_of
from ..options import AUTO, StorageOptions, check_storage_options
from .stored import StoredMatrix

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...formats.container import Container, Section
    from ...typing import Array
    from ..typing import DeviceArg

KNOWN = ("matrix", "order", "form", "places")


class MatrixFile(StoredMatrix):
    """Methods that write a Matrix to a file and read it."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str], *, forms: bool = False) -> None:
        """Write the matrix to a file of bitblas' own format (`.bitblas`), in its current order, for
        `Matrix.load`; in the requested stored format, else the best one (docs/planning.md), to which the
        matrix is converted.

        Parameters
        ----------
        forms : optional
            In all formats stored now, such as the transpose, and no other.

        Raises
        ------
        OSError
            If the file cannot be written.

        Notes
        -----
        The file appears whole or not at all, even if other processes save under the same name, with the
        mode of the one that it replaces. A killed process leaves nothing behind on file systems that
        support files without a name (ext4, XFS, Btrfs, tmpfs); elsewhere a hidden `.bitblas-*.part`, which
        the next save into that folder removes. Memory on the host: 32 MiB.
        """
        self._save_with(path, forms, [])

    def _save_with(self, path: str | os.PathLike[str], forms: bool, more: list[Section]) -> None:
        """The same with more sections after those of the matrix."""
        from ...formats.container import Section, write  # imports zlib, mmap, json and thread pools: 10 ms

        A, d = self._stored if forms else self._read(now=True), self.device
        facts = {"nrows": A.nrows, "ncols": A.ncols, "nvals": A.nvals, "dtype": A.dtype.name, "iso": A.iso}
        values = A.raw
        if isinstance(values, PackedValues):
            facts["packed"] = {"base": int(values.base), "width": values.width}
            values = values.string
        elif isinstance(values, np.generic):
            values = np.array([values])
        if isinstance(A.dtype, UserType):
            facts["record"], values = A.dtype.described(), A.dtype.raw(d.to_host(A.values))
            facts.pop("packed", None)
        sections = [Section("matrix", {**facts, "name": self.name, "format": list(self._layout)}, {"values": values})]
        if A.order is not None:
            sections.append(Section("order", {}, {"perm": A.order.perm}))
        written: list[Layout] = []
        with d.guard:
            for key, transposed, layout, places in A.structure.forms():
                if written and not forms:
                    break
                same = next((k for k, other in enumerate(written) if other is layout), None)
                about = {"key": key, "transposed": transposed, "same": same, "numbers": layout.numbers()}
                sections.append(Section("form", about, layout.arrays() if same is None else {}))
                if places is not None:
                    sections.append(Section("places", {"form": len(written)}, {"places": places}))
                written.append(layout)
            write(path, [*sections, *more], d)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        verify: bool = False,
        name: str | None = None,
        device: DeviceArg = None,
        format: str | None = None,
        tile: int | None = None,
        packed: bool | None = None,
    ) -> Self:
        """The Matrix that `save` wrote, in the same stored format, or the requested one.

        Parameters
        ----------
        verify : optional
            Check all blocks and the contents of every array, which reads all of them; without it, a
            maliciously crafted file can make kernels read beyond their arrays. Packed values stay packed
            and plain ones plain, unless `packed` says otherwise.

        Raises
        ------
        OSError
        InvalidValue
            With file and reason, if it is not such a file, was truncated, changed, or written by another
            version or on a machine of other byte order, or is inconsistent.
        DeviceError
        OutOfMemory

        Notes
        -----
        On the CPU the arrays are mapped from the file: pages are read when they are needed, and the file
        must not be changed in place meanwhile (`save` never does: it writes a new one). On a GPU they are
        copied block by block, and each block is checked.
        """
        from ...formats.container import Container

        layout = check_storage_options(format, tile, packed)
        return cls._of_file(Container(path), verify, name, device, layout)

    @classmethod
    def _of_file(
        cls, file: Container, verify: bool, name: str | None, device: DeviceArg, layout: StorageOptions
    ) -> Self:
        """The Matrix of an open file."""
        d = device_of(device)
        d.foresee(f"{file.name}: its arrays", file.nbytes)
        with d.guard:
            try:
                store, facts = _restored(file, d, verify)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                if isinstance(error, InvalidValue) and str(error).startswith(file.name):
                    raise
                what = f"no {error}" if isinstance(error, KeyError) else str(error)
                raise file.fault(f"expected the arrays of a valid matrix, got: {what}") from None
            if layout.asks:
                store = operations.convert.with_format(store, *layout[:2])
            if layout.packed is not None:
                store = operations.convert.with_values(store, layout.packed)
        requested = check_storage_options(*facts["format"] or AUTO) if layout == AUTO else layout
        return cls._from_store(store, name or facts["name"], requested, as_is=True)


def _restored(file: Container, d: Device, verify: bool) -> tuple[MatrixStore, dict[str, Any]]:
    unknown = [s.name for s in file.sections if s.name not in KNOWN and s.required]
    if unknown:
        raise file.fault(f"expected sections {', '.join(KNOWN)}, got {unknown[0]!r}, which a newer bitblas may support")
    matrix, *others = [s for s in file.sections if s.name in KNOWN]
    facts = matrix.facts
    size = nrows, ncols, nvals = [check_size(x, facts[x]) for x in ("nrows", "ncols", "nvals")]
    if matrix.name != "matrix" or not isinstance(facts["name"], str) or not isinstance(facts["iso"], bool):
        raise ValueError("no matrix in the first section")
    check_storage_options(*facts["format"] or AUTO)
    forms: list[tuple[str, bool, Layout]] = []
    places: dict[int, Array] = {}
    order: Order | None = None
    for section in others:
        arrays, about = file.load(section, d, verify), section.facts
        if section.name == "places":
            places[about["form"]] = _each_once(d, "places", arrays["places"], nvals, verify)
            continue
        if section.name == "order":  # checked in any case, because the user's indices are found through it
            order = order_of(d, _each_once(d, "perm", arrays["perm"], nrows, True).astype(np.int64))
            continue
        key, transposed, same = about["key"], bool(about["transposed"]), about["same"]
        layout = forms[same][2] if same is not None else restored(d, key, about["numbers"], arrays)
        shape = [ncols, nrows, nvals] if transposed else size
        if [layout.nrows, layout.ncols, layout.nvals] != shape:
            raise ValueError(f"format {key}: expected {shape}, got {[layout.nrows, layout.ncols, layout.nvals]}")
        if verify and same is None:
            layout.check()
        forms.append((key, transposed, layout))
    if forms[0][1]:
        raise ValueError("a primary format that is a transpose")
    structure = Structure(forms[0][2])
    for k, (key, transposed, layout) in enumerate(forms):
        structure.keep(key, transposed, layout, places.get(k))
    if "record" in facts:
        dtype: dtypes.DataType = described(facts["dtype"], facts["record"])
    else:
        dtype = dtypes.lookup_dtype(facts["dtype"])
    values = _values(file.load(matrix, d, verify)["values"], facts, d, dtype, verify)
    if order is not None and nrows != ncols:
        raise ValueError("an order of vertices, but no square matrix")
    return MatrixStore(structure, dtype, values).tagged(order), facts


def _values(values: Array, facts: dict[str, Any], d: Device, dtype: dtypes.DataType, verify: bool) -> Raw:
    """The values of a store from the array of a file."""
    nvals, iso, packing = facts["nvals"], facts["iso"], facts.get("packed")
    if iso and packing is not None:
        raise ValueError("values: expected one for all entries or packed ones, got both")
    count, kind = (1 if iso else nvals), dtype
    if isinstance(dtype, UserType):
        if values.dtype != np.uint8 or len(values) != count * dtype.record.itemsize:
            raise ValueError(f"values: expected {count} of {dtype}, got {len(values)} bytes of {values.dtype}")
        numbers = dtype.of_raw(d.to_host(values))
        return np.int64(numbers[0]) if iso else d.asarray(numbers)
    if packing is not None:
        base, width = base_of(dtype, packing["base"], packing["width"]), packing["width"]
        count, kind = packed_words(nvals, width), dtypes.UINT32
    if values.dtype != kind.np_type or len(values) != count:
        raise ValueError(f"values: expected {count} of {kind}, got {len(values)} of {values.dtype}")
    if packing is not None:
        found = PackedValues(d, dtype, base, width, nvals, values)
        if verify:
            found.check()
        return found
    if verify and dtype is dtypes.BOOL and len(values) and int(values.view(np.uint8).max()) > 1:
        raise ValueError("values: expected bytes of 0 and 1")
    return dtype.np_type.type(d.to_host(values)[0]) if iso else values


def _each_once(d: Device, name: str, numbers: Array, size: int, verify: bool) -> Array:
    """The integers below `size` in some order."""
    if numbers.dtype.kind != "i" or numbers.shape != (size,):
        raise ValueError(f"{name}: expected {size} integers, got {numbers.dtype} of shape {numbers.shape}")
    if verify and size:
        seen = d.xp.zeros(size, bool)
        if int(numbers.min()) < 0 or int(numbers.max()) >= size:
            raise ValueError(f"{name}: expected integers from 0 to {size - 1}")
        seen[numbers] = True
        if not bool(seen.all()):
            raise ValueError(f"{name}: expected every integer once")
    return numbers
