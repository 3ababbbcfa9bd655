"""Mutated files, read in a separate process: no signal ends it, and every error is one of our exceptions.

As a script it is that process: number of files, seed, folder. If it dies, the file that it was reading is in the
folder.
"""

import bz2
import gzip
import io
import random
import re
import resource
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mm_files import GOOD

MARKET = "%%MatrixMarket matrix "
MEMORY = 6 << 30  # bytes of addresses: a size that no check refuses ends in OutOfMemory, not in the machine's memory
PIECES = [
    *(b"1e", b"e", b"-", b"+", b".", b"\n", b"\r\n", b" ", b"%", b"#", b'"', b",", b"\t", b"\0", b"\xff", b"0", b"9"),
    *(b"nan", b"-inf", b"1e400", b"1e-400", b"2147483648", b"9223372036854775807", b"18446744073709551616"),
    *(b"9" * 5000, b"1 1 1\n", b"1 2 .5\n", b"\x1f\x8b", b"BZh9", b"\xef\xbb\xbf"),
]
# They killed the process, or wrote beyond an array of SciPy's.
KNOWN = {
    "exponent": "coordinate real general\n1 1 1\n1 1 1e",
    "sign of an exponent": "coordinate real general\n1 1 1\n1 1 1e-",
    "exponent in an array": "array real general\n1 1\n1e",
    "array without rows": "array real general\n0 3\n",
    "skew-symmetric array": "array real skew-symmetric\n3 3\n" + "1\n" * 9,
}
WRAPPED = np.array([0, 2**63 - 1, -(2**63), -1, 4])  # each larger than the one before, by 64 bits


def known() -> Iterator[tuple[str, bytes]]:
    for name, text in KNOWN.items():
        yield f"{name}.mtx", (MARKET + text).encode()
    stream = io.BytesIO()
    np.savez(stream, format=b"csr", shape=(4, 4), data=np.ones(4), indices=np.arange(4), indptr=WRAPPED)
    yield "pointers.npz", stream.getvalue()


def texts() -> dict[str, bytes]:
    """Files without a fault, by the ends of their names."""
    found = {f"{name}.mtx": text for name, (text, *_) in GOOD.items() if len(text) < 1000}
    for symmetry, numbers in {"general": 9, "symmetric": 6, "skew-symmetric": 3}.items():
        for field, value in {"real": "-1.5e1", "integer": "-7"}.items():
            lines = "".join(f"{k + 2} {k + 1} {value}\n" for k in range(7))
            found[f"{field}.{symmetry}.mtx"] = f"{MARKET}coordinate {field} {symmetry}\n% c\n8 8 7\n{lines}"
            found[f"array.{field}.{symmetry}.mtx"] = f"{MARKET}array {field} {symmetry}\n3 3\n" + f"{value}\n" * numbers
    for name, mark in (("csv", ","), ("tsv", "\t"), ("edges", " ")):
        for third in ("", "5", ".5"):
            lines = "".join(f"{mark.join(filter(None, (str(k), str(k * 5 % 7), third)))}\n" for k in range(9))
            found[f"numbers{third}.{name}"] = lines
        found[f"labels.{name}"] = f"a{mark}b\nb{mark}c\nd{mark}a\n"
        found[f"header.{name}"] = f"from{mark}to{mark}weight\n0{mark}1{mark}2\n1{mark}2{mark}-3\n"
    return {name: text.encode() for name, text in found.items()}


def archives() -> dict[str, dict[str, bytes]]:
    """The members of .npz files without a fault."""
    import scipy.sparse as sp

    found = {}
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        stream = io.BytesIO()
        sp.save_npz(stream, sp.eye_array(4, format="csr").asformat(kind), compressed=False)
        with zipfile.ZipFile(stream) as members:
            found[kind] = {name: members.read(name) for name in members.namelist()}
    return found


def mutated(data: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        at, length = dice.randint(0, len(data)), dice.choice((0, 1, 1, 2, 9))
        kind = dice.randrange(5)
        if kind == 0:  # cut off
            data = data[:at]
        elif kind == 1:  # a part is there twice
            data = data[: at + length] + data[at:]
        elif kind == 2:  # bytes of any value
            data = data[:at] + dice.randbytes(length) + data[at + length :]
        elif kind == 3:  # a number is another one
            new = dice.choice((b"0", b"1", b"4", b"-1", b"7.5", b"2e9", b"99", b"3000000000", b"1e"))
            numbers = list(re.finditer(rb"\d+", data)) or [re.match(b"", data)]
            start, end = dice.choice(numbers).span()
            data = data[:start] + new + data[end:]
        else:
            data = data[:at] + dice.choice(PIECES) + data[at + length :]
    return data


def files(count: int, dice: random.Random) -> list[tuple[str, bytes]]:
    """Names and contents: a fifth are archives, whose sums of bytes are right, and a few of the others are packed."""
    plain, packed, made = list(texts().items()), list(archives().values()), []
    for _ in range(count):
        if dice.random() < 0.2:
            members = dict(dice.choice(packed))
            name = dice.choice(sorted(members))
            members[name] = mutated(members[name], dice)
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, "w", dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
                for member, data in members.items():
                    archive.writestr(member, data)
            raw = stream.getvalue()
            made.append(("a.npz", mutated(raw, dice) if dice.random() < 0.2 else raw))
            continue
        name, data = dice.choice(plain)
        data = mutated(data, dice)
        for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress)):
            if dice.random() < 0.05:
                data = pack(data) if dice.random() < 0.5 else mutated(pack(data), dice)
                name += suffix
        made.append((name, data))
    return made


def main(count: int, seed: int, folder: Path) -> None:
    """Read `count` mutated files; AssertionError for an exception that is not ours."""
    import bitblas as gb
    from bitblas.exceptions import GraphblasException
    from bitblas.io import read

    said = "different vertex numbers|is read as an edge|leading zeros|in its first column|occurs again"
    said += "|# and % start comments|ends in ':'|every line has tabs|present in both directions|vertex 0 has no edges"
    warnings.filterwarnings("ignore", f"(?s).*({said})")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    dice, refused = random.Random(seed), 0
    for name, data in [*known(), *files(count, dice)]:
        path = folder / name
        path.write_bytes(data)
        options = {} if ".npz" in name or "array" in name else {"chunked": dice.random() < 0.3}
        try:
            read(path, dup_op=dice.choice((None, gb.binary.plus)), device="cpu", **options)
        except GraphblasException as error:
            assert str(path) in str(error), error
            refused += 1
        path.unlink()
    print(f"{count} files, {refused} refused")


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_file_ends_the_process(count, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", "-X", "faulthandler", __file__, str(count), "1", str(tmp_path)],
        capture_output=True,
        text=True,
    )
    left = [(path.name, path.read_bytes()) for path in tmp_path.iterdir()]
    assert run.returncode == 0, f"{run.stderr}\n{left}"
    found = re.fullmatch(r"(\d+) files, (\d+) refused\n", run.stdout)
    assert found and int(found[1]) == count
    assert 0.5 * count < int(found[2]) < 0.9 * count  # the others are read


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
