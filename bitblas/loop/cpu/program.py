"""A program on the CPU: rounds run statement by statement until compiling a kernel table pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CellType
from typing import Any, NoReturn

from ... import tuning
from ...core.scalar import Scalar
from ...device import tracing
from ...device.kernel_table import COPY, FAULT, INDEX, LIMIT, ROUND
from ...exceptions import CaptureError, IndexOutOfBound
from ...order import Order
from ...plan.auxiliary_formats import transpose_amortized
from ...plan.direction import PUSH_COST
from ...store import VectorStore, empty_vector
from .. import analysis
from ..analysis import iso_of_added
from ..fuse import fuse
from ..ir import Body, Scal, Vec, reads_first, scalar_is_read_first
from ..symbolic.context import single_rank_part
from ..symbolic.multivectors import as_vector
from ..symbolic.recorder import OnHost, Recorder, record, with_any_condition
from .build import Build, runs_along_entries

HUGE = 1 << 31  # maximum size: larger vectors are not stored densely


class CpuRounds:
    """The rounds of a body as a table of kernels. given: the results of the program's `begin`, which may be other
    vectors of the same kind in each run. Raises CaptureError if the body cannot be executed symbolically."""

    def __init__(self, body: Callable[..., object], condition: Any, given: tuple[object, ...]) -> None:
        self.version = tuning.version()
        cells = getattr(body, "__closure__", None) or ()
        if isinstance(condition, tuple):
            body, condition, _ = with_any_condition(body, condition, None)
        self.body, self.recorder = _record_twice(body, cells, given)
        self.device, self.order = self.recorder.device, self.recorder.order()
        self.condition = self._condition(single_rank_part(condition))
        self.vectors = {x: as_vector(vector) for vector, x in self.recorder.vectors.values()}
        self.scalars = {s.id: scalar for scalar, s in self.recorder.scalars.values()}
        ids = {id(vector): x for vector, x in self.recorder.vectors.values()}
        self.given = [ids.get(id(single_rank_part(thing))) for thing in given]
        self._check()
        body_ = self.body
        used = {x for s in body_.all for x in (*s.vectors, *s.elsewhere, s.target)}
        self.loaded = [x for x in body_.vectors if x == self.condition or (x in used and reads_first(body_, x))]
        written = {s.target for s in body_.all}
        self.changed = [x for x in body_.vectors if x in written and x not in body_.own]
        stores = {x.id: self._held(x) for x in self.loaded}
        iso, full = analysis.iso_values(body_, stores), analysis.full_vectors(body_, stores)
        self.body = body_ = analysis.without_needless_inits(body_, full)
        steps, direct = lambda s: runs_along_entries(s, full, iso), lambda s: analysis.can_write_directly(s, iso)
        round_ = fuse(body_, steps, direct, self.condition, lists=False)
        self.full_at_start = [x for x in self.loaded if x in full]
        self.iso_at_start = [x for x in self.loaded if x.id in iso]
        self.kinds = self._kinds()
        self.fresh = {s.id for s in body_.scalars if not scalar_is_read_first(body_, s)}
        iso |= iso_of_added(round_, body_, iso)
        self.build = Build(self.device, round_, body_.scalars, iso, full, self.condition)

    def _condition(self, condition: Any) -> Vec | Scal:
        known: Mapping[int, tuple[object, Vec | Scal]] = (
            self.recorder.scalars if isinstance(condition, Scalar) else self.recorder.vectors
        )
        found = known.get(id(condition))
        if found is None or not any(s.target == found[1] for s in self.body.all):
            raise CaptureError(f"while_: the body never writes to {condition.name}")
        return found[1]

    def _check(self) -> None:
        for x in self.body.vectors:
            if not 0 < x.size < HUGE or x.dtype.kind == "c":
                self.recorder.refuse(f"a vector of {x.size} positions of {x.dtype}")
        for _, held in self.recorder.matrices:
            if held.structure.renumbers or 0 in (held.nrows, held.ncols):
                self.recorder.refuse("a hypersparse matrix")

    def _order_of(self, x: Vec) -> Order | None:
        return self.order if self.order is not None and x.size == self.order.size else None

    def _held(self, x: Vec) -> VectorStore:
        return self.vectors[x]._in(self._order_of(x))

    def _kinds(self) -> list[tuple[str, bytes] | str | None]:
        """Facts about values that the table relies on: those that stay the same."""
        stores = (self._held(x) for x in self.iso_at_start)
        return [
            None if s.count == 0 else (s.values.dtype.char, s.values.tobytes()) if s.iso else "dense" for s in stores
        ]

    def fits(self, given: tuple[object, ...]) -> bool:
        """Whether matrices and kinds of vectors are still those that the table was built for."""
        for x, thing in zip(self.given, given):
            if x is not None:
                self.vectors[x] = as_vector(single_rank_part(thing))
        if self.version != tuning.version() or any(transpose_amortized(s) for s in self.build.missing_transposes):
            return False
        same = all(matrix._stored is held for matrix, held in self.recorder.matrices)
        same = same and all(self._held(x).nvals == x.size for x in self.full_at_start)
        return same and all(now is None or now == then for now, then in zip(self._kinds(), self.kinds))

    def run(self, first: int, limit: int) -> int:
        """Run rounds from number `first` on, until the condition fails; return the number of the first round that did
        not run. Afterwards vectors and scalars hold the results of the body."""
        build, table = self.build, self.build.table
        for x, summed in build.buffers.items():
            if x in self.loaded:
                summed.load(self._held(x), full=x.id in build.full)
            elif x.id not in build.full:
                summed.empty()
        for number, scalar in self.scalars.items():
            if number not in self.fresh:
                has, value = build.scalars[number]
                has.fill(scalar._value is not None)
                if scalar._value is not None:
                    value.fill(scalar._value)
        build.state.fill(0)
        build.state[ROUND], build.state[LIMIT], build.state[COPY] = first, limit, 0
        if isinstance(self.condition, Scal):
            build.going[0] = 1  # the caller has checked the condition
        build.entering()
        if tracing.active is None:
            table.run()
        else:
            tracing.active.note_loop(self.device, len(build.copies[0]), table.run)
        self.recorder.changed()
        rounds = int(build.state[ROUND])
        if build.state[FAULT]:
            self._tell(int(build.state[FAULT]) - 1, int(build.state[INDEX]), rounds - 1)
        for structure in build.missing_transposes:
            structure.missed += PUSH_COST[self.device.kind]
        if rounds > first:
            self._hand_out(rounds - first, rounds < limit)
        return rounds

    def _hand_out(self, count: int, over: bool) -> None:
        build = self.build
        for x in self.changed:
            if x == self.condition and over:
                self.vectors[x]._adopt(empty_vector(self.device, x.size, x.dtype))
            else:
                self.vectors[x]._adopt(build.buffers[x].store(count * build.advances_of[x], full=x.id in build.full))
            self.vectors[x]._data.order = self._order_of(x)
        for s in self.body.scalars:
            if s.id not in self.body.unknown and any(t.target == s for t in self.body.all):
                has, value = (a[0] for a in build.scalars[s.id])
                self.scalars[s.id]._store(s.dtype.np_type.type(value) if has else None)

    def _tell(self, fault: int, index: int, number: int) -> NoReturn:
        """Raise the error of a statement whose index was out of range or missing. No results are copied out."""
        text, size = self.recorder.indexed[fault // 2]
        if fault % 2:
            raise TypeError(f"{text}: expected an index vector and values without missing entries (round {number})")
        raise IndexOutOfBound(f"{text}: Index out of range: index={index}, size={size} (round {number})")


def _record_twice(
    body: Callable[..., object], cells: Sequence[CellType], given: tuple[object, ...]
) -> tuple[Body, Recorder]:
    """Record the body, twice. A body that rebinds its names (`cells`), or keeps what it creates alive, cannot be
    captured."""
    before = [_contents(cell) for cell in cells]
    try:
        found, again = (record(lambda number: body(number, *given), host=True) for _ in range(2))
    except (CaptureError, OnHost):
        raise
    except Exception as error:  # for example Python code that needs a number where there is a symbolic Scalar
        raise CaptureError(f"{type(error).__name__}: {error}") from error
    finally:
        changed = [k for k, cell in enumerate(cells) if _contents(cell) is not before[k]]
        for k in changed:
            cells[k].cell_contents = before[k]
    if changed:
        raise CaptureError("the body rebinds names of the surrounding function")
    if _known(*found) != _known(*again):
        raise CaptureError("an object created in the body outlives it")
    return found


def _known(body: Body, recorder: Recorder) -> set[int]:
    """The vectors and scalars that are also referenced outside of the body."""
    vectors = {id(vector) for vector, x in recorder.vectors.values() if x not in body.own}
    return vectors | {id(scalar) for scalar, x in recorder.scalars.values() if x.id not in body.unknown}


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None
