"""Parse the lines of an edge list into arrays; faults raise InvalidValue with file, line, expected and got.

Blocks of numbers are parsed as a whole. Lines are parsed one by one only if that fails, to name the faulty lines: the
first few are listed, and the total is counted.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from .. import device as devices
from .. import tuning
from ..exceptions import InvalidValue, warn
from ..kernels.variant import Variant
from .build import DUP_OP_HINT, Entries, is_power_of_two, repeated_entries
from .edgelist_columns import (
    COMMENT,
    LEADING_ZERO,
    SAMPLE_BYTES,
    SAMPLE_LINES,
    blank_repeated_headers,
    delimiter_hint,
    have_leading_zeros,
    integers,
    is_header,
    strip_byte_order_marks,
    strip_comments,
    text_column_hint,
    warn_of_delimiter,
)
from .weights import (
    EXACT,
    INTEGER,
    WEIGHT,
    WeightType,
    concatenate_weights,
    integral_as_int64,
    is_text,
    is_weight,
    may_be_rounded,
    parse_columns,
    value_of,
    weight_hint,
)

# ---- Parse the lines of an edge list into arrays; a fault raises InvalidValue with file, line, expected and got.

LAST = " to 2^53 - 1"  # the largest vertex number if no size is given
IDS = ". Hint: pass labels=True if these are ids, size= if they are vertex numbers"


@dataclass(frozen=True)
class EdgeListOptions:
    """The format of a line. delimiter: None for blanks. The others are None until the first lines are read."""

    delimiter: str | None
    header: bool | None
    labels: bool | None
    weights: bool | None
    columns: int = 0
    nan: bool = False  # whether a weight may be NaN
    decimal: str = "."  # the decimal mark of weights
    rounded: bool = False  # whether weights become floats (or BOOL), so that any integer is accepted
    whole: bool = False  # whether weights become integers, which stay exact next to texts such as 1e3

    @property
    def line(self) -> str:
        """The expected content of a line, in words."""
        end = "label" if self.labels else "number"
        third = ["", ", a weight" if self.weights else ", something"][self.columns - 2]
        return f"two vertices ({end}s){third}"


def delimiter_of(source: object, delimiter: str | None) -> str | None:
    """The character that separates fields, None for blanks: the argument, or by the file suffix."""
    if delimiter is not None:
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n#%"' or delimiter.isalnum():
            raise InvalidValue(f"delimiter: expected one character such as a comma or a tab, got {delimiter!r}")
        return None if delimiter == " " else delimiter
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    stem, suffix = os.path.splitext(name)
    if suffix in (".gz", ".bz2"):
        suffix = os.path.splitext(stem)[1]
    return {".csv": ",", ".tsv": "\t"}.get(suffix)


class Reader:
    """Parses blocks of whole lines; `finish` returns the edges."""

    def __init__(self, name: str, layout: EdgeListOptions, base: int, size: int | None) -> None:
        self.name, self.layout, self.base, self.size = name, layout, base, size
        self.limit = EXACT if size is None else base + size  # of the numbers of vertices
        self.guessed = layout.labels is None  # whether numbers or names is guessed
        self.zeros_reported = False  # whether leading zeros were reported
        self.lines = 0  # lines before the block
        self.highest, self.lowest = -1, EXACT  # of the vertex numbers
        self.parts: list[Entries] = []
        self.index = Names()  # the labels, in order of appearance
        self.head = b""  # the header line, if it contains words
        self.names: list[str] = []  # column names of the header
        self.first = 0  # number of the first line that is not a header
        self.wrong: list[str] = []  # messages about malformed lines of the refused block
        self.hint = ""  # a hint about them
        self.weights = WeightType(layout.rounded or layout.weights is False, layout.whole)
        self.refuse_duplicates = False  # whether duplicate edges are refused
        self.blocks_parsed = 0  # blocks that held edges

    @property
    def vertices(self) -> int:
        if self.layout.labels:
            return len(self.index)
        if self.size is not None:
            return self.size
        return 1 + self.highest

    @property
    def labels(self) -> tuple[str, ...] | None:
        return self.index.labels() if self.layout.labels else None

    def feed(self, block: bytes) -> None:
        count = block.count(b"\n")
        if not count and b"\r" in block:  # line ends of classic Mac OS
            block = block.replace(b"\r", b"\n")
        block = strip_byte_order_marks(block)
        if b"#" in block or b"%" in block:
            block = strip_comments(self.name, block, self.layout.delimiter, self.layout.columns)
        if self.head and self.head in block:
            block = self._blank_repeated_headers(block)
        if not self.layout.columns:
            block = self._begin(block)
        if self.layout.columns and block and not block.isspace():
            if self.refuse_duplicates and self.layout.weights and not self.blocks_parsed:
                self._check_first(block)
            rows, cols, values = self._parse_labels(block) if self.layout.labels else self._numbered(block)
            if len(rows):
                self.highest = max(self.highest, int(rows.max()), int(cols.max()))
                self.lowest = min(self.lowest, int(rows.min()), int(cols.min()))
            self.parts.append((rows, cols, values))
            self.blocks_parsed += 1
            if self.refuse_duplicates and values is not None and is_power_of_two(self.blocks_parsed):
                self._check_once(block, rows, cols)
        self.lines += count

    def _check_once(self, block: bytes, rows: np.ndarray, cols: np.ndarray) -> None:
        """Refuse a duplicate within a block early, before all edges are read and sorted."""
        at = repeated_entries(rows, cols)
        if len(at):
            raise self._duplicate_error(*next(islice(self._lines(block), int(at.min()), None)))

    def _check_first(self, block: bytes) -> None:
        """The same for the text of the first lines, before numbers are parsed and kernels for names are compiled."""
        known: set[tuple[str, ...]] = set()
        most = tuning.count("edgelist.early_lines")
        end = block.rfind(b"\n", 0, most * tuning.count("edgelist.line_bytes")) + 1
        for number, fields in islice(self._lines(block[: end or None]), most):
            pair = tuple(fields[:2])
            if self._missing_part(fields) is not None:
                return
            if pair in known:
                raise self._duplicate_error(number, fields)
            known.add(pair)

    def _duplicate_error(self, number: int, fields: list[str]) -> InvalidValue:
        expected = f"{self.name}, line {number}: expected every edge once"
        return InvalidValue(f"{expected}, got {fields[0]!r} to {fields[1]!r} twice. Hint: {DUP_OP_HINT}")

    def take_parts(self) -> list[Entries]:
        """Remove and return the parts read since the last call."""
        parts, self.parts = self.parts, []
        return parts

    def count_vertices(self) -> int:
        """The number of vertices, once all lines are read. InvalidValue if it is unknown."""
        if self.highest < 0 and (self.size is None or self.layout.labels):
            raise InvalidValue(
                f"{self.name}: expected edges, got a file without edges. Hint: size= sets the number of vertices"
            )
        return self.vertices

    def finish(self) -> Entries:
        """Rows, columns (INT64, from 0), values (INT64, UINT64 or FP64; None without weights). InvalidValue without
        edges, and for integer weights that fit no common 64-bit type."""
        if not self.count_vertices() or self.highest < 0:
            none = np.zeros(0, np.int64)
            return none, none, none if self.layout.weights else None
        rows, cols, values = zip(*self.parts)
        weighted = None
        if self.layout.weights:
            self.weights.check(self.name)
            if self.layout.whole:
                parts = concatenate_weights(self.name, list(map(integral_as_int64, values)))
                return np.concatenate(rows), np.concatenate(cols), parts
            weighted = np.concatenate([part.astype(self.weights.dtype, copy=False) for part in values])
        return np.concatenate(rows), np.concatenate(cols), weighted

    def _begin(self, block: bytes) -> bytes:
        """Detect the format of the lines; returns the block without its header."""
        lines, layout = self._lines(block), self.layout
        number, fields = next(lines, (0, None))
        if fields is None:
            return block
        header = layout.header
        if header is None:
            header = is_header(self.name, fields, lines, block, layout.labels, layout.weights, layout.decimal)
            self.first = number
            if header is None:
                hint = "header=True if this line names the columns, header=False if it is an edge"
                expected = "expected column names or an edge"
                raise self._fault(number, expected, f"{self._shown(fields)}. Hint: {hint}")
        if header:
            self.layout, self.names = replace(layout, header=False), fields
            *before, rest = block.split(b"\n", number - self.lines)
            if len(before) < number - self.lines:  # nothing follows
                rest = b""
            elif not integers(fields):
                self.head = before[-1].strip()
                rest = self._blank_repeated_headers(rest)
            return self._begin(b"\n" * (number - self.lines) + rest)
        columns = len(fields)
        if columns not in (2, 3) or (layout.weights and columns == 2):
            expected = "two vertices and a weight" if layout.weights else "two vertices and at most one weight"
            below = None if self.names else next((words for _, words in islice(self._lines(block), 1, None)), None)
            hint = delimiter_hint(fields, layout.delimiter, self.names or fields, below)
            raise self._fault(number, f"expected {expected}", f"{columns} column{'s' * (columns != 1)}{hint}")
        weights, labels = columns == 3 and layout.weights is not False, layout.labels
        if labels is None:
            labels = self.size is None and not integers(fields)
        if labels:
            first = block[: block.find(b"\n", SAMPLE_LINES * 80) + 1 or None]
            warn_of_delimiter(self.name, self._lines(first), layout.delimiter, first)
        self.layout = replace(layout, columns=columns, weights=weights, labels=labels)
        return block

    def _blank_repeated_headers(self, block: bytes) -> bytes:
        rows = block.split(b"\n")
        blank_repeated_headers(self.name, self.head, rows)
        return b"\n".join(rows)

    def _lines(self, block: bytes) -> Iterator[tuple[int, list[str]]]:
        """The fields of each line that is not blank, and its number."""
        delimiter, number = self.layout.delimiter, self.lines
        for raw in block.split(b"\n"):
            number += 1
            if not raw.strip():
                continue
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                got = f"{raw[:40]!r}. Hint: if the encoding differs, pass open(path, encoding='cp1252')"
                raise self._fault(number, "expected UTF-8", got) from None
            if delimiter is None:
                yield number, text.split()
            elif '"' not in text:
                yield number, [part.strip() for part in text.split(delimiter)]
            else:
                try:
                    fields = next(csv.reader([text.strip("\r")], delimiter=delimiter, strict=True))
                except csv.Error as error:
                    raise self._fault(number, f"expected fields separated by {delimiter!r}", f"{error}") from None
                yield number, [part.strip() for part in fields]

    def _fault(self, number: int, expected: str, got: str) -> InvalidValue:
        return InvalidValue(f"{self.name}, line {number}: {expected}, got {got}")

    def _shown(self, fields: list[str]) -> str:
        """A line for a message, with its delimiters, so that empty fields show."""
        return repr((self.layout.delimiter or " ").join(fields)[:60])

    # ---- numbers ----

    def _numbered(self, block: bytes) -> Entries:
        layout, mark = self.layout, self.layout.delimiter
        quoted = mark is not None and b'"' in block
        table = None if quoted else self._columns(block, [("source", "i8"), ("target", "i8")], mark)
        if table is None:  # line by line: find the faulty line, or the type of the weights
            return self._parse_quoted(block)
        ends = table["source"], table["target"]
        if min(end.min() for end in ends) < self.base or max(end.max() for end in ends) >= self.limit:
            raise self.malformed_lines(block)
        if self._may_be_names() and have_leading_zeros(block[:SAMPLE_BYTES], mark):
            self._warn_of_leading_zeros()
        rows, cols = (end - self.base for end in ends)
        return rows, cols, table["weight"].copy() if layout.weights else None

    def _columns(self, text: bytes, ends: list[tuple[str, str]], mark: str | None) -> np.ndarray | None:
        """The columns of a text, with the weights, whose type is recorded; None unless all lines have them."""
        layout, known = self.layout, self.weights
        if layout.decimal == "," and layout.weights:
            if mark == "," or b"." in text:
                return None
            text = text.replace(b",", b".")
        if not layout.weights:
            return parse_columns(text, [*ends, ("other", "U1")][: layout.columns], mark)
        for kind in ("f8",) if known.real and not known.whole else ("i8", "u8", "f8"):
            table = parse_columns(text, [*ends, ("weight", kind)], mark)
            if table is None:
                continue
            if kind == "f8":
                values = table["weight"]
                if (not layout.nan and np.isnan(values).any()) or (layout.whole and may_be_rounded(values)):
                    return None
                if not known.real and (np.abs(values) >= 2.0**63).any():  # perhaps all are integers
                    return None
            known.add(table["weight"], real=kind == "f8")
            return table
        return None

    def _may_be_names(self) -> bool:
        return self.guessed and not self.zeros_reported

    def _warn_of_leading_zeros(self) -> None:
        if self._may_be_names():
            self.zeros_reported = True
            warn(f"{self.name}: vertex numbers have leading zeros: pass labels=True if 007 is a name")

    def malformed_lines(self, block: bytes) -> InvalidValue:
        """The error for the malformed lines of a block."""
        number, count = self.lines, 0
        fields: list[str] = []
        for number, fields in self._lines(block):
            count += 1
            if (expected := self._missing_part(fields)) is not None:
                self.hint = self.hint or self._hint_for(number, fields, expected)
                self.wrong.append(f"line {number}: expected {expected}, got {self._shown(fields)}")
        if self.wrong and (word := self._text_column(block, count)):
            self.hint = text_column_hint(word)
        if self.wrong:
            return InvalidValue(f"{self.name}, {self.wrong[0]}{self.hint}")
        return self._fault(number, f"expected {self.layout.line}", "something else in this line or an earlier one")

    def _hint_for(self, number: int, fields: list[str], expected: str) -> str:
        """A hint for a malformed line: about its weight, or that its vertices may be ids."""
        if expected == WEIGHT:
            naming = self._header_hint() if number == self.first else ""
            return weight_hint(fields[2], self.layout.decimal) or naming
        return IDS if expected.endswith(LAST) else ""

    def _header_hint(self) -> str:
        """A hint for a first line that was not recognized as a header."""
        return "" if self.names else f". Hint: header=True if line {self.first} names the columns"

    def _text_column(self, block: bytes, count: int) -> str:
        """The third field of the first line, if text in the third field is the only fault of all `count` lines."""
        if self.hint not in ("", self._header_hint()) or len(self.wrong) != count or (count == 1 and self.hint):
            return ""
        rows = [fields for _, fields in self._lines(block)]
        return rows[0][2] if all(self._missing_part(row) == WEIGHT and is_text(row[2]) for row in rows) else ""

    def _missing_part(self, fields: list[str]) -> str | None:
        """What was expected of a malformed line; None for an edge."""
        layout = self.layout
        if len(fields) != layout.columns or (layout.labels and not all(fields[:2])):
            return layout.line
        if not layout.labels:
            for end in fields[:2]:
                if not INTEGER.fullmatch(end) or not self.base <= value_of(end) < self.limit:
                    last = "" if self.size is None else f" to {self.limit - 1}"
                    far = self.size is None and INTEGER.fullmatch(end) and value_of(end) >= self.limit
                    return f"vertices from {self.base}" + (LAST if far else last)
        if len(fields) == 3 and layout.weights and not is_weight(fields[2], layout.decimal):
            nan = layout.nan and fields[2].lower().lstrip("+-") == "nan"
            return None if nan else WEIGHT
        return None

    # ---- labels ----

    def _parse_labels(self, block: bytes) -> Entries:
        layout = self.layout
        long = len(block) >= tuning.count("labels.kernel_bytes")
        plain = fields_of(block, layout.delimiter, layout.columns) if long else None
        if plain is not None:
            fields, rest = plain
            table = self._columns(rest, [], None) if layout.weights else None
            if not layout.weights or (table is not None and 2 * len(table) == len(fields.begins)):
                pairs = self.index.of(fields).reshape(-1, 2)
                return pairs[:, 0], pairs[:, 1], None if table is None else table["weight"]
        ends, weights = self._parse_lines(block)
        pairs = self.index.numbers(ends).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1], weights

    def _parse_quoted(self, block: bytes) -> Entries:
        """Numbers with quotes, or next to a column of other content, line by line."""
        ends, weights = self._parse_lines(block)
        if any(map(LEADING_ZERO.fullmatch, ends)):
            self._warn_of_leading_zeros()
        pairs = np.array(list(map(int, ends)), np.int64).reshape(-1, 2) - self.base
        return pairs[:, 0], pairs[:, 1], weights

    def _parse_lines(self, block: bytes) -> tuple[list[str], np.ndarray | None]:
        """The ends of the edges, and the weights, line by line."""
        ends: list[str] = []
        weights: list[str] = []
        lines: list[int] = []
        for number, words in self._lines(block):
            if self._missing_part(words) is not None:
                raise self.malformed_lines(block)
            ends += words[:2]
            weights += words[2:] if self.layout.weights else []
            lines.append(number)
        return ends, self.weights.of_words(weights, self.layout.decimal, lines) if self.layout.weights else None


# ---- Report malformed lines of an edge list in one error: the first few, and their total number.

LISTED_LINES = 3  # lines that an error lists
COUNTED_BYTES = 16 << 20  # bytes of text in which it counts further ones


def feed_all(reader: Reader, blocks: Iterator[bytes]) -> Iterator[None]:
    """Feed the blocks to the reader. Malformed lines of the whole file are reported in one InvalidValue."""
    for block in blocks:
        try:
            reader.feed(block)
        except InvalidValue:
            if not reader.wrong:
                raise
            reader.lines += block.count(b"\n")
            raise _all_malformed(reader, blocks) from None
        yield


def _all_malformed(reader: Reader, blocks: Iterator[bytes]) -> InvalidValue:
    """The error for the malformed lines of a refused block and of the blocks after it."""
    listed, count, size, least, hint = reader.wrong[:LISTED_LINES], len(reader.wrong), 0, "", ""
    try:
        for block in blocks:
            if (size := size + len(block)) > COUNTED_BYTES:
                least = "at least "
                break
            reader.wrong = []
            reader.malformed_lines(COMMENT.sub(b"", block))
            listed, count = (listed + reader.wrong)[:LISTED_LINES], count + len(reader.wrong)
            reader.lines += block.count(b"\n")
    except InvalidValue:  # an error that stops reading
        least = "at least "
    text = f"{reader.name}, {'; '.join(listed)}"
    if count > 1:
        text += f"; {least}{count} malformed lines in total"
        hint = ". Hint: if there are many, read the file as a table, clean it, and use Graph.from_table"
    return InvalidValue(text + (reader.hint or hint))


# ---- Number vertex names in order of first appearance.
#
# A few names are numbered by a dictionary, the words of a long text by a hash table that kernels fill
# (kernels/reading.cpu.py).

WORDS = Variant("kernels/words")
# Blanks of Python's `split` and `strip` that the kernel does not handle, in UTF-8.
_BLANKS = re.compile(rb"\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2(?:\x80[\x80-\x8a\xa8\xa9\xaf]|\x81\x9f)|\xe3\x80\x80")


class Fields(NamedTuple):
    """The first two words of each line that is not blank. lengths: negative if the key is a hash."""

    text: np.ndarray
    begins: np.ndarray
    lengths: np.ndarray
    keys: np.ndarray
    more_keys: np.ndarray


def fields_of(block: bytes, mark: str | None, columns: int) -> tuple[Fields, bytes] | None:
    """The words of lines of `columns` fields, separated by a mark or blanks, and the third fields as text. None if a
    line is not plain: wrong or empty fields, quotes, control characters, Unicode blanks, invalid UTF-8."""
    if not block.isascii():
        try:
            block.decode()
        except UnicodeDecodeError:
            return None
        if _BLANKS.search(block):
            return None
    if mark is not None and not mark.isascii():
        return None
    fields, rest, wrong = _words_of(block, mark, columns)
    return None if wrong else (fields, rest)


def _words_of(block: bytes, mark: str | None, columns: int) -> tuple[Fields, bytes, bool]:
    """The words, the third fields, and whether a line is not plain."""
    text, device = np.frombuffer(block, np.uint8), devices.get("cpu")
    ends = np.flatnonzero(text == 10)
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(text))
    lines = len(ends)
    arrays: list[np.ndarray] = [np.empty(2 * lines, dtype) for dtype in (np.int64, np.int32, np.uint64, np.uint64)]
    wrong = np.empty(lines, np.uint8)
    rest = np.full(len(text) if columns == 3 else 1, 32, np.uint8)
    code, bounds = 0 if mark is None else ord(mark), device.ranges(lines, tuning.count("labels.parallel_lines"))
    device.kernel(WORDS)(lines, text, ends, code, columns, *arrays, rest, wrong, bounds=bounds)
    is_word = np.repeat(arrays[0][::2] >= 0, 2)
    is_word[1::2] &= columns > 1
    if not is_word.all():
        arrays = [array[is_word] for array in arrays]
    return Fields(text, *arrays), b"\n".join(rest.tobytes().split()), bool(wrong.any())


class Names:
    """Assigns numbers from 0 to names. A name is one line of text without surrounding blanks."""

    def __init__(self) -> None:
        self.index: dict[str, int] | None = {}
        self.sizes = np.zeros(2, np.int64)  # number of names, and their bytes
        self.table = np.zeros(1, np.uint64)
        self.names, self.starts = np.zeros(1, np.uint8), np.zeros(1, np.int64)

    def __len__(self) -> int:
        return self.sizes.item(0) if self.index is None else len(self.index)

    def labels(self) -> tuple[str, ...]:
        """The names, ordered by number."""
        if self.index is not None:
            return tuple(self.index)
        return tuple(self.names[: self.sizes[1]].tobytes().decode().split("\n")[:-1])

    def numbers(self, names: Iterable[str]) -> np.ndarray:
        """The numbers of some names."""
        if self.index is not None:
            index = self.index
            return np.fromiter((index.setdefault(name, len(index)) for name in names), np.int64)
        return self.of(_words_of("".join(f"{name}\n" for name in names).encode(), "\n", 1)[0])

    def of(self, fields: Fields) -> np.ndarray:
        """The numbers of the words of a text, in order."""
        if self.index is not None:
            known, self.index = self.index, None
            if known:
                self.numbers(known)
        numbers = np.empty(len(fields.begins), np.int64)
        step = tuning.count("labels.launch_words")
        for first in range(0, len(numbers), step):
            part = slice(first, first + step)
            self._number(fields.text, *(array[part] for array in fields[1:]), numbers[part])
        return numbers

    def _number(self, text: np.ndarray, begins: np.ndarray, lengths: np.ndarray, *more: np.ndarray) -> None:
        words = len(begins)
        count, size = self.sizes.tolist()
        before = np.zeros(1, np.uint64)
        slots = len(self.table) // 3
        if slots < (needed := tuning.count("labels.slots") * (count + words)):
            before, slots = self.table, 1 << (needed - 1).bit_length()
            self.table = np.zeros(3 * slots, np.uint64)
        self.names = _resized(self.names, size + int(np.abs(lengths).sum()) + words)
        self.starts = _resized(self.starts, count + words + 1)
        *keys, numbers = more
        table = before, len(before) // 3, self.table, np.uint64(slots - 1)
        kernel = devices.get("cpu").kernel(
            Variant("kernels/numbered", (), (("AHEAD", tuning.count("labels.prefetch")),))
        )
        kernel(words, text, begins, lengths, *keys, *table, self.names, self.starts, self.sizes, numbers)


def _resized(array: np.ndarray, size: int) -> np.ndarray:
    if len(array) >= size:
        return array
    wider = np.zeros(max(size, 2 * len(array)), array.dtype)
    wider[: len(array)] = array
    return wider
