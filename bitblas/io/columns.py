"""Select columns of a delimited text table and rewrite its lines as those of an edge list."""

from __future__ import annotations

import csv
import difflib
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..exceptions import InvalidValue
from .header import unmarked, without_heads


def asked(columns: Any) -> list[str | int] | None:
    """Validate the argument `columns`: two or three names or numbers. Raises TypeError, InvalidValue."""
    if columns is None:
        return None
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise TypeError(f"columns: expected a list of source, target and optionally weight, got {columns!r}")
    found = [name if isinstance(name, str) else operator.index(name) for name in columns]
    if len(found) not in (2, 3) or len(set(found)) < len(found) or any(not isinstance(k, str) and k < 0 for k in found):
        raise InvalidValue(f"columns: expected two or three different names or numbers from 0, got {found!r}")
    return found


class Columns:
    """Extracts columns from blocks of text, in every pass over a file. name: of the file, in messages."""

    def __init__(self, columns: Sequence[str | int], delimiter: str | None, name: str) -> None:
        self.columns, self.delimiter, self.name = columns, delimiter, name
        self.named = any(isinstance(column, str) for column in columns)  # by the first line

    def of(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """The same blocks and lines, reduced to the chosen columns. InvalidValue for names that the first line does not
        have, and for lines with fewer columns."""
        mark = None if self.delimiter is None else self.delimiter.encode()
        between = b" " if mark is None else mark
        places = None if self.named else [int(k) for k in self.columns]
        lines, head = 0, b""
        for whole in blocks:
            block = unmarked(whole)
            rows = block.split(b"\n")
            if places is None and (at := self._at(rows)) is not None:
                places = self._places(self._names(rows[at], at + 1))
                head, rows[at] = rows[at].strip(), b""
            if head and head in block:
                without_heads(self.name, head, rows)
            if places is not None:
                take: Callable[[Any], Any] = operator.itemgetter(*places)
                for k, row in enumerate(rows):
                    if b'"' not in row and len(fields := row.split(mark)) > max(places) and _holds(row):
                        rows[k] = between.join(take(fields))
                    elif _holds(row):
                        rows[k] = self._line(row, lines + k + 1, places)
            yield b"\n".join(rows)
            lines += len(rows) - 1

    def _line(self, row: bytes, number: int, places: list[int]) -> bytes:
        """Parse a line with quotes or with too few columns."""
        fields = self._fields(row, number)
        if len(fields) <= max(places):
            raise InvalidValue(
                f"{self.name}, line {number}: expected at least {max(places) + 1} columns, got {row.strip()[:60]!r}"
            )
        mark = self.delimiter or " "
        quoted = [f'"{text.replace(chr(34), chr(34) * 2)}"' if mark in text or '"' in text else text for text in fields]
        return mark.join(quoted[k] for k in places).encode()

    def _at(self, rows: list[bytes]) -> int | None:
        """The index of the header: the first line, or a comment before it that contains all chosen names."""
        for k, row in enumerate(rows):
            if _holds(row):
                return k
            if row.strip() and {name for name in self.columns if isinstance(name, str)} <= set(self._names(row, k + 1)):
                return k
        return None

    def _names(self, row: bytes, number: int) -> list[str]:
        """The names in a header line, which may be a comment."""
        bare = row.lstrip()
        return self._fields(bare if _holds(row) else bare[1:], number)

    def _fields(self, row: bytes, number: int) -> list[str]:
        try:
            text = row.decode().strip("\r")
        except UnicodeDecodeError:
            raise InvalidValue(f"{self.name}: expected UTF-8, got the line {row[:40]!r}") from None
        if self.delimiter is None:
            return text.split()
        try:
            return [field.strip() for field in next(csv.reader([text], delimiter=self.delimiter, strict=True), [])]
        except csv.Error as error:
            raise InvalidValue(
                f"{self.name}, line {number}: expected fields separated by {self.delimiter!r}, got {error}. Hint: if "
                "a quoted field continues on the next line, use pandas.read_csv and Graph.from_table"
            ) from None

    def _places(self, names: list[str]) -> list[int]:
        """The positions of the chosen columns in the header."""
        for column in self.columns:
            if isinstance(column, str) and column not in names:
                near = difflib.get_close_matches(column, names, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise InvalidValue(f"{self.name}: columns: expected some of {names}, got {column!r}{hint}")
        return [names.index(column) if isinstance(column, str) else column for column in self.columns]


def _holds(row: bytes) -> bool:
    """Whether a line is neither blank nor a comment."""
    bare = row.lstrip()
    return bool(bare) and bare[:1] not in (b"#", b"%")
