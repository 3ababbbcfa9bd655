"""Report malformed lines of an edge list in one error: the first few, and their total number."""

from __future__ import annotations

from collections.abc import Iterator

from ..exceptions import InvalidValue
from .edges import Reader
from .header import COMMENT

TOLD = 3  # lines that an error lists
LOOKED_THROUGH = 16 << 20  # bytes of text in which it counts further ones


def fed(reader: Reader, blocks: Iterator[bytes]) -> Iterator[None]:
    """Feed the blocks to the reader. Malformed lines of the whole file are reported in one InvalidValue."""
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
    """The error for the malformed lines of a refused block and of the blocks after it."""
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
    except InvalidValue:  # an error that stops reading
        least = "at least "
    text = f"{reader.name}, {'; '.join(told)}"
    if count > 1:
        text += f"; {least}{count} malformed lines in total"
        hint = ". Hint: if there are many, read the file as a table, clean it, and use Graph.from_table"
    return InvalidValue(text + (reader.hint or hint))
