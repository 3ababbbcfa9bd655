"""Columns of an edge list: detect the header line, select columns of a table, and suggest delimiters.

A first line names the columns if its first two fields cannot be vertices like those below, which are numbers, or if
they are usual column names that occur in no other line. Any other first line is an edge, and is refused if it is not a
valid one. A warning reports a first line of two words that occur in no other line.
"""

from __future__ import annotations

import csv
import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from ..exceptions import InvalidValue, warn
from .weights import INTEGER, is_weight

# ---- Detect the header line of an edge list, and suggest a delimiter if the fields do not split.

LEADING_ZERO = re.compile(r"0\d+", re.ASCII)
COMMENT = re.compile(rb"^[ \t]*[#%].*$", re.MULTILINE)
_MARK = b"\xef\xbb\xbf"
_EDGE = re.compile(rb"^[ \t]*[^#%\s].*$", re.MULTILINE)
_NAME = re.compile(r"[^\W\d][\w .:-]*")  # a column name
USUAL_HEADERS = {("source", "target"), ("from", "to"), ("src", "dst")}  # the usual column names of edge tables
# The same if no other line contains these words; case, blanks, _ and -, and a suffix "id" are ignored.
_PAIRS = (
    "caller callee; child parent; citing cited; destination origin; end start; follower followed; follower "
    "followee; follower following; head tail; id1 id2; node1 node2; nodea nodeb; person1 person2; sender receiver; "
    "sender recipient; source destination; source target; from to; fromnode tonode; src dest; startnode endnode; "
    "user1 user2; usera userb; vertex1 vertex2; buyer seller; customer product; user item; author coauthor; author1 "
    "author2; payer payee; person friend; von nach"
)
LIKELY_HEADERS = {tuple(pair.split()) for pair in _PAIRS.split("; ")}
SAMPLE_BYTES = 1 << 20  # bytes in which the words of the header are searched again
SAMPLE_LINES = 100  # lines below the first that are examined
_BETWEEN = b' \t\r\n\v\f,;|:"'  # characters that may surround a word
LEAST = 2  # lines after the first that a conclusion needs
_LETTER = re.compile(r"[^\W\d_]")
# Usual names of weight columns, and of columns that number the rows; for the example in a hint.
_WEIGHTS = set(
    (
        "weight w value count sum amount total distance length cost capacity time hours km miles duration score "
        "strength price quantity similarity"
    ).split()
)
_INDEX = {"", "id", "index", "row", "no", "nr", "number", "unnamed: 0"}


def strip_byte_order_marks(block: bytes) -> bytes:
    """Remove UTF-8 byte order marks at the start of lines; concatenated files contain several."""
    if _MARK not in block:
        return block
    return block.removeprefix(_MARK).replace(b"\n" + _MARK, b"\n")


def strip_comments(name: str, block: bytes, mark: str | None, columns: int) -> bytes:
    """Remove the comments of a block; warn of comments after the first edge that have the columns of an edge. columns:
    of the lines before the block, 0 for the first block."""
    if mark is not None and (first := _EDGE.search(block)) is not None:
        marks = columns - 1 if columns else first.group().count(mark.encode())
        found = [c for c in COMMENT.finditer(block) if columns or c.start() > first.start()]
        if like := [c.group() for c in found if marks and c.group().count(mark.encode()) == marks]:
            warn(
                f"{name}: lines such as {_quoted(like[0])} are skipped because # and % start comments, but they have "
                "the columns of an edge: quote names that start with # or %"
            )
    return COMMENT.sub(b"", block)


def blank_repeated_headers(name: str, head: bytes, rows: list[bytes]) -> None:
    """Blank the repeated header lines of concatenated tables."""
    repeated = [k for k, row in enumerate(rows) if row.strip() == head]
    for k in repeated:
        rows[k] = b""
    if repeated:
        warn(f"{name}: the header line {_quoted(head)} occurs again and is skipped")


def _quoted(line: bytes) -> str:
    return repr(line.strip()[:60].decode(errors="replace"))


def integers(fields: list[str]) -> bool:
    """Whether the vertices of a line are numbers; with leading zeros, as in 007, they are names."""
    return all(map(INTEGER.fullmatch, fields[:2])) and not any(map(LEADING_ZERO.fullmatch, fields[:2]))


def have_leading_zeros(block: bytes, mark: str | None) -> bool:
    """Whether a vertex in one of the lines has leading zeros."""
    between = re.escape(" \t" if mark is None else mark).encode()
    return re.search(rb"(?m)^\s*(?:[^\n%b]+[%b]+\s*)?0\d" % (between, between), block) is not None


def _is_word(text: str, decimal: str) -> bool:
    """Whether a field contains a letter and is not a number."""
    return _LETTER.search(text) is not None and not is_weight(text, decimal)


def _well_known(one: str, other: str) -> bool:
    """Whether two words are usual column names of the ends of edges."""
    plain = [re.sub(r"[\s_-]", "", word.lower()) for word in (one, other)]
    pair = tuple(word.removesuffix("id") or word for word in plain)
    return pair in LIKELY_HEADERS or pair[::-1] in LIKELY_HEADERS


def is_header(
    name: str,
    fields: list[str],
    lines: Iterator[tuple[int, list[str]]],
    block: bytes,
    labels: bool | None,
    weights: bool | None,
    decimal: str = ".",
) -> bool | None:
    """Whether the first line of a block is a header; None: a header or an edge with a weight. lines: the lines after
    it."""
    below = [words for _, words in islice(lines, SAMPLE_LINES)]
    third = fields[2] if len(fields) == 3 and weights is not False else None
    weighted = third is not None and is_weight(third, decimal)
    unlike = len(fields) > 1 and all(_is_word(end, decimal) for end in fields[:2]) and bool(below)
    if labels or (unlike and not integers(below[0])):  # names: only a line of three columns can be ruled out as an edge
        unlike = unlike and third is not None and all(all(map(INTEGER.fullmatch, row[:2])) for row in below)
    if tuple(word.lower() for word in fields[:2]) in USUAL_HEADERS:
        return None if weighted and not unlike else True
    if unlike and not weighted:
        return True
    if weighted or (third is None and not all(map(_NAME.fullmatch, fields))):
        return False
    text = block[:SAMPLE_BYTES]
    first = next((row.strip() for row in text.split(b"\n") if row.strip()), b"")
    times = sum(row.strip() == first for row in text.split(b"\n")) if text.count(first) > 1 else 1
    if (len(fields) != 2 and third is None) or any(_recurs(word, text, times) for word in fields[:2]):
        return False
    if _well_known(*fields[:2]):
        return True
    if third is None and labels is not False and len(below) >= LEAST:
        warn(
            f"{name}: the first line, {' '.join(fields)!r}, is read as an edge, but its words occur in no other line: "
            "pass header=True if it names the columns, header=False if not"
        )
    return False


def _recurs(word: str, text: bytes, times: int) -> bool:
    """Whether a word occurs more than `times` times in a text, alone in a field or as one of several words."""
    found = 0
    for at in re.finditer(re.escape(word.encode()), text):
        before, after = text[at.start() - 1 : at.start()], text[at.end() : at.end() + 1]
        found += (not before or before in _BETWEEN) and (not after or after in _BETWEEN)
        if found > times:
            return True
    return False


def delimiter_hint(fields: list[str], delimiter: str | None, names: list[str], below: list[str] | None) -> str:
    """A hint for a line with the wrong number of fields. names: the column names of the first line; below: the fields
    of the next line."""
    if delimiter is None and fields[0].endswith(":"):
        return (
            ". Hint: for adjacency lists, convert to one edge per line: "
            "awk -F'[: ]+' '{for (k = 2; k <= NF; k++) print $1, $k}'"
        )
    for mark in (";", "\t", ",", "|", None) if len(fields) == 1 else ():
        if mark != delimiter and (columns := len(fields[0].split(mark))) > 1:
            by_name = "" if columns < 4 else f", and columns= to select from the {columns}"
            mark = mark or " "
            return f". Hint: if {mark!r} separates the columns, pass delimiter={mark!r}{by_name}"
    if len(fields) > 3:
        row = fields if below is None else below
        chosen = likely_columns(names, row)
        if len(set(names)) == len(names) == len(row) and not any(is_weight(word) for word in names):
            selected = [names[k] for k in chosen]
            return f". Hint: columns={selected} selects {len(selected)} of the columns {', '.join(map(repr, names))}"
        return f". Hint: columns={chosen} selects {len(chosen)} of the {len(fields)} columns, by number from 0"
    return ""


def likely_columns(names: list[str], row: list[str]) -> list[int]:
    """The likely columns of source, target and weight. row: the fields of a line of the table."""
    places = range(len(names))
    pairs = [(i, j) for i in places for j in places if i != j]
    known = [(i, j) for i, j in pairs if (names[i].lower(), names[j].lower()) in USUAL_HEADERS]
    known = known or [(i, j) for i, j in pairs if i < j and _well_known(names[i], names[j])]
    ends = [k for k in places if names[k].lower() not in _INDEX]
    first, second = known[0] if known else ends[:2] if len(ends) > 1 else (0, 1)
    others = [k for k in ends if k not in (first, second)]
    weights = [k for k in others if names[k].lower() in _WEIGHTS]
    weights = weights or [k for k in others if k < len(row) and is_weight(row[k])]
    return [first, second, *weights[:1]]


def text_column_hint(word: str) -> str:
    """A hint for lines whose third column is never a number. word: the first value in it."""
    return (
        f". Hint: the third column holds text, {word!r}: columns=[0, 2] uses it instead of the second, weights=False "
        "ignores it"
    )


def warn_of_delimiter(name: str, lines: Iterator[tuple[int, list[str]]], delimiter: str | None, text: bytes) -> None:
    """Warn if the first field of all of the first lines contains another separator, equally often: lines `a;b;1,5`
    split at commas; blanks between tabs; a colon after each first name. text: of the lines."""
    rows = [fields for _, fields in islice(lines, SAMPLE_LINES)]
    tabs = (
        [row.strip().split(b"\t") for row in text.split(b"\n")[:SAMPLE_LINES] if row.strip()]
        if delimiter is None
        else []
    )
    if tabs and len(tabs[0]) in (2, 3) and len({len(row) for row in tabs}) == 1:
        if any(b" " in field.strip() for row in tabs for field in row):
            warn(f"{name}: every line has tabs, and some fields contain blanks: pass delimiter='\\t' to keep them")
    if delimiter is None and len(rows) > 1 and all(row[0].endswith(":") for row in rows):
        warn(f"{name}: every line's first word ends in ':', which is read as part of the name; remove it if it is not")
    for mark in ";\t|":
        counts = {row[0].count(mark) for row in rows if row}
        if mark != delimiter and len(rows) > 1 and len(counts) == 1 and counts <= {1, 2}:
            warn(
                f"{name}: every line has {mark!r} in its first column: pass delimiter={mark!r} if it separates columns"
            )
            return


# ---- Select columns of a delimited text table and rewrite its lines as those of an edge list.


def check_columns(columns: Iterable[str | int] | None) -> list[str | int] | None:
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
            block = strip_byte_order_marks(whole)
            rows = block.split(b"\n")
            if places is None and (at := self._at(rows)) is not None:
                places = self._places(self._names(rows[at], at + 1))
                head, rows[at] = rows[at].strip(), b""
            if head and head in block:
                blank_repeated_headers(self.name, head, rows)
            if places is not None:
                take: Callable[[list[bytes]], tuple[bytes, ...]] = operator.itemgetter(*places)
                for k, row in enumerate(rows):
                    if b'"' not in row and len(fields := row.split(mark)) > max(places) and _has_fields(row):
                        rows[k] = between.join(take(fields))
                    elif _has_fields(row):
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
            if _has_fields(row):
                return k
            if row.strip() and {name for name in self.columns if isinstance(name, str)} <= set(self._names(row, k + 1)):
                return k
        return None

    def _names(self, row: bytes, number: int) -> list[str]:
        """The names in a header line, which may be a comment."""
        bare = row.lstrip()
        return self._fields(bare if _has_fields(row) else bare[1:], number)

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


def _has_fields(row: bytes) -> bool:
    """Whether a line is neither blank nor a comment."""
    bare = row.lstrip()
    return bool(bare) and bare[:1] not in (b"#", b"%")
