"""Number vertex names in order of first appearance.

A few names are numbered by a dictionary, the words of a long text by a hash table that kernels fill
(kernels/reading.cpu.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .. import device as devices
from .. import tuning
from ..kernels.variant import Variant

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
    return Fields(text, *arrays), rest.tobytes() if columns == 3 else b"", bool(wrong.any())


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
