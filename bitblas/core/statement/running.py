"""Run, explain and record statements: device errors become errors of bitblas; `gb.explain`; `gb.Recorder`; traces."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ... import operations
from ... import order as orders
from ...device import tracing
from ..hooks import State
from ..hooks import state as recording
from .infix import Delayed
from .masks import Mask, check, describe_order, matrix_mask

if TYPE_CHECKING:
    from ...kernels.variant import Variant
    from ...plan.product import Plan
    from ..typing import Axes, OperatorArg, Run
    from .expressions import Expression
    from .indexing import Output
    from .plans import Chooser, Statement


P = ParamSpec("P")
R = TypeVar("R")


# ---- `gb.explain`: the plan of an expression, without running it.


def explain(expr: Any, *, mask: Mask | None = None, source: bool = False) -> Plan:
    """The Plan of a delayed expression, such as `A.mxv(v, op)`, `u + v`, `A[I, J]` or `v.reduce()`, which prints
    itself; nothing is computed.

    Parameters
    ----------
    mask : optional
        The mask that the statement would have.
    source : optional
        Also the text of its kernels for a new output, CUDA C++ or Numba's Python, as `.source`: of
        products, which builds the formats that they read and compiles the kernels of a product with a
        vector, and of element-wise operations and reductions of vectors stored as bits.

    Raises
    ------
    TypeError
        For another expression, mask or source.
    DimensionMismatch
        For a mask of another shape.
    """
    from . import plans  # imports all formats

    if isinstance(expr, Delayed):
        expr = expr._to_expr()
    chosen = plans.chooser(expr)
    if chosen is None and getattr(expr, "method", None) not in ("mxv", "vxm", "mxm"):
        raise TypeError(
            f"explain: expected a delayed expression such as A.mxv(v), a product, or u.ewise_add(v), got {expr!r}; "
            "hint: gb.trace() prints the plan of a statement"
        )
    if mask is not None:
        mask = check(mask, *((expr.ndim,) if expr.ndim else ()))
        mask.fits(expr)
    return _plan(plans.Statement(expr, mask), chosen, source)


def _plan(of: Statement, chosen: Chooser | None, source: bool = False) -> Plan:
    from .plans import kernels, row_sums

    expr, mask, _ = of
    found: Plan
    variants: Sequence[Variant]
    if chosen is not None and (summed := row_sums(expr)) is None:
        operation = chosen(of)
        found, variants = operation, kernels(of, operation) if source else ()
    elif chosen is not None:
        found, variants = _vector(summed, mask, source)
        found = found._replace(verb=expr.method)
    else:
        found, variants = (_matrices if expr.method == "mxm" else _vector)(expr, mask, source)
    if source:
        found = found._replace(source="\n".join(map(expr.args[0].device.source, variants)))
    moves = describe_order(expr) if orders.used else ""
    return found._replace(reason=f"{found.reason}; {moves}") if moves else found


def _vector(expr: Any, mask: Mask | None, source: bool) -> tuple[Plan, Sequence[Variant]]:
    """The plan of A.mxv(v) or v.vxm(A), and its kernels if requested."""
    flip = expr.method == "vxm"
    A, v = reversed(expr.args) if flip else expr.args
    held, u, op = A._matrix._stored, v._stored, expr.op
    if held.order is not None and expr.along is not None:
        u, op = operations.permute.by_value(dataclasses.replace(u, order=held.order), op, flip)
    of = operations.operands.VectorProduct(held, u, op, A._transposed != flip, flip, None, None)
    return operations.spmv.explain(of, masked=mask is not None, source=source)


def _matrices(expr: Any, mask: Mask | None, source: bool) -> tuple[Plan, Sequence[Variant]]:
    """The same for A.mxm(B)."""
    A, B = expr.args
    allowed = None if mask is None else matrix_mask(mask)
    operands = A._matrix._stored, B._matrix._stored, expr.op, A._transposed, B._transposed, allowed
    return operations.spgemm.explain(operations.operands.MatrixProduct(*operands), source=source)


# ---- `gb.Recorder`: records the statements of a program as they run, as text in the call style.


listening = State()  # statements run and are recorded


class Recorder:
    """A list of the statements that ran while it was started: `C(D.S) << A.ewise_mult(B, op=binary.times[INT64])`.

    Parameters
    ----------
    max_rows : optional
        Lines that `repr` prints.

    Notes
    -----
    `data` holds their texts, followed by `# ERROR: name` if the statement failed. It is a context
    manager, and started at once unless `start` is false; only the recorder of a thread that was started
    last records. Statements inside a statement, such as an aggregator's steps, and inside loops on the
    device are not recorded.
    """

    __slots__ = ("__weakref__", "data", "is_recording", "max_rows")

    def __init__(self, *, start: bool = True, max_rows: int | None = 20) -> None:
        self.data: list[str] = []
        self.max_rows = max_rows
        self.is_recording = False
        if start:
            self.start()

    def start(self) -> None:
        """Start recording; no effect if already started."""
        if not self.is_recording:
            self.is_recording = True
            listening.started.append(self)
            listening.choose()

    def stop(self) -> None:
        """Stop recording; the recorder that was started before continues."""
        if self.is_recording:
            self.is_recording = False
            if self in listening.started:  # false in any other thread than the one that started it
                listening.started.remove(self)
            listening.choose()

    def record_raw(self, text: str) -> None:
        """Append a line of text."""
        self.data.append(text)

    def clear(self) -> None:
        """Delete the recorded texts."""
        self.data.clear()

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    @contextmanager
    def records(self, text: Callable[[], str]) -> Iterator[None]:
        """Context of a running statement with that text."""
        listening.recorder = None
        try:
            line = text()
            yield
        except BaseException as error:
            self.data.append(f"{line}  # ERROR: {type(error).__name__}")
            raise
        else:
            self.data.append(line)
        finally:
            listening.choose()

    def _lines(self) -> list[str]:
        most = self.max_rows
        if most is None or len(self.data) <= most:
            return list(self.data)
        left = f"# {len(self.data) - most} rows not shown; max_rows sets how many are shown"
        return [*self.data[: most // 2], "", left, "", *self.data[len(self.data) - (most + 1) // 2 :]]

    def __repr__(self) -> str:
        head = f"gb.Recorder ({'' if self.is_recording else 'not '}recording)"
        return "\n".join([head, "-" * len(head), *(f"  {line}".rstrip() for line in self._lines())])

    def _repr_markdown_(self) -> str:
        return "\n".join(["```python", *self._lines(), "```"])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(chr(10).join(self._lines()))}</pre>"


def written(
    name: str,
    value: object,
    mask: Mask | None = None,
    accum: OperatorArg = None,
    replace: bool = False,
    region: bool = False,
    *,
    axes: Axes | None = None,
) -> str:
    """A statement as text; axes: of a part, `region`: the mask covers only that part."""
    how = [str(x) for x in (getattr(mask, "name", None), accum, "replace" if replace else None) if x is not None]
    call = f"({', '.join(how)})" if how else ""
    place = "" if axes is None else f"[{', '.join(map(str, axes))}]"
    where = f"{place}{call}" if region else f"{call}{place}"
    if isinstance(value, Delayed):
        value = value._to_expr()._text()
    return f"{name}{where} << {getattr(value, 'name', value)}"


# ---- Run a statement: convert device errors to errors of bitblas; notify the trace and the recorder.


def statement(
    run: Run, target: Output, value: object, mask: Mask | None = None, accum: OperatorArg = None, replace: bool = False
) -> None:
    """run(target, value, mask, accum, replace): a statement that writes into `target`."""
    try:
        if (tracing.active is None and not listening.threads) or _unobserved():  # saves a call
            run(target, value, mask, accum, replace)
        else:
            text = lambda: written(target.name, value, mask, accum, replace)
            with _observed(lambda: reason(value, mask, target, accum, replace), text):
                run(target, value, mask, accum, replace)
    except target.device.errors as error:
        target.device.fail(error)


def assignment(run: Callable[..., None], target: Output, axes: Axes, value: object, *how: Any) -> None:
    """run(target, axes, value, *how): the same for a part of `target`."""
    try:
        if _unobserved():
            run(target, axes, value, *how)
        else:
            text = lambda: written(target.name, value, *how[:4], axes=axes)
            from .plans import assignment_plan

            with _observed(lambda: assignment_plan(target, axes, value, *how), text):
                run(target, axes, value, *how)
    except target.device.errors as error:
        target.device.fail(error)


def computed(expr: Expression, run: Callable[[], R], name: str, mask: Mask | None = None) -> R:
    """run(): what a delayed Matrix or Scalar gives, for a new object of that name."""
    try:
        if _unobserved():
            return run()
        with _observed(lambda: reason(expr, mask), lambda: written(name, expr, mask)):
            return run()
    except expr.device.errors as error:
        return expr.device.fail(error)


def _unobserved() -> bool:
    """Whether no recorder is active; statements of a symbolic program are not reported, because they do not run."""
    if tracing.active is None and not (listening.threads and listening.recorder is not None):
        return True
    return recording.recorder is not None


@contextmanager
def _observed(why: Callable[[], str], text: Callable[[], str]) -> Iterator[None]:
    with listening.recorder.records(text) if listening.recorder is not None else nullcontext():
        with tracing.active.of(why()) if tracing.active is not None else nullcontext():
            yield


def guarded(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that reads an object whole."""

    @functools.wraps(method)
    def read(self: Any, *args: P.args, **how: P.kwargs) -> R:
        try:
            return method(self, *args, **how)
        except self.device.errors as error:
            return self.device.fail(error)

    return read


def reason(value: object, mask: Mask | None, target: Any = None, accum: Any = None, replace: bool = False) -> str:
    """A statement in words: the plan of its expression, with the output if there is a target; else its text."""
    from . import plans

    if isinstance(value, Delayed):
        expr = value._to_expr()
        chosen = plans.chooser(expr)
        if chosen is None and expr.method not in ("mxv", "vxm", "mxm"):
            return expr._text()
        out = None if target is None or not expr.ndim else plans.output(target, mask, accum, replace)
        found = _plan(plans.Statement(expr, mask, out), chosen)
        merged = "" if target is None else plans.merge_reason(target, expr, mask, accum, replace)
        return str(found._replace(reason=f"{found.reason}; {merged}") if merged else found)
    text = f"<< {getattr(value, 'name', value)}"
    merged = "" if target is None else plans.merge_reason(target, value, mask, accum, replace)
    return f"{text}: {merged}" if merged else text
