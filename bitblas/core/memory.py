"""What a Matrix holds, in bytes."""

from __future__ import annotations

from dataclasses import dataclass

from ..store import MatrixStore


@dataclass(frozen=True)
class Memory:
    """Bytes on the device. forms: each stored form by name, the primary one first (".T": of the transpose);
    structure: the primary form; orders: where the values of other forms lie; values: the value array (0: iso);
    permutation: the order of the vertices (0: the user's). A reordered matrix that some verb needed in the user's order
    holds a copy of it, whose forms are named "(user's)"."""

    forms: dict[str, int]
    structure: int
    orders: int
    values: int
    permutation: int = 0

    @staticmethod
    def of(A: MatrixStore) -> Memory:
        forms: dict[str, int] = {}
        seen: set[int] = set()
        orders = 0
        for key, transposed, form, order in A.structure.forms():
            # A symmetric structure is its own transpose: one form under two names.
            forms[key + ".T" * transposed] = 0 if id(form) in seen else form.nbytes
            seen.add(id(form))
            orders += 0 if order is None else int(order.nbytes)
        values, permutation = 0 if A.iso else int(A.values.nbytes), 0 if A.order is None else A.order.nbytes
        copy: MatrixStore | None = A.prepared.get("user")
        if copy is not None:
            twin = Memory.of(copy)
            forms |= {f"{key} (user's)": size for key, size in twin.forms.items()}
            orders, values = orders + twin.orders, values + twin.values
        return Memory(forms, A.structure.primary.nbytes, orders, values, permutation)

    @property
    def total(self) -> int:
        return sum(self.forms.values()) + self.orders + self.values + self.permutation

    def __str__(self) -> str:
        rows = [*self.forms.items(), ("orders", self.orders), ("values", self.values)]
        rows += [("permutation", self.permutation)] if self.permutation else []
        rows.append(("total", self.total))
        return "\n".join(f"{name:<12}{size:>16,} bytes" for name, size in rows)
