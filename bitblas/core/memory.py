"""Memory usage of a Matrix or Vector in bytes: walk the object and count each array once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from .. import display
from ..device import memory
from ..store import FlatStore, MatrixStore, SparseStore, VectorStore


class Bytes(ABC):
    """A table of names and bytes."""

    @abstractmethod
    def rows(self) -> list[tuple[str, int]]:
        """Bytes by name, the sum at the end."""

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}{size:>16,} bytes" for name, size in rows)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return display.html([("", "bytes"), *((name, f"{size:,}") for name, size in self.rows())])


@dataclass(frozen=True, repr=False)
class Memory(Bytes):
    """Bytes on the device, of a Matrix.

    forms: each stored format by name, the primary one first (".T": of the transpose; 0: shares the arrays of an earlier
    one). structure: the format in use, without values. orders: by format, the positions of its values. values: the
    value array (0: iso). copies: by format, values in its order. caches: by name, cached results of operations: ranks
    of bits, schedules, sorted keys, prepared products, captured programs and their scratch memory; of a reordered
    matrix also its copy in the user's order, once an operation needed that. permutation: of a reordered matrix.

    An array that several objects share counts for each of them, and for `bitblas.config.memory_limit` once.
    """

    forms: dict[str, int]
    structure: int
    orders: dict[str, int]
    values: int
    copies: dict[str, int]
    caches: dict[str, int]
    permutation: int = 0

    @staticmethod
    def of(A: MatrixStore) -> Memory:
        device, structure = A.device, A.structure
        seen: set[int] = set()
        size = lambda x: memory.bytes_in(x, device, seen)
        named = [(key + ".T" * transposed, layout, order) for key, transposed, layout, order in structure.forms()]
        forms = {name: sum(map(size, layout.arrays().values())) for name, layout, _ in named}
        orders = {name: size(order) for name, _, order in named if order is not None}
        values = size(A.flat.values if isinstance(A, FlatStore) else A.raw)
        copies = {key + ".T" * transposed: size(x) for (key, transposed), x in list(A.copies.items())}
        permutation, caches = size(A.order), dict[str, int]()
        for name, layout, _ in named:
            for what, x in list(layout.cache.items()):
                _add(caches, f"{name} {_word(what)}", size(x))
            _add(caches, f"{name} ranks", size(layout))
        for what, x in list(A.prepared.items()):
            _add(
                caches,
                {"kept": "programs", "user": "user's order", "removed": "removed entries"}.get(_word(what), "products"),
                size(x),
            )
        _add(caches, "other", size(A))
        return Memory(forms, next(iter(forms.values())), orders, values, copies, caches, permutation)

    @property
    def total(self) -> int:
        parts = (self.forms, self.orders, self.copies, self.caches)
        return sum(sum(part.values()) for part in parts) + self.values + self.permutation

    def rows(self) -> list[tuple[str, int]]:
        return [
            *self.forms.items(),
            *((f"{name} order", x) for name, x in self.orders.items()),
            ("values", self.values),
            *((f"{name} values", x) for name, x in self.copies.items()),
            *self.caches.items(),
            *([("permutation", self.permutation)] if self.permutation else []),
            ("total", self.total),
        ]


@dataclass(frozen=True, repr=False)
class VectorMemory(Bytes):
    """Bytes on the device, of a Vector. presence: the bitset of its entries, or the list of their positions; values: 0
    for an iso vector."""

    presence: int
    values: int

    @staticmethod
    def of(v: VectorStore) -> VectorMemory:
        seen: set[int] = set()
        parts = (v.index, v.listed) if type(v) is SparseStore else (v.bits, v.values)
        return VectorMemory(*(memory.bytes_in(x, v.device, seen) for x in parts))

    @property
    def total(self) -> int:
        return self.presence + self.values

    def rows(self) -> list[tuple[str, int]]:
        return [("presence", self.presence), ("values", self.values), ("total", self.total)]


def _word(key: object) -> str:
    """The name of a cache: the key itself, or the first word of a tuple."""
    first = key[0] if isinstance(key, tuple) else key
    return first if isinstance(first, str) else type(first).__name__


def _add(caches: dict[str, int], name: str, size: int) -> None:
    if size:
        caches[name] = caches.get(name, 0) + size
