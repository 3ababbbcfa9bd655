"""`gb.Recorder`: records the statements of a program as they run, as text in the call style."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .delayed import Delayed
from .recording import State


class _Started(threading.local):
    def __init__(self) -> None:
        self.started: list[Recorder] = []


class _State(State):
    """The active recorder of a thread is the last one that it started: statements run and are recorded."""

    __slots__ = ("_started",)

    def __init__(self) -> None:
        super().__init__()
        self._started = _Started()

    @property
    def started(self) -> list[Recorder]:
        return self._started.started

    def choose(self) -> None:
        self.recorder = self.started[-1] if self.started else None


state = _State()


class Recorder:
    """A list of the statements that ran while it was started: `C(D.S) << A.ewise_mult(B, op=binary.times[INT64])`.

    `data` holds their texts, followed by `# ERROR: name` if the statement failed. It is a context manager, and started
    at once unless `start` is false; only the recorder of a thread that was started last records. Statements inside a
    statement, such as an aggregator's steps, and inside loops on the device are not recorded. max_rows: lines that
    `repr` prints.
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
            state.started.append(self)
            state.choose()

    def stop(self) -> None:
        """Stop recording; the recorder that was started before continues."""
        if self.is_recording:
            self.is_recording = False
            if self in state.started:  # false in any other thread than the one that started it
                state.started.remove(self)
            state.choose()

    def record_raw(self, text: str) -> None:
        """Append a line of text."""
        self.data.append(text)

    def clear(self) -> None:
        """Delete the recorded texts."""
        self.data.clear()

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    @contextmanager
    def hears(self, text: Callable[[], str]) -> Iterator[None]:
        """Context of a running statement with that text."""
        state.recorder = None
        try:
            said = text()
            yield
        except BaseException as error:
            self.data.append(f"{said}  # ERROR: {type(error).__name__}")
            raise
        else:
            self.data.append(said)
        finally:
            state.choose()

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
    name: str, value: Any, mask: Any = None, accum: Any = None, replace: bool = False, region: bool = False,
    *, axes: Any = None,
) -> str:  # fmt: skip
    """A statement as text; axes: of a part, `region`: the mask covers only that part."""
    how = [str(x) for x in (getattr(mask, "name", None), accum, "replace" if replace else None) if x is not None]
    call = f"({', '.join(how)})" if how else ""
    place = "" if axes is None else f"[{', '.join(map(str, axes))}]"
    where = f"{place}{call}" if region else f"{call}{place}"
    if isinstance(value, Delayed):
        value = value._to_expr()._text()
    return f"{name}{where} << {getattr(value, 'name', value)}"


__all__ = ["Recorder", "written"]
