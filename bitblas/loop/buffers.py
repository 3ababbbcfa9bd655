"""Memory of a program's vectors: allocated before capture, the same for every run, never moved.

A vector that an advance writes has three buffers: its contents, the one that the next advance writes, and the one that
the advance clears for the advance after that. All other vectors have one. On a GPU each frontier also has a worklist
and a state of 8 numbers (see frontier.cuh); on the CPU each bitset has a summary of its nonempty words.

Programs of a GPU share memory, which they use in turn: a run copies its vectors in and their results out, so no program
reads what another left in between. Programs that need arrays of the same sizes share them.
"""

from __future__ import annotations

import functools
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from semirings.dtypes import BOOL

from .. import tuning
from ..core.vector import Vector
from ..device import Device
from ..exceptions import CaptureError
from ..operations import map_products
from ..operations.operands import PreparedKernel
from ..store import PlainValues, VectorStore, empty_vector, full_bits, is_blank, words
from .ir import MapProduct, Stacked, Statement, Vec
from .symbolic.multivectors import MultivectorAsVector, as_vector

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from semirings.dtypes import DataType

    from ..core.matrix.matrix import Matrix
    from ..order import Order
    from ..store import MatrixStore
    from ..typing import Array
    from .analysis import BodyFacts


Key = tuple[str, int]


class SharedBlock:
    """An array that programs share; it lives as long as one of them."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Array) -> None:
        self.array = array


@functools.cache
def _shared(device: Device) -> dict[Key, list[weakref.ref[SharedBlock]]]:
    return {}


class Scratch:
    """The memory that one program uses. shared: with the other programs of the device."""

    def __init__(self, device: Device, shared: bool) -> None:
        self.device, self.shared, self.blocks = device, shared, list[SharedBlock]()
        self.used: Counter[Key] = Counter()
        known = _shared(device)
        for key in [key for key, blocks in known.items() if not any(block() for block in blocks)]:
            del known[key]

    def bits(self, size: int) -> Array:
        """A bitset of `size` bits, shared only with bitsets of that size, because no bits past its end may be set."""
        return self._next(("bits", size), words(size), np.uint64)

    def array(self, count: int, dtype: DTypeLike) -> Array:
        """An array with arbitrary contents."""
        return self._next(("bytes", count * np.dtype(dtype).itemsize), count, dtype)

    def _next(self, key: Key, count: int, dtype: DTypeLike) -> Array:
        if not self.shared:
            return self.device.xp.zeros(count, dtype)
        blocks, k = _shared(self.device).setdefault(key, []), self.used[key]
        self.used[key] += 1
        block = blocks[k]() if k < len(blocks) else None
        if block is None:
            block = SharedBlock(self.device.xp.zeros(count, dtype))
            blocks[k : k + 1] = [weakref.ref(block)]
        self.blocks.append(block)
        return block.array.view(np.dtype(dtype))


Launch: TypeAlias = Callable[[], None]
Argument: TypeAlias = "Array | np.generic | int"  # of a kernel

# ---- Memory of a captured program.

STATE = 8  # numbers in a frontier's state
ENTRIES, LIST_LENGTH, DENSE, WORK, SEGMENTS, REMAINING = range(6)
BUFFERS = 3  # of a vector that advances write
ROUNDS = 7  # numbers about rounds, stored after the states (see frontier.cuh)
FAULTS = 5  # index of the faults of index vectors among them (see loop/gpu/elementwise.cu)


class Frontier:
    """The arrays of one vector: its bits, values (None if it is iso) and worklists, each once or three times."""

    def __init__(
        self, scratch: Scratch, vec: Vec, iso: np.generic | None, rotates: bool, values: Array | None = None
    ) -> None:
        """values: the existing values of a vector that is only read."""
        count = BUFFERS if rotates else 1
        self.vec, self.iso, self.rotates = vec, iso, rotates
        self.scratch, self.device, self.current = scratch, scratch.device, 0  # index of the buffer that is read
        self.bits = [scratch.bits(vec.size) for _ in range(count)]
        self.values: list[Array] = []
        if values is not None:
            self.values = [values]
        elif iso is None:
            n, dtype = (words(vec.size), np.uint64) if vec.dtype is BOOL else (max(1, vec.size), vec.dtype.np_type)
            self.values = [scratch.array(n, dtype) for _ in range(count)]
        self.lists: list[Array] = []
        self.segments: list[Array] = []

    def list_units(self, units: int, segments: int) -> None:
        """Allocate lists for the units of a format, and for the segments of its long rows."""
        if not self.lists or len(self.lists[0]) < units:
            self.lists = [self.scratch.array(max(1, units), np.uint32) for _ in self.bits]
            self.segments = [self.scratch.array(max(1, 2 * segments), np.uint32) for _ in self.bits]

    def at(self, arrays: list[Array], ahead: int = 0) -> Array:
        """One of the rotating arrays: the current one, the next, or the one after that."""
        return arrays[(self.current + ahead) % len(arrays)]

    def stored_values(self) -> PlainValues:
        """The current values, or the one of all entries."""
        if self.values:
            return self.at(self.values)
        assert self.iso is not None
        return self.iso

    @property
    def nbytes(self) -> int:
        return sum(int(x.nbytes) for x in (*self.bits, *self.values, *self.lists, *self.segments))

    def fill(self) -> None:
        """Set an entry everywhere, permanently, in memory of its own."""
        self.bits[0] = full_bits(self.device, self.vec.size)


def map_kernels(product: MapProduct, key: Frontier, target: Frontier) -> list[PreparedKernel]:
    """The kernels of a product with a map, which write a vector that no other program shares: rows without entries
    keep the -1 that it is filled with."""
    device, n = target.device, max(1, target.vec.size)
    keys = map_products.Keys(key.at(key.values), product.size, product.dtype, product.value)
    A, semiring, selection, transpose = product.matrix, product.semiring, product.selection, product.transpose
    of = map_products.Operands(A, keys, semiring, selection, transpose, position=product.position)
    prepared = map_products.prepare(of)
    map_products.foresee(prepared)
    found = device.full(n, np.int64(-1) if product.position else np.int32(-1))
    score = None if product.position else device.xp.zeros(n, of.score_type.np_type)
    target.values = [found if score is None else score]
    return map_products.kernels_of(prepared, found, score)


# ---- Memory of a vector in the rounds of a CPU loop, with a summary of its nonempty words.


class SummarizedFrontier(Frontier):
    """The arrays of one vector, and a summary for each of its bitsets: the words that have, or may have, entries."""

    def __init__(self, scratch: Scratch, vec: Vec, iso: np.generic | None, rotates: bool) -> None:
        super().__init__(scratch, vec, iso, rotates)
        self.summaries = [np.zeros(-(-words(vec.size) // 64), np.uint64) for _ in self.bits]

    def load(self, store: VectorStore, *, full: bool = False) -> None:
        """Copy in the contents of a vector. full: it has an entry everywhere, and so has the buffer already."""
        for bits in self.bits[1:]:
            bits.fill(0)
        if not full:
            self.bits[0][...] = store.present
            for summary in self.summaries:
                summary.fill(0)
            if store.count != 0:
                self._summarize()
        if not self.values:
            return
        if not store.iso:
            self.values[0][...] = store.values
        elif store.dtype is BOOL:
            self.values[0][...] = store.present if store.values else 0
        elif store.count != 0:
            self.device.fill(self.values[0], store.values)

    def empty(self) -> None:
        """Start without entries."""
        for array in (*self.bits, *self.summaries):
            array.fill(0)

    def fill(self) -> None:
        super().fill()
        self._summarize()

    def _summarize(self) -> None:
        flags = np.packbits(self.bits[0] != 0, bitorder="little")
        self.summaries[0].view(np.uint8)[: len(flags)] = flags

    def store(self, steps: int, *, full: bool = False) -> VectorStore:
        """Copy out the contents after `steps` advances as a new vector. full: it has an entry everywhere."""
        k = steps % len(self.bits)
        values = self.iso if not self.values else self.values[k].copy()
        count = self.vec.size if full else None
        return VectorStore(self.device, self.vec.size, self.vec.dtype, self.bits[k].copy(), values, count)


# ---- Stacks of frontiers (stack.py).


class StackMemory(NamedTuple):
    """The arrays of a stack. In the searches of a program each entry is pushed once, so there is room for a word per
    position, and for a frontier per line (of a Vector, per position); a push beyond it is an error."""

    words: Array
    bits: Array
    ends: Array
    numbers: Array

    @classmethod
    def of(cls, device: Device, positions: int, lines: int) -> StackMemory:
        xp, levels = device.xp, lines + 2
        device.foresee("a stack of frontiers", 12 * positions + 8 * levels)
        arrays = xp.empty(positions, np.uint32), xp.empty(positions, np.uint64), xp.zeros(levels, np.uint64)
        return cls(*arrays, xp.zeros(3, np.uint64))

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return *self, np.int64(len(self.words)), np.int64(len(self.ends))


def stack_memory(device: Device, statements: Sequence[Statement]) -> dict[int, StackMemory]:
    """The memory of the stacks of these statements, by the stack's id. CaptureError for frontiers of several shapes."""
    sizes: dict[int, set[tuple[int, int]]] = {}
    for s in statements:
        assert isinstance(s.value, Stacked)
        sizes.setdefault(s.value.stack, set()).update((x.size, s.value.lines) for x in stacked_vectors(s))
    for found in sizes.values():
        if len(found) > 1:
            raise CaptureError(f"a stack: expected frontiers of one shape, got {sorted(found)} positions and lines")
    return {stack: StackMemory.of(device, *next(iter(found), (0, 0))) for stack, found in sizes.items()}


def stacked_vectors(s: Statement) -> list[Vec]:
    """The vector that a statement pushes or pops."""
    assert isinstance(s.value, Stacked)
    return [x for x in (s.value.u, s.target) if isinstance(x, Vec)]


# ---- Contents of a Vector before and after a run of a program: its bits, values and count.


class SingleEntry:
    """A vector with one pending entry: its position and value, in place of a VectorStore."""

    __slots__ = ("place", "values")
    count, nvals, iso, bits = 1, 1, True, None

    def __init__(self, place: int, value: np.generic) -> None:
        self.place, self.values = place, value


Answer: TypeAlias = "Vector | Matrix"


class Asked(NamedTuple):
    """What a run of a program begins with, and what is asked of it. start: the Vector or Matrix that has `value` at
    these positions, None: none has; results: those whose contents are returned, and their type if it may differ."""

    start: Answer | None
    places: Sequence[int]
    value: object
    results: Sequence[Answer]
    dtype: DataType | None


class ProgramVector:
    """A Vector (or the positions of a Matrix) that a program uses, and its order inside the program: that of the
    matrices for vectors of their size. Vectors of other sizes are not combined with these."""

    __slots__ = ("order", "vector")

    def __init__(self, vector: Vector | MultivectorAsVector, order: Order | None) -> None:
        self.vector, self.order = vector, order

    def held(self) -> VectorStore:
        """The vector's contents, in the order of the loop."""
        return self.vector._in(self.order)

    def entering(self) -> VectorStore | SingleEntry:
        """The same; or the only pending entry of a vector that was emptied and then given one entry."""
        written, data = self.vector._pending, self.vector._data
        if len(written) != 1 or data.count != 0 or type(data) is not VectorStore:
            return self.held()
        ((place, value),) = written.items()
        if value is None:
            return self.held()
        return SingleEntry(place if self.order is None else self.order.place(place), value)

    def adopt(self, store: VectorStore) -> None:
        """Store the result of a run."""
        self.vector._adopt(store)
        self.vector._data.order = self.order

    def empty(self) -> None:
        """Set it to have no entries after a run, discarding a pending entry that it had before."""
        vector = self.vector
        if type(vector) is Vector and is_blank(vector._data):
            vector._pending.clear()
            vector._data.order = self.order
        else:
            self.adopt(empty_vector(vector.device, vector.size, vector.dtype))


def kind_of_values(held: VectorStore | SingleEntry) -> tuple[str, bytes] | str | None:
    """What a capture assumes about the values: that all are equal, or not; None: there are no entries."""
    if held.count == 0:
        return None
    return (held.values.dtype.char, held.values.tobytes()) if held.iso else "dense"


def program_vectors(vectors: Iterable[tuple[Vector | Matrix, Vec]], order: Order | None) -> dict[Vec, ProgramVector]:
    """The vectors of a program. order: that of its matrices, for vectors of their size."""
    return {
        x: ProgramVector(as_vector(vector), order if order is not None and x.size == order.size else None)
        for vector, x in vectors
    }


class Assumptions:
    """What compiled rounds rely on: the stored matrices, the rows of the tuning table, which vectors are full, and
    which have one value. `hold()`: whether it is still so."""

    def __init__(
        self, facts: BodyFacts, members: Mapping[Vec, ProgramVector], matrices: Sequence[tuple[Matrix, MatrixStore]]
    ) -> None:
        self.version, self.matrices = tuning.version(), matrices
        self.full = [members[x] for x in facts.loaded if x in facts.full]
        self.iso = [members[x] for x in facts.loaded if x.id in facts.iso]
        self.kinds = [kind_of_values(member.entering()) for member in self.iso]

    def same_matrices(self) -> bool:
        if self.version != tuning.version():
            return False
        for matrix, held in self.matrices:
            if matrix._data is not held or matrix._pending:
                return False
        return True

    def hold(self) -> bool:
        if not self.same_matrices():
            return False
        for member in self.full:
            if member.entering().nvals != member.vector.size:
                return False
        for member, then in zip(self.iso, self.kinds, strict=True):
            if (kind := kind_of_values(member.entering())) is not None and kind != then:
                return False
        return True
