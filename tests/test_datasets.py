"""Data sets by name, from a server on the loopback address: redirects, truncated answers, changed files, archives."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import json
import re
import sys
import tarfile
import threading
import zipfile

import pytest

from bitblas import datasets
from bitblas.exceptions import InvalidValue

EDGES = b"# a comment\n0 1\n1 2\n2 0\n"


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch, on_the_cpu):
    """The folder of the files of a test."""
    monkeypatch.setenv("BITBLAS_DATASETS", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def server():
    """pages: path -> (status, headers, body). `requests` lists the paths that were asked for."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.requests.append(self.path)
            status, headers, body = self.server.pages.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.pages, made.requests = {}, []
        made.root = f"http://127.0.0.1:{made.server_address[1]}"
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def entry(monkeypatch, server, name, page, kind="edges", **options):
    made = datasets.Entry(name, server.root + page, "https://example.org/list", kind, options)
    monkeypatch.setitem(datasets.ENTRIES, name, made)
    return made


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def first(name, **options):
    """A first download, which says that its checksum is recorded."""
    with pytest.warns(UserWarning, match=rf"{re.escape(name)}: no checksum is published .* sha256 [0-9a-f]{{64}}"):
        return datasets.fetch(name, **options)


def test_a_file_is_downloaded_once_and_checked(server, kept, monkeypatch):
    server.pages["/toy.txt.gz"] = 200, {}, gzip.compress(EDGES)
    made = entry(monkeypatch, server, "SNAP/toy", "/toy.txt.gz", base=0, directed=True)
    G = first("SNAP/toy", dtype="FP32")
    assert G.directed and G.matrix.nvals == 3 and server.requests == ["/toy.txt.gz"]
    assert made.path == kept / "SNAP" / "toy.txt.gz" == datasets.path("SNAP/toy")
    note = json.loads((kept / "SNAP" / "toy.txt.gz.json").read_text())
    assert note["sha256"] == hashlib.sha256(gzip.compress(EDGES)).hexdigest() and note["url"] == made.url
    assert datasets.fetch("SNAP/toy", directed=False).matrix.nvals == 6 and len(server.requests) == 1
    made.path.write_bytes(b"other")
    with pytest.raises(InvalidValue, match=r"toy.txt.gz: expected sha256 .*, got .* Hint: delete it"):
        datasets.fetch("SNAP/toy")
    made.path.unlink()
    server.pages["/toy.txt.gz"] = 200, {}, gzip.compress(EDGES + b"0 2\n")
    with pytest.raises(InvalidValue, match=r"the file has changed, or its transfer was damaged. Hint: delete .*json"):
        datasets.fetch("SNAP/toy")
    assert files(kept) == ["toy.txt.gz.json"]
    (kept / "SNAP" / "toy.txt.gz.json").unlink()
    assert first("SNAP/toy").matrix.nvals == 4


def test_a_checksum_of_the_caller(server, kept, monkeypatch):
    server.pages["/g.csv"] = 200, {}, b"0,1\n1,0\n"
    digest = hashlib.sha256(b"0,1\n1,0\n").hexdigest()
    url = f"{server.root}/g.csv"
    with pytest.raises(InvalidValue, match=r"expected sha256 0000, got"):
        datasets.fetch(url, sha256="0000")
    assert files(kept) == []
    assert datasets.fetch(url, sha256=digest.upper(), directed=True).matrix.nvals == 2  # without a warning
    assert datasets.download(url) == datasets.path(url)


def test_redirects(server, kept):
    server.pages["/new/g.csv"] = 200, {}, b"0,1\n"
    server.pages["/g.csv"] = 302, {"Location": "/new/g.csv"}, b""
    assert first(f"{server.root}/g.csv", directed=True).matrix.nvals == 1
    assert server.requests == ["/g.csv", "/new/g.csv"]
    server.pages["/loop.csv"] = 302, {"Location": "/loop.csv"}, b""
    server.pages["/file.csv"] = 302, {"Location": "file:///etc/hostname"}, b""
    for page in ("loop", "file"):
        with pytest.raises(OSError, match=rf"cannot download .*{page}.csv: .*(redirect|Redirection)"):
            datasets.fetch(f"{server.root}/{page}.csv")
    assert files(kept) == ["g.csv", "g.csv.json"]


def test_https_does_not_lead_to_http():
    import urllib.error
    import urllib.request

    request = urllib.request.Request("https://example.org/a")
    with pytest.raises(urllib.error.URLError, match=r"redirected to http://example.org/a, which is refused"):
        datasets._Redirects().redirect_request(request, io.BytesIO(), 302, "", {}, "http://example.org/a")


def test_truncated_and_missing_answers(server, kept):
    server.pages["/cut.csv"] = 200, {"Content-Length": "100"}, b"0,1\n"
    with pytest.raises(InvalidValue, match=r"cut.csv: expected 100 bytes, got 4: the answer was cut. Hint: try again"):
        datasets.fetch(f"{server.root}/cut.csv")
    with pytest.raises(OSError, match=r"none.csv: Not Found. Hint: download it with another machine, to .*none.csv"):
        datasets.fetch(f"{server.root}/none.csv")
    assert files(kept) == []


def test_offline(server, kept, monkeypatch):
    made = entry(monkeypatch, server, "SNAP/toy", "/toy.txt", base=0, directed=True)
    server.shutdown()
    server.socket.close()
    with pytest.raises(
        OSError, match=rf"SNAP/toy: cannot download {server.root}/toy.txt: .* to {made.path}; https://ex"
    ):
        datasets.fetch("SNAP/toy")
    made.path.write_bytes(EDGES)  # as the message says
    assert first("SNAP/toy").matrix.nvals == 3


def tar(mode, **members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name.replace("__", "/").replace("_", "."))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


MTX = b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"


def test_archives_of_suitesparse(server, monkeypatch):
    assert datasets.find("SuiteSparse/SNAP/roadNet-CA").url == "https://sparse.tamu.edu/MM/SNAP/roadNet-CA.tar.gz"
    server.pages["/toy.tar.gz"] = 200, {}, tar("w:gz", toy__readme=b"x", toy__toy_mtx=MTX)
    entry(monkeypatch, server, "GAP/toy", "/toy.tar.gz", "suitesparse")
    G = first("GAP/toy")
    assert not G.directed and G.matrix.nvals == 4
    server.pages["/bad.tar.gz"] = 200, {}, tar("w:gz", toy__readme=b"x")
    entry(monkeypatch, server, "GAP/bad", "/bad.tar.gz", "suitesparse")
    with pytest.warns(UserWarning), pytest.raises(InvalidValue, match="expected an archive with the matrix"):
        datasets.fetch("GAP/bad")


@pytest.mark.parametrize(
    ("text", "nvals", "directed"),
    [
        (b"% sym unweighted\n% 2 3\n1 2\n2 3\n", 4, False),
        (b"% asym positive\n1 2 3 1400000000\n2 3 1 1400000001\n", 2, True),
    ],
)
def test_archives_of_konect(server, monkeypatch, text, nvals, directed):
    assert datasets.find("KONECT/moreno_zebra").url == "http://konect.cc/files/download.tsv.moreno_zebra.tar.bz2"
    server.pages["/toy.tar.bz2"] = 200, {}, tar("w:bz2", toy__meta_toy=b"x", toy__out_toy=text)
    entry(monkeypatch, server, "KONECT/toy", "/toy.tar.bz2", "konect")
    G = first("KONECT/toy")
    assert G.directed is directed and G.matrix.nvals == nvals
    if directed:
        assert G.matrix.to_dicts() == {0: {1: 3}, 1: {2: 1}}


def test_bipartite_and_other_networks(server, monkeypatch):
    for name, text, match in (
        ("bip", b"% bip unweighted\n1 1\n", "got a bipartite one"),
        ("x", b"1 2\n", "first line"),
    ):
        server.pages[f"/{name}.tar.bz2"] = 200, {}, tar("w:bz2", **{f"toy__out_{name}": text})
        entry(monkeypatch, server, f"KONECT/{name}", f"/{name}.tar.bz2", "konect")
        with pytest.warns(UserWarning), pytest.raises(InvalidValue, match=match):
            datasets.fetch(f"KONECT/{name}")


def test_archives_of_ogb(server, monkeypatch):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("toy/raw/edge.csv.gz", gzip.compress(b"0,1\n1,2\n"))
        archive.writestr("toy/raw/num-node-list.csv.gz", gzip.compress(b"5\n"))
    server.pages["/toy.zip"] = 200, {}, buffer.getvalue()
    entry(monkeypatch, server, "OGB/toy", "/toy.zip", "ogb", directed=False)
    G = first("OGB/toy")
    assert not G.directed and len(G) == 5 and G.matrix.nvals == 4
    server.pages["/bad.zip"] = 200, {}, b"PK\3\4 no archive"
    entry(monkeypatch, server, "OGB/bad", "/bad.zip", "ogb", directed=False)
    with pytest.warns(UserWarning), pytest.raises(InvalidValue, match=r"bad.zip: expected an archive"):
        datasets.fetch("OGB/bad")


def test_other_addresses_by_fsspec(monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://folder/g.tsv", "wb") as stream:
        stream.write(b"0\t1\n")
    assert first("memory://folder/g.tsv", directed=True).matrix.nvals == 1
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"an address s3:// needs fsspec .*: pip install fsspec"):
        datasets.fetch("s3://bucket/g.csv")


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("SNAP/roadnet", r"got 'SNAP/roadnet'. Hint: 'SNAP/roadNet-"),
        ("xyz", r"got 'xyz'. Hint: bitblas.datasets.list"),
        ("SuiteSparse/../etc", r"expected the name of a data set or an address"),
        ("KONECT/a/b", r"expected the name of a data set"),
        ("https://example.org/", r"an address that ends in the name of a file"),
    ],
)
def test_names_that_are_unknown(name, match):
    with pytest.raises(InvalidValue, match=match):
        datasets.fetch(name)
    with pytest.raises(TypeError, match="expected the name of a data set, got 3"):
        datasets.find(3)


def test_the_list():
    names = datasets.list()
    assert {"SNAP/roadNet-CA", "GAP/road", "OGB/ogbn-arxiv", "KONECT/NAME"} <= set(names)
    for made in datasets.ENTRIES.values():
        assert made.url.startswith(("https://snap.stanford.edu/", "https://sparse.tamu.edu/MM/GAP/")) and made.published
        assert made.path.is_relative_to(datasets.folder()) and made.name in names
    paths = [made.path for made in datasets.ENTRIES.values()]
    assert len(set(paths)) == len(paths)
