"""Report malformed lines of an edge list in one error: the first few, and their total number."""

from __future__ import annotations

from collections.abc import Iterator

from ..exceptions import InvalidValue
from .edges import Reader
from .header import COMMENT

TOLD = 3  # lines that an error names
LOOKED_THROUGH = 16 << 20  # bytes of text in which it counts the others


def fed(reader: Reader, blocks: Iterator[bytes]) -> Iterator[None]:
    """Feeds one block after the other. InvalidValue for lines that are no edges: it tells of all in the file."""
    for block in blocks:
        try:
            reader.feed(block)
        except InvalidValue:
            if not reader.wrong:
                raise
            reader.lines += block.count(b"\n")
            raise _all(reader, blocks) from None
        yield


def _all(reader: Reader, blocks: Iterator[bytes]) -> InvalidValue:
    """The error of the lines of a block that was refused and of those in the blocks after it."""
    told, count, seen, least, hint = reader.wrong[:TOLD], len(reader.wrong), 0, "", ""
    try:
        for block in blocks:
            if (seen := seen + len(block)) > LOOKED_THROUGH:
                least = "at least "
                break
            reader.wrong = []
            reader.blame(COMMENT.sub(b"", block))
            told, count = (told + reader.wrong)[:TOLD], count + len(reader.wrong)
            reader.lines += block.count(b"\n")
    except InvalidValue:  # a fault that ends the reading of lines
        least = "at least "
    text = f"{reader.name}, {'; '.join(told)}"
    if count > 1:
        text += f"; {least}{count} wrong lines in all"
        hint = ". Hint: where they are many, read the file as a table, clean it, and take Graph.from_table"
    return InvalidValue(text + (reader.hint or hint))
