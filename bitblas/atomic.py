"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name when the block ends well and its bytes are on the disk; and leaves no
    trace when it does not: an older file of that name stays as it was."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as stream:  # a device or a pipe
            yield stream
        return
    part = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{os.getpid()}.part")
    try:
        with open(part, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        if os.path.exists(part):
            os.unlink(part)
