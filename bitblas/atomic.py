"""Atomic file writes: a file appears complete or not at all.

While it is written, the file has no name (O_TMPFILE) if the file system supports that: ext4, XFS, Btrfs, tmpfs. The
kernel frees it when its process dies, however that happens, except in the instant between its first name and its last.
Elsewhere (NFS, Lustre) it is a hidden `.bitblas-*.part` in the same folder, locked by its writer: an unlocked one was
left behind by a killed process, and the next file written there removes it. macOS always uses such a name; so does
Windows, where nothing is locked, nothing is removed after a kill, and a file that a process holds open or mapped cannot
be replaced.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

locks: Any = None
with suppress(ImportError):  # not available on Windows
    import fcntl as locks

# Functions that some systems lack are not called there.
_PLAIN = getattr(os, "O_BINARY", 0)
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_PART = re.compile(r"\.bitblas-[0-9a-f]{16}\.part")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name when the block ends without error and its bytes are on the disk.
    Otherwise nothing is left behind, and an older file of that name is unchanged.

    The new file has the mode of the one that it replaces, and its owner and group if the process may set them; else
    0666 minus the umask. Any number of threads and processes may write the same name: the last one to finish wins. A
    killed process leaves nothing, or a file that the next call in that folder removes (see above). OSError names
    `path`.
    """
    target = os.path.realpath(path)
    folder, part = os.path.dirname(target), None
    try:
        old = _status(target)
        special = old is not None and not stat.S_ISREG(old.st_mode)  # a device or a pipe
        if special:
            fd = os.open(target, os.O_WRONLY | _PLAIN)
        else:
            part, fd = _opened(folder, 0o666 if old is None else stat.S_IMODE(old.st_mode))
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    if special:
        with open(fd, "wb") as stream:
            yield stream
        return
    try:
        with open(fd, "wb") as stream:
            yield stream
            stream.flush()
            if old is not None:
                _take_over(fd, old)
            os.fsync(fd)
            if part is None:  # a link cannot replace an existing file, so it first gets a temporary name
                part = _new_name(folder)
                os.link(f"/proc/self/fd/{fd}", part, dst_dir_fd=fd)  # with a dir_fd, whatever it is, links are followed
            if locks is not None:  # while it is locked
                os.replace(part, target)
                part = None
        if part is not None:  # Windows cannot rename an open file
            os.replace(part, target)
            part = None
    finally:
        if part is not None:
            with suppress(FileNotFoundError):
                os.unlink(part)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _new_name(folder: str) -> str:
    # Of fixed length, so that it is valid whatever the target's name
    return os.path.join(folder, f".bitblas-{os.urandom(8).hex()}.part")


def _opened(folder: str, mode: int) -> tuple[str | None, int]:
    """A new file in the folder, locked; without a name if possible."""
    with suppress(OSError):
        if not hasattr(os, "O_TMPFILE"):
            raise OSError
        fd = os.open(folder, os.O_WRONLY | os.O_TMPFILE, mode)
        if os.path.exists(f"/proc/self/fd/{fd}"):  # the path that names it in the end
            _lock(fd)
            return None, fd
        os.close(fd)
    _sweep(folder)
    while True:
        part = _new_name(folder)
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN, mode)
        if not _lock(fd, wait=True) or os.fstat(fd).st_nlink:
            return part, fd
        os.close(fd)  # another process removed it before it was locked


def _lock(fd: int, wait: bool = False) -> bool:
    """Lock the file; False if another process has. wait: until the lock is free. Without file locks, nothing is ever
    removed."""
    if locks is None:
        return False
    try:
        locks.flock(fd, locks.LOCK_EX if wait else locks.LOCK_EX | locks.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep(folder: str) -> None:
    """Remove files of killed processes from the folder, as far as they can be recognized."""
    if locks is None:
        return
    with suppress(OSError):
        for name in filter(_PART.fullmatch, os.listdir(folder)):
            path = os.path.join(folder, name)
            with suppress(OSError):
                fd = os.open(path, os.O_WRONLY | _AS_IT_IS)
                try:
                    if _lock(fd):
                        os.unlink(path)
                finally:
                    os.close(fd)


def _take_over(fd: int, old: os.stat_result) -> None:
    """Copy owner, group and mode of the file that is replaced."""
    if not hasattr(os, "fchmod"):  # on Windows, files inherit the rights of their folder
        return
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))  # after the owner, because changing that clears bits
