"""Index vectors in a body: symbolic results of `to_dense` and `to_coo`, and the statements built from them.

p[x.to_dense()] reads or assigns p at the indices stored in x; Vector.from_coo(x.to_dense(), near.to_dense(), size=n,
dup_op=min) combines entries that have the same index. All of them stay on the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from semirings import Monoid, Typed
from semirings.dtypes import BOOL, INT64, DataType, lookup_dtype

from ...core.building import duplicates
from ...core.convert import check_size
from ...core.hooks import SymbolicArray
from ...core.operators import typed
from ...core.statement.infix import Operand
from ...core.statement.scalar_operands import of
from ...exceptions import DimensionMismatch, IndexOutOfBound
from ...operations.variants import CELLS, LEFT, binary_of
from ..ir import Block, Const, Elementwise, Gather, InitializeCells, Part, Scatter, Statement, Term, Vec
from .control_flow import Recording

if TYPE_CHECKING:
    from ...core.statement.indexing import Axis
    from ...core.statement.masks import Mask
    from ...core.vector import Vector

OF_BOOL = ("lor", "land", "any")  # monoids that single-bit atomics can compute


class IndexRecorder(Recording):
    """The part of a Recorder that handles index vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.indexed = []

    # ---- the hooks of core ----

    def dense(self, vector: Vector, fill_value: object, dtype: object) -> SymbolicArray:
        """v.to_dense()"""
        if fill_value is not None or dtype is not None:
            self.refuse(f"{vector.name}.to_dense(..): with a fill value or a dtype")
        return SymbolicArray(vector, None, vector._data.size)

    def listing(
        self, vector: Vector, dtype: object, *, indices: bool, values: bool
    ) -> tuple[SymbolicArray | None, SymbolicArray | None]:
        """v.to_coo()"""
        if dtype is not None:
            self.refuse(f"{vector.name}.to_coo(..): with a dtype")
        size = vector._data.size
        i, x = SymbolicArray(None, vector, size), SymbolicArray(vector, vector, size)
        return i if indices else None, x if values else None

    def cleared(self, w: Vector) -> None:
        """w.clear()"""
        t = self._vec(w)
        self.statements.append(Statement(t, Elementwise(LEFT, None, Const(t.dtype, None)), text=f"{w.name}.clear()"))

    def built(
        self, indices: SymbolicArray, values: Any, dtype: Any, size: Any, dup_op: Any, name: str | None
    ) -> Vector:
        """Vector.from_coo(indices, values, dtype, size=size, dup_op=dup_op)"""
        text = f"Vector.from_coo({indices}, {values})"
        if size is None:
            self.refuse(f"{text}: without a size")
        parent = indices.vector if indices.where is None else indices.where
        where = None if indices.where is None else self._vec(indices.where)
        index = None if indices.vector is None else self._index(indices)
        full = [] if index is None or index == where else [index]
        if type(values) is SymbolicArray:
            if values.where is not indices.where or values.size != indices.size:
                raise DimensionMismatch(f"{text}: expected indices and values of the same entries")
            x = None if values.vector is None else self._vec(values.vector)
            u: Term | None = x
            held = lookup_dtype("UINT64") if x is None else x.dtype
            full += [] if x is None or x in (where, index) else [x]
            if dup_op is None:
                self.refuse(f"{text}: without dup_op, which would require a search for equal indices")
        else:
            value, held = of(values)
            duplicates(dup_op, value, held, parent._data.device)
            u = Const(held, value)
        kind = held if dtype is None else lookup_dtype(dtype)
        monoid = typed("any", "monoid", kind) if dup_op is None else self._joining(text, dup_op, kind)
        target: Vector = type(parent)(kind, check_size("size", size), name=name, device=parent._data.device)
        self._built(target, text, index, u, where, monoid, tuple(full), indices.size)
        return target

    def assigned(self, w: Vector, axis: Axis, value: Any, mask: Mask | None, accum: Typed | None) -> None:
        """w(accum)[x.to_dense()] << value: of equal indices the last one counts, as in single statements."""
        text = f"{w.name}[{axis}] << {getattr(value, 'name', value)}"
        if type(axis.at) is not SymbolicArray:
            self.refuse(f"{text}: assignment by index")
        if axis.at.where is not None or mask is not None:
            how = "given by the entries of a vector" if mask is None else "under a mask"
            self.refuse(f"{text}: assignment by index {how}")
        listed, size = axis.at, w._data.size
        last = type(w)(INT64, size, device=w._data.device)
        largest = typed("max", "monoid", INT64)
        self._built(last, text, self._index(listed), None, None, largest, (self._vec(listed.vector),), listed.size)
        if isinstance(value, Operand) and value.ndim:
            value = value._resolve()
            if value._data.size != listed.size:
                raise DimensionMismatch(f"{text}: expected a vector of size {listed.size}, got {value._data.size}")
            value = value[SymbolicArray(last, None, size)]
        w._update(value, last.S, accum)

    def raise_fault(self, fault: int, index: int, number: int) -> NoReturn:
        """Raise the error of a statement whose index was out of range or missing in round `number`."""
        text, size = self.indexed[fault // 2]
        if fault % 2:
            raise TypeError(f"{text}: expected an index vector and values without missing entries (round {number})")
        raise IndexOutOfBound(f"{text}: Index out of range: index={index}, size={size} (round {number})")

    # ---- lowering ----

    def _built(
        self,
        target: Vector,
        text: str,
        index: Vec | None,
        u: Term | None,
        where: Vec | None,
        monoid: Typed[Monoid],
        full: tuple[Vec, ...],
        size: int,
    ) -> None:
        """Record the statements that build a new vector."""
        t = self._vec(target)
        self.statements.append(
            Statement(t, Elementwise(LEFT, None, Const(t.dtype, None)), text=f"{target.name} << empty")
        )
        self.statements.append(Statement(t, InitializeCells(monoid), text=f"{target.name} << {text}, initial values"))
        scatter = Scatter(index, u, where, monoid, full, size, len(self.indexed))
        self.indexed.append((text, t.size))
        self.statements.append(Statement(t, scatter, text=f"{target.name} << {text}"))

    def _index(self, listed: SymbolicArray) -> Vec:
        x = self._vec(listed.vector)
        if x.dtype.kind not in "iu":
            raise TypeError(f"index: expected integers, got {listed} of {x.dtype}")
        return x

    def _gather(self, parent: Vector, listed: SymbolicArray) -> Gather:
        """parent[listed]"""
        text = f"{parent.name}[{listed}]"
        if listed.where is not None:
            self.refuse(f"{text}: extraction by the entries of a vector")
        source, index = self._vec(parent), self._index(listed)
        self.indexed.append((text, source.size))
        return Gather(source, index, len(self.indexed) - 1)

    def _joining(self, text: str, dup_op: Any, kind: DataType) -> Typed[Monoid]:
        """The monoid of an operator, which must give the same sum in any order."""
        op = binary_of(typed(dup_op, "binary", kind))
        monoid = op.op.monoid
        exact = monoid is not None and (kind.kind not in "fc" or monoid.is_exact_in_any_order)
        if not exact or op.return_type is not kind:
            self.refuse(f"{text}: dup_op {op!r}, whose result depends on the order of equal indices")
        if kind not in CELLS and not (kind is BOOL and monoid.name in OF_BOOL):
            self.refuse(f"{text}: dup_op {op!r} on {kind}, for which there is no atomic")
        return monoid[kind]


def scatter_directly(
    statements: Part, own: frozenset[Vec], everywhere: Sequence[Statement]
) -> Iterator[Statement | Block]:
    """The statements, out of those `everywhere`, with p(op) << t replaced by a scatter into p itself, if t was built
    only for this purpose, by the same op."""
    k = 0
    while k < len(statements):
        first, four = statements[k], [s for s in statements[k : k + 4] if isinstance(s, Statement)]
        if isinstance(first, Block):
            yield replace(first, statements=tuple(scatter_directly(first.statements, own, everywhere)))
            k += 1
            continue
        t = first.target
        if len(four) == 4 and t in own and isinstance(t, Vec) and _joins_at_once(four, t, everywhere):
            scatter, last = four[2], four[3]
            yield Statement(last.target, four[1].value, text=f"{last.text}, initial values")
            yield Statement(last.target, scatter.value, text=f"{last.text} of {scatter.text}")
            k += 4
        else:
            yield statements[k]
            k += 1


def _joins_at_once(four: Sequence[Statement], t: Vec, statements: Sequence[Statement]) -> bool:
    _, ready, scatter, last = four
    e, p = last.value, last.target
    if not isinstance(ready.value, InitializeCells) or not isinstance(scatter.value, Scatter) or not isinstance(p, Vec):
        return False
    if e != Elementwise(LEFT, None, t) or last.mask is not None or last.accum is None or p.dtype is not t.dtype:
        return False
    if p in scatter.vectors or sum(t in (*s.vectors, *s.elsewhere, s.target) for s in statements) != 4:
        return False
    monoid, op = scatter.value.monoid, binary_of(last.accum)
    return op.op is monoid.op.binaryop and op.dtype is p.dtype and monoid.op.name != "any"
