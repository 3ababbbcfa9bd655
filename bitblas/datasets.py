"""Data sets by name: `gb.datasets.fetch("SNAP/roadNet-CA")` downloads a published graph, checks and keeps the file, and
returns a Graph.

Addresses are those that the collections publish; names of the SuiteSparse collection and of KONECT are not limited to
the list. None of the collections publishes checksums of its files: the first download's SHA-256 is recorded next to the
file, with a warning that says so, and later files must have it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from . import extras
from .atomic import replacing
from .device import jit
from .exceptions import InvalidValue, warn
from .graph import Graph
from .io import read, read_edgelist
from .io.files import Progress

__all__ = ["Entry", "download", "fetch", "list", "path"]

TIMEOUT = 60  # seconds without an answer
BLOCK = 1 << 20
_PART = re.compile(r"[A-Za-z0-9][\w.+-]*")


@dataclass(frozen=True)
class Entry:
    """A data set: its name, the address of its file, where this address is published, the kind of file, and how it is
    read."""

    name: str
    url: str
    published: str
    kind: str = "edges"  # a format of `bitblas.io.read`, or suitesparse, konect, ogb: archives
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Where the downloaded file is kept."""
        return folder().joinpath(*self.name.split("/")[:-1], urlsplit(self.url).path.rsplit("/", 1)[-1])


# ---- The collections.

_SNAP, _SNAP_PAGE = "https://snap.stanford.edu/data/", "https://snap.stanford.edu/data/index.html"
_SUITESPARSE, _SUITESPARSE_PAGE = "https://sparse.tamu.edu/MM/", "https://sparse.tamu.edu"
_KONECT, _KONECT_PAGE = "http://konect.cc/files/download.tsv.", "http://konect.cc/networks/"
_OGB, _OGB_PAGE = "https://snap.stanford.edu/ogb/data/", "https://github.com/snap-stanford/ogb"
_UNDIRECTED = (
    "roadNet-CA", "roadNet-PA", "roadNet-TX", "email-Enron", "ca-GrQc", "ca-HepTh", "ca-HepPh", "ca-AstroPh",
    "ca-CondMat", "facebook_combined", "loc-gowalla_edges", "loc-brightkite_edges",
)  # fmt: skip
_DIRECTED = (
    "web-Google", "wiki-Vote", "wiki-Talk", "soc-Epinions1", "soc-Slashdot0811", "soc-LiveJournal1",
    "soc-pokec-relationships", "twitter_combined", "gplus_combined",
)  # fmt: skip
_COMMUNITIES = ("com-youtube", "com-dblp", "com-lj", "com-orkut")
_WITH_IDS = ("twitter_combined", "gplus_combined")  # vertices are ids of users
_GAP = ("road", "web", "twitter", "kron", "urand")
_OGB_FILES = {
    "ogbn-arxiv": ("nodeproppred/arxiv.zip", True), "ogbn-products": ("nodeproppred/products.zip", False),
    "ogbn-proteins": ("nodeproppred/proteinfunc_v4.zip", False), "ogbl-ppa": ("linkproppred/ppassoc_v5.zip", False),
    "ogbl-collab": ("linkproppred/collab.zip", False),
}  # fmt: skip


def _snap(name: str, file: str, directed: bool) -> Entry:
    numbers: dict[str, Any] = {"labels": True} if name in _WITH_IDS else {"base": 0}
    return Entry(f"SNAP/{name}", _SNAP + file, _SNAP_PAGE, "edges", {"directed": directed, **numbers})


def _suitesparse(name: str, group: str, matrix: str) -> Entry:
    return Entry(name, f"{_SUITESPARSE}{group}/{matrix}.tar.gz", _SUITESPARSE_PAGE, "suitesparse")


def _entries() -> dict[str, Entry]:
    found = [_snap(name, f"{name}.txt.gz", False) for name in _UNDIRECTED]
    found += [_snap(name, f"{name}.txt.gz", True) for name in _DIRECTED]
    found += [_snap(name, f"bigdata/communities/{name}.ungraph.txt.gz", False) for name in _COMMUNITIES]
    found += [_suitesparse(f"GAP/{name}", "GAP", f"GAP-{name}") for name in _GAP]
    found += [
        Entry(f"OGB/{name}", _OGB + file, _OGB_PAGE, "ogb", {"directed": directed})
        for name, (file, directed) in _OGB_FILES.items()
    ]
    return {entry.name: entry for entry in found}


ENTRIES = _entries()
PATTERNS = ("SuiteSparse/GROUP/NAME", "KONECT/NAME")


def list() -> tuple[str, ...]:
    """The names that `fetch` accepts. Any matrix of the SuiteSparse collection and any network of KONECT can be named
    too: "SuiteSparse/GROUP/NAME", "KONECT/NAME"."""
    return (*ENTRIES, *PATTERNS)


def find(name: str) -> Entry:
    """The entry of a name or an address. InvalidValue for another."""
    if not isinstance(name, str):
        raise TypeError(f"name: expected the name of a data set, got {name!r}")
    if name in ENTRIES:
        return ENTRIES[name]
    if "://" in name:
        file = urlsplit(name).path.rsplit("/", 1)[-1]
        if not _PART.fullmatch(file):
            raise InvalidValue(f"name: expected an address that ends in the name of a file, got {name!r}")
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        return Entry(f"urls/{digest}/{file}", name, name, "")
    collection, *parts = name.split("/")
    if all(map(_PART.fullmatch, parts)):
        if collection == "SuiteSparse" and len(parts) == 2:
            return _suitesparse(name, *parts)
        if collection == "KONECT" and len(parts) == 1:
            return Entry(name, f"{_KONECT}{parts[0]}.tar.bz2", _KONECT_PAGE, "konect")
    import difflib

    near = difflib.get_close_matches(name, list(), 3, 0.5)
    hint = f". Hint: {', '.join(map(repr, near))}" if near else ". Hint: bitblas.datasets.list() has the names"
    raise InvalidValue(f"name: expected the name of a data set or an address, got {name!r}{hint}")


# ---- Files.


def folder() -> Path:
    """Where files are kept: $BITBLAS_DATASETS, else the folder `datasets` next to the compiled kernels, by default
    ~/.cache/bitblas/datasets."""
    given = os.environ.get("BITBLAS_DATASETS")
    return Path(given) if given else jit.cache_dir() / "datasets"


def path(name: str) -> Path:
    """Where the file of a data set is, or will be after its download."""
    return find(name).path


def download(name: str, *, sha256: str | None = None, progress: bool | None = None) -> Path:
    """Download the file of a data set unless it is there, check it, and return its path.

    name: see `fetch`. sha256: the checksum that the file must have; None: that of the first download. A file that you
    put there yourself is accepted too. Raises InvalidValue for an unknown name and for a file with another checksum or
    size, and nothing is written; OSError, with what to download where, if the address cannot be reached.
    """
    entry = find(name)
    expected = sha256.lower() if sha256 is not None else _recorded(entry).get("sha256")
    if entry.path.exists():
        found = _sum_of(entry.path)
        if expected is not None and found != expected:
            raise InvalidValue(
                f"{entry.path}: expected sha256 {expected}, got {found}. Hint: delete it, and it is downloaded again"
            )
    else:
        found = _download(entry, expected, progress)
    if _recorded(entry).get("sha256") != found:
        _record(entry, found)
        if sha256 is None:
            warn(f"{name}: no checksum is published for this file; recorded that of the first one: sha256 {found}")
    return entry.path


def _sum_of(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(stream)


def _digest(stream: IO[bytes]) -> str:
    found = hashlib.sha256()
    while data := stream.read(BLOCK):
        found.update(data)
    return found.hexdigest()


def _note(entry: Entry) -> Path:
    return entry.path.with_name(f"{entry.path.name}.json")


def _recorded(entry: Entry) -> dict[str, Any]:
    try:
        found = json.loads(_note(entry).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _record(entry: Entry, digest: str) -> None:
    note = {
        "name": entry.name, "url": entry.url, "published": entry.published, "sha256": digest,
        "bytes": entry.path.stat().st_size, "recorded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }  # fmt: skip
    with replacing(_note(entry)) as stream:
        stream.write(json.dumps(note, indent=1).encode())


def _download(entry: Entry, expected: str | None, progress: bool | None) -> str:
    """Write the file and return its checksum; nothing is written if it is not complete or not as expected."""
    entry.path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    try:
        with _opened(entry) as (stream, size), replacing(entry.path) as target:
            shown, done = Progress(entry.path.name, size, progress), 0
            try:
                while data := stream.read(BLOCK):
                    target.write(data)
                    digest.update(data)
                    done += len(data)
                    shown.at(done)
            finally:
                shown.close()
            if size is not None and done != size:
                raise InvalidValue(
                    f"{entry.url}: expected {size} bytes, got {done}: the answer was cut. Hint: try again"
                )
            if expected is not None and digest.hexdigest() != expected:
                raise InvalidValue(
                    f"{entry.url}: expected sha256 {expected}, got {digest.hexdigest()}: the file has changed, or its "
                    f"transfer was damaged. Hint: delete {_note(entry)} to accept another file"
                )
    except (OSError, EOFError) as error:  # URLError and HTTPError are OSErrors
        reason = getattr(error, "reason", None) or error
        raise OSError(
            f"{entry.name}: cannot download {entry.url}: {reason}. Hint: download it with another machine, to "
            f"{entry.path}; {entry.published} has the address"
        ) from error
    return digest.hexdigest()


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but not from https to an address without encryption."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        schemes = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if schemes[1] not in ("http", "https") or schemes == ("https", "http"):
            raise urllib.error.URLError(f"redirected to {newurl}, which is refused")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def _opened(entry: Entry) -> Iterator[tuple[Any, int | None]]:
    """The content of an address, and its size if it is known."""
    scheme = urlsplit(entry.url).scheme
    if scheme in ("http", "https"):
        request = urllib.request.Request(entry.url, headers={"User-Agent": "bitblas", "Accept-Encoding": "identity"})
        with urllib.request.build_opener(_Redirects).open(request, timeout=TIMEOUT) as answer:
            size = answer.headers.get("Content-Length")
            yield _Answer(answer), int(size) if size is not None and size.isdigit() else None
        return
    with extras.load("fsspec", f"an address {scheme}://").open(entry.url, "rb") as stream:
        yield stream, getattr(stream, "size", None)


class _Answer:
    """An answer whose end before its time is a short read."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def read(self, size: int) -> bytes:
        import http.client

        try:
            data: bytes = self.answer.read(size)
        except http.client.IncompleteRead as error:
            data = error.partial
        return data


# ---- Graphs.


def fetch(name: str, *, sha256: str | None = None, progress: bool | None = None, **options: Any) -> Graph:
    """A published graph, by name: its file is downloaded once and kept.

    Parameters
    ----------
    name
        One of `list()`, such as "SNAP/roadNet-CA", "GAP/road", "OGB/ogbn-arxiv";
        "SuiteSparse/GROUP/NAME" or "KONECT/NAME" for any graph of these; or an address (https://,
        http://, or what fsspec opens, such as s3://) of a file of any format that `Graph.read` reads.
    sha256, progress : optional
        See `download`.
    options
        Of `Graph.read`, such as device, directed, dup_op; by default the graph is directed as its
        collection says.

    Notes
    -----
    Raises what `download` and `Graph.read` raise; InvalidValue for a bipartite network of KONECT.
    """
    entry = find(name)
    file = download(name, sha256=sha256, progress=progress)
    options = {**entry.options, **options}
    if entry.kind in _ARCHIVES:
        return _ARCHIVES[entry.kind](file, entry, options)
    return read(str(file), entry.kind or None, **options)


def _member(archive: tarfile.TarFile, file: Path, matches: Callable[[str], bool]) -> IO[bytes]:
    """A file of an archive. InvalidValue if there is none."""
    for member in archive:
        if member.isfile() and matches(member.name) and (stream := archive.extractfile(member)) is not None:
            return stream
    raise InvalidValue(f"{file}: expected an archive with the matrix or the edges, got another")


@contextmanager
def _tar(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file) as archive:
            yield archive
    except (tarfile.TarError, EOFError) as error:
        raise InvalidValue(f"{file}: expected an archive, got {error}") from None


def _read_suitesparse(file: Path, entry: Entry, options: dict[str, Any]) -> Graph:
    matrix = file.name.removesuffix(".tar.gz")
    with _tar(file) as archive:
        stream = _member(archive, file, lambda name: name.endswith(f"{matrix}/{matrix}.mtx"))
        return read(_Named(stream, entry.name), "mtx", **options)


def _read_konect(file: Path, entry: Entry, options: dict[str, Any]) -> Graph:
    with _tar(file) as archive:
        stream = _member(archive, file, lambda name: name.rsplit("/", 1)[-1].startswith("out."))
        head = stream.read(1 << 12)
        kinds = head.split(b"\n", 1)[0].decode(errors="replace").split()
        if kinds[:1] != ["%"] or len(kinds) < 3 or kinds[1] not in ("sym", "asym", "bip"):
            raise InvalidValue(f"{file}: expected a network of KONECT, whose first line names its kind, got another")
        if kinds[1] == "bip":
            raise InvalidValue(f"{entry.name}: expected a network of one kind of vertices, got a bipartite one")
        lines = [line.split() for line in head.split(b"\n")[:-1] if line.strip() and not line.startswith(b"%")]
        weighted = kinds[2] not in ("unweighted",) and bool(lines) and len(lines[0]) > 2
        plain = {"base": 1, "directed": kinds[1] == "asym", "columns": [0, 1, 2] if weighted else [0, 1]}
        return read_edgelist(_Named(stream, entry.name, head), header=False, **{**plain, **options})


def _read_ogb(file: Path, entry: Entry, options: dict[str, Any]) -> Graph:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            edges = next((name for name in names if name.endswith("raw/edge.csv.gz")), None)
            counts = next((name for name in names if name.endswith("raw/num-node-list.csv.gz")), None)
            if edges is None or counts is None:
                raise InvalidValue(f"{file}: expected raw/edge.csv.gz and raw/num-node-list.csv.gz, got no such files")
            with archive.open(counts) as packed:
                size = int(gzip.decompress(packed.read(1 << 16)).split()[0])
            with archive.open(edges) as stream:
                given = {"header": False, "base": 0, "size": size, **options}
                return read_edgelist(_Named(stream, entry.name), delimiter=",", **given)
    except (zipfile.BadZipFile, EOFError) as error:
        raise InvalidValue(f"{file}: expected an archive, got {error}") from None


class _Named:
    """An open file with the name of its data set, for messages. head: what was read of it already."""

    def __init__(self, stream: IO[bytes], name: str, head: bytes = b"") -> None:
        self.stream, self.name, self.head = stream, name, head

    def read(self, size: int = -1, /) -> bytes:
        if self.head:
            cut = len(self.head) if size < 0 else size
            data, self.head = self.head[:cut], self.head[cut:]
            return data
        return self.stream.read(size)


_ARCHIVES: dict[str, Callable[[Path, Entry, dict[str, Any]], Graph]] = {
    "suitesparse": _read_suitesparse,
    "konect": _read_konect,
    "ogb": _read_ogb,
}
