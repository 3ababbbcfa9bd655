"""Graphs in WebGraph's format, plainly from its description: a string of zeros and ones, references by trial."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from coded_rows import folded, gamma, parts


def unary(x: int) -> str:
    return "0" * x + "1"


def plain(x: int, bits: int) -> str:
    return f"{x:0{bits}b}" if bits else ""


def delta(x: int) -> str:
    log = (x + 1).bit_length() - 1
    return gamma(log) + plain(x + 1 - (1 << log), log)


def zeta(x: int, k: int) -> str:
    """Unary h, then x + 1 - 2^(h k) in minimal binary among the numbers below 2^((h + 1) k) - 2^(h k)."""
    h = ((x + 1).bit_length() - 1) // k
    z, x = (1 << (h + 1) * k) - (1 << h * k), x + 1 - (1 << h * k)
    s = (z - 1).bit_length()
    short = (1 << s) - z
    return unary(h) + (plain(x, s - 1) if x < short else plain(x + short, s))


def coded(code: str, x: int, k: int = 3) -> str:
    return zeta(x, k) if code == "zeta" else {"unary": unary, "gamma": gamma, "delta": delta}[code](x)


def row(x: int, columns: Sequence[int], other: Sequence[int], back: int, least: int, window: int, k: int, codes) -> str:
    """The bits of row x, of which `other`, `back` rows before, has what it copies."""
    bits: list[str] = []
    put = lambda part, value: bits.append(coded(codes[part], value, k))
    put("outdegrees", len(columns))
    if not columns:
        return bits[0]
    if window:
        put("references", back)
    rest = list(columns)
    if back:
        wanted = [j in columns for j in other]
        blocks = [len(list(run)) for _, run in groupby(wanted)]
        if wanted and not wanted[0]:
            blocks = [0, *blocks]
        put("block_count", max(0, len(blocks) - 1))  # the last one is known by the number of columns
        for b, length in enumerate(blocks[:-1]):
            put("blocks", length - (b > 0))
        copied = {j for j, there in zip(other, wanted) if there}
        rest = [j for j in columns if j not in copied]
    if rest and least:
        runs, rest = parts(rest, least)
        put("intervals", len(runs))
        end = None
        for start, length in runs:
            put("intervals", folded(start - x) if end is None else start - end - 1)
            put("intervals", length - least)
            end = start + length
    last = None
    for j in rest:
        put("residuals", folded(j - x) if last is None else j - last - 1)
        last = j
    return "".join(bits)


DEFAULT = {
    "outdegrees": "gamma", "references": "unary", "blocks": "gamma", "block_count": "gamma", "intervals": "gamma",
    "residuals": "zeta",
}  # fmt: skip


def write(base: Path, rows: Sequence[Sequence[int]], *, window: int = 7, least: int = 4, k: int = 3, **codes: str):
    """BASE.graph and BASE.properties."""
    used = DEFAULT | codes
    text = ""
    for x, columns in enumerate(rows):
        tried = [
            row(x, columns, rows[x - back] if back else (), back, least, window, k, used)
            for back in range(min(window, x) + 1)
        ]
        text += min(tried, key=len)
    padded = text + "0" * (-len(text) % 8)
    base.with_suffix(".graph").write_bytes(bytes(int(padded[i : i + 8], 2) for i in range(0, len(padded), 8)))
    flags = " | ".join(f"{part.upper()}_{code.upper()}" for part, code in codes.items())
    said = {
        "graphclass": "it.unimi.dsi.webgraph.BVGraph", "version": 0, "nodes": len(rows), "arcs": sum(map(len, rows)),
        "windowsize": window, "maxrefcount": 3, "minintervallength": least, "zetak": k, "compressionflags": flags,
    }  # fmt: skip
    lines = "".join(f"{key}={value}\n" for key, value in said.items())
    base.with_suffix(".properties").write_text(f"#BVGraph properties\n#Mon Nov 23 03\\:00\\:00 2026\n{lines}")
