"""Save and load a distributed Matrix: a folder with one file per rank, and a manifest, which is written last. A matrix
saved by some number of ranks can be loaded by another number.
"""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atomic import replacing
from ..core import Matrix as Whole
from ..exceptions import InvalidValue
from . import exchange, shares
from .building import MatrixBuild
from .start import current

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .building import LayoutOptions

MANIFEST = "manifest.json"
VERSION = 1


class MatrixFiles(MatrixBuild):
    """Saving and loading of a distributed Matrix."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix into a folder that all ranks can access, created if missing: each rank writes its rows in
        their stored format, then one rank writes the manifest. Until then, `load` opens what was saved before.

        Raises OSError (of this rank), DistributedError (another rank could not write).
        """
        group, folder = current(), Path(path)
        token = group.texts(uuid.uuid4().hex[:8])[0]
        names = [f"rows-{rank}-of-{group.size}-{token}.bitblas" for rank in range(group.size)]
        with group.statement(lambda: f"{self.name}.save({str(path)!r})"):
            group.all_or_none("save", lambda: self._write(folder, names[group.rank]))
            facts = {"version": VERSION, "shape": self.shape, "dtype": self.dtype.name, "name": self.name}
            facts |= {"bounds": self.shares.bounds, "files": names}
            group.all_or_none("save", lambda: _write_manifest(folder, facts) if group.rank == 0 else None)

    def _write(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._part.save(folder / name)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        verify: bool = False,
        name: str | None = None,
        **layout: Unpack[LayoutOptions],
    ) -> Self:
        """Load a Matrix that `save` wrote, on any number of ranks. verify: check the contents of files.

        If the number of ranks and the partition are the same, each rank maps its file; otherwise the entries are
        redistributed. Raises OSError, InvalidValue (invalid manifest or file), DistributedError.
        """
        group, folder = current(), Path(path)
        manifest = group.all_or_none("load", lambda: _manifest(folder))
        manifest = json.loads(group.texts(json.dumps(manifest))[0])  # another program may be saving it again
        files, bounds, nrows = manifest["files"], manifest["bounds"], manifest["shape"][0]
        with group.statement(lambda: f"Matrix.load({str(path)!r})"):
            if len(files) == group.size and not shares.has_partition(nrows):
                shares.set_partition(tuple(bounds))
            mine = range(group.rank, len(files), group.size)
            how = {"verify": verify, "device": group.device}
            parts = group.all_or_none("load", lambda: [_part(folder / files[k], manifest, k, how) for k in mine])
            title = name or manifest["name"]
            if shares.of(nrows).bounds == tuple(bounds):
                return cls._of(parts[0], shares.of(nrows), title)
            return cls._joined(parts, [bounds[k] for k in mine], manifest, title, layout)

    @classmethod
    def _joined(
        cls, parts: list[Whole], lows: list[int], manifest: dict[str, Any], name: str, layout: LayoutOptions
    ) -> Self:
        """The Matrix from the rows that each rank has read."""
        nrows, ncols = manifest["shape"]
        parts = parts or [Whole(manifest["dtype"], 0, ncols, device=current().device)]
        stores = [part._stored for part in parts if part.nvals] or [parts[0]._stored]
        first = stores[0]
        same = all(s.iso and s.values.tobytes() == first.values.tobytes() for s in stores)
        count = sum(s.nvals for s in stores)
        one = exchange.facts_of_ranks(count, first.values if same else None, first.dtype).one
        xp, found = current().device.xp, [part.to_coo() for part in parts]
        empty = (xp.zeros(0, np.int64), xp.zeros(0, np.int64), xp.zeros(0, first.dtype.np_type))
        i, j, x = (xp.concatenate([empty[k], *(f[k].astype(empty[k].dtype) for f in found)]) for k in range(3))
        at = 0
        for low, (rows, _, _) in zip(lows, found):
            i[at : at + len(rows)] += low
            at += len(rows)
        values = x if one is None else one
        return cls.from_coo(i, j, values, manifest["dtype"], nrows=nrows, ncols=ncols, share=True, name=name, **layout)


def _part(path: Path, manifest: dict[str, Any], k: int, how: dict[str, Any]) -> Whole:
    part, bounds = Whole.load(path, **how), manifest["bounds"]
    expected = bounds[k + 1] - bounds[k], manifest["shape"][1]
    if part.shape != expected or part.dtype.name != manifest["dtype"]:
        got = f"{part.dtype} of {part.nrows} x {part.ncols}"
        raise InvalidValue(
            f"{path}: expected {manifest['dtype']} of {expected[0]} x {expected[1]}, as in the manifest, got {got}"
        )
    return part


def _write_manifest(folder: Path, facts: dict[str, Any]) -> None:
    with replacing(folder / MANIFEST) as stream:
        stream.write(json.dumps(facts).encode())
    for old in folder.glob("rows-*-of-*-*.bitblas"):
        if old.name not in facts["files"]:
            with suppress(OSError):
                old.unlink()


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / MANIFEST
    try:
        found = json.loads(file.read_bytes())
        files, bounds, shape = found["files"], found["bounds"], found["shape"]
        sound = found["version"] == VERSION and len(bounds) == len(files) + 1 and sorted(bounds) == bounds
        if not sound or [bounds[0], bounds[-1]] != [0, shape[0]] or any(os.sep in name for name in files):
            raise ValueError("its contents are inconsistent, or were written by a newer bitblas")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InvalidValue(f"{file}: expected the manifest of a saved distributed Matrix: {error}") from None
    return dict(found)
