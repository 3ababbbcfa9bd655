"""Checkpoints of a program in files, so that a long loop can resume after its process has ended.

A checkpoint is a folder: the entries of the state's objects, one file per rank, and a manifest, which is written last.
A checkpoint saved by some number of ranks can be resumed by another number.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..atomic import replacing
from ..core.scalar import Scalar
from ..exceptions import InvalidValue

if TYPE_CHECKING:
    from ..distributed.group import Group

T = TypeVar("T")
MANIFEST = "manifest.json"
VERSION = 1


class SingleRank:
    """A stand-in for the group of ranks, for objects on one device."""

    rank, size = 0, 1

    def barrier(self) -> None:
        return

    def all_or_none(self, what: str, run: Callable[[], T]) -> T:
        return run()

    def texts(self, text: str) -> list[str]:
        return [text]


class Checkpoint:
    """state: Vectors and Scalars, either all on one device or all distributed. every: rounds between two
    checkpoints."""

    def __init__(self, path: str | os.PathLike[str], state: list[Any], every: int) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InvalidValue(f"every: expected a number of rounds, 1 or more, got {every!r}")
        for x in state:
            if not hasattr(x, "to_coo" if getattr(x, "ndim", None) == 1 else "value") or x.dtype._is_udt:
                raise TypeError(f"state: expected Vectors and Scalars of built-in types, got {type(x).__qualname__}")
        self.folder, self.state, self.every = Path(path), state, every
        self.ranks: Group | SingleRank = next((x._ranks for x in state if hasattr(x, "_ranks")), SingleRank())

    def save(self, rounds: int) -> None:
        """Save the state after `rounds` rounds. OSError if it cannot be written; the previous checkpoint then
        remains."""
        ranks = self.ranks
        names = [f"round-{rounds}-{rank}-of-{ranks.size}.npz" for rank in range(ranks.size)]
        arrays = self._arrays()
        ranks.all_or_none("checkpoint", lambda: self._write(names[ranks.rank], arrays))
        facts = {"version": VERSION, "rounds": rounds, "files": names, "state": self._described()}
        ranks.all_or_none("checkpoint", lambda: self._write_manifest(facts) if ranks.rank == 0 else None)

    def _write(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.folder / name) as stream:
            savez: Any = np.savez  # its type stubs mistake array names for flags
            savez(stream, **arrays)

    def _write_manifest(self, facts: dict[str, Any]) -> None:
        with replacing(self.folder / MANIFEST) as stream:
            stream.write(json.dumps(facts).encode())
        for old in self.folder.glob("round-*-of-*.npz"):
            if old.name not in facts["files"]:
                old.unlink(missing_ok=True)

    def restore(self) -> int:
        """Restore the state; returns the number of rounds it had, 0 if nothing is saved. InvalidValue if the checkpoint
        is of another program."""
        file, ranks = self.folder / MANIFEST, self.ranks
        # Only the first rank reads the manifest, because all must agree on whether a checkpoint exists.
        text = ranks.texts(ranks.all_or_none("checkpoint", lambda: _text(file) if ranks.rank == 0 else ""))[0]
        if not text:
            return 0
        try:
            facts = json.loads(text)
        except ValueError as error:
            raise InvalidValue(f"{file}: expected the manifest of a checkpoint: {error}") from None
        if facts.get("version") != VERSION or facts.get("state") != self._described():
            raise InvalidValue(f"{file}: expected a state of {self._described()}, got {facts.get('state')}")
        found = ranks.all_or_none("checkpoint", lambda: self._read(facts["files"]))
        for x, (i, values) in zip(self.state, found):
            if isinstance(x, Scalar):
                x.value = values[0] if len(values) else None
                continue
            share = {"share": True} if hasattr(x, "_ranks") else {"device": x.device}
            x << type(x).from_coo(i, values, x.dtype, size=x.size, **share)
        return int(facts["rounds"])

    def _read(self, names: list[str]) -> list[tuple[np.ndarray | None, np.ndarray]]:
        """Indices and values of this rank's part of each object; a Scalar has no indices."""
        files = [np.load(self.folder / name) for name in names[self.ranks.rank :: self.ranks.size]]
        found: list[tuple[np.ndarray | None, np.ndarray]] = []
        for k, x in enumerate(self.state):
            if isinstance(x, Scalar):
                with np.load(self.folder / names[0]) as first:
                    found.append((None, first[f"x{k}"]))
                continue
            none = np.zeros(0, np.int64), np.zeros(0, x.dtype.np_type)
            i, values = (
                np.concatenate([empty, *(file[f"{part}{k}"] for file in files)]) for part, empty in zip("ix", none)
            )
            found.append((i, values))
        return found

    def clear(self) -> None:
        """Delete the checkpoint, because the program has ended: the next run starts from the beginning."""
        self.ranks.barrier()
        if self.ranks.rank == 0:
            with suppress(FileNotFoundError):
                (self.folder / MANIFEST).unlink()
            for old in self.folder.glob("round-*-of-*.npz"):
                old.unlink(missing_ok=True)

    def _described(self) -> list[list[Any]]:
        return [[x.dtype.name, list(x.shape)] for x in self.state]

    def _arrays(self) -> dict[str, np.ndarray]:
        found = {}
        for k, x in enumerate(self.state):
            if isinstance(x, Scalar):
                found[f"x{k}"] = np.zeros(0) if x.is_empty else np.array([x.value], x.dtype.np_type)
                continue
            i, values = x.to_coo(**({"share": True} if hasattr(x, "_ranks") else {}))
            found[f"i{k}"], found[f"x{k}"] = x.device.to_host(i).astype(np.int64), x.device.to_host(values)
        return found


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except FileNotFoundError:
        return ""
