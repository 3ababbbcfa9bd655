"""Atomic writes of files: concurrent writers, killed writers, modes, links, long names."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import bitblas as gb
from bitblas.atomic import replacing


@pytest.fixture(params=["unnamed", "named"])
def system(request, tmp_path, monkeypatch):
    """A file system that has files without a name, and one that has not."""
    if request.param == "named":
        monkeypatch.setattr(os, "O_TMPFILE", 0)
        return request.param
    try:
        os.close(os.open(tmp_path, os.O_WRONLY | os.O_TMPFILE))
    except OSError as error:
        pytest.skip(f"O_TMPFILE in {tmp_path}: {error}")
    return request.param


def names(folder):
    return sorted(os.listdir(folder))


def put(path, text=b"after"):
    with replacing(path) as stream:
        stream.write(text)


def test_threads_write_one_name(system, tmp_path):
    A = gb.Matrix.from_coo([0, 1], [1, 0], [3, 4], nrows=2, ncols=2, device="cpu")
    path, begin = tmp_path / "a.bitblas", threading.Barrier(8)

    def save(k):
        begin.wait()
        for _ in range(5):
            A.save(path)
            assert gb.load(path, verify=True, device="cpu").nvals == 2

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(8)))
    assert names(tmp_path) == ["a.bitblas"]


def test_a_file_swept_up_before_it_is_locked(tmp_path, monkeypatch):
    """Another process may lock a new file in order to remove it: then the file is created again."""
    fcntl, opened = pytest.importorskip("fcntl"), os.open
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)

    def swept(path, flags, *mode, **how):
        fd = opened(path, flags, *mode, **how)
        if flags & os.O_EXCL:
            monkeypatch.undo()
            other = opened(path, os.O_WRONLY)
            fcntl.flock(other, fcntl.LOCK_EX)
            threading.Timer(0.05, lambda: (os.unlink(path), os.close(other))).start()
        return fd

    monkeypatch.setattr(os, "open", swept)
    put(tmp_path / "a")
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"after"


def test_a_planted_link_is_not_followed(system, tmp_path, monkeypatch):
    """Names cannot be foreseen; and one that is there already is refused, whatever it is."""
    other = tmp_path / "other"
    other.write_text("mine")
    monkeypatch.setattr(os, "urandom", bytes)
    for planted in (f".a.mtx.{os.getpid()}.part", f".bitblas-{'00' * 8}.part"):
        (tmp_path / planted).symlink_to(other)
    with pytest.raises(FileExistsError):
        put(tmp_path / "a.mtx")
    assert other.read_text() == "mine" and not (tmp_path / "a.mtx").exists()
    monkeypatch.undo()
    put(tmp_path / "a.mtx")
    assert other.read_text() == "mine" and (tmp_path / "a.mtx").read_text() == "after"


def test_modes(system, tmp_path):
    path, before = tmp_path / "a.mtx", os.umask(0o027)
    try:
        put(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o666, 0o444):
            path.chmod(mode)
            put(path)
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


def test_nobody_else_reads_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "O_TMPFILE", 0)
    path = tmp_path / "a.mtx"
    path.touch(0o600)
    with replacing(path):
        [part] = set(names(tmp_path)) - {"a.mtx"}
        assert stat.S_IMODE((tmp_path / part).stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away: only root may")
def test_owners(system, tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("before")
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    put(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o640)


def test_a_link_stays_a_link(system, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.mtx"
    link.symlink_to(tmp_path / "folder" / "a.mtx")
    put(link)
    assert link.is_symlink() and (tmp_path / "folder" / "a.mtx").read_text() == "after"


def test_long_names(system, tmp_path):
    name = "x" * (255 - len(".bitblas")) + ".bitblas"
    A = gb.Matrix.from_coo([0], [1], nrows=2, ncols=2, device="cpu")
    A.save(tmp_path / name)
    A.save(tmp_path / name)
    assert names(tmp_path) == [name]
    with pytest.raises(OSError, match="File name too long"), replacing(tmp_path / f"x{name}"):
        raise AssertionError("opened")  # before anything is written
    assert names(tmp_path) == [name]


def test_a_failure_leaves_nothing(system, tmp_path):
    put(tmp_path / "a.mtx", b"before")
    with pytest.raises(RuntimeError), replacing(tmp_path / "a.mtx") as stream:
        stream.write(b"half")
        raise RuntimeError
    with pytest.raises(OSError), replacing(tmp_path / "b.mtx"):
        (tmp_path / "b.mtx").mkdir()  # the existing file cannot be replaced
    assert names(tmp_path) == ["a.mtx", "b.mtx"] and (tmp_path / "a.mtx").read_text() == "before"


DIES = """
import os, sys
from bitblas.atomic import replacing
path, system = sys.argv[1:]
if system == "named":
    os.O_TMPFILE = 0
with replacing(path) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), 9)
"""


def test_a_kill_leaves_nothing_for_long(system, tmp_path):
    path = tmp_path / "a.bitblas"
    path.write_bytes(b"before")
    child = subprocess.run([sys.executable, "-c", DIES, path, system], check=False)
    assert child.returncode == -signal.SIGKILL
    left = set(names(tmp_path)) - {"a.bitblas"}
    assert len(left) == (system == "named")
    with replacing(tmp_path / "b.mtx") as living:  # a file that is still being written stays
        living.write(b"b")
        put(path, b"after")
    assert names(tmp_path) == ["a.bitblas", "b.mtx"]
    assert (path.read_bytes(), (tmp_path / "b.mtx").read_bytes()) == (b"after", b"b")
