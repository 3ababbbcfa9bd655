"""Graphs in WebGraph's format, plainly from its description: a string of zeros and ones, references by trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class Bits:
    def __init__(self, k: int) -> None:
        self.k, self.text = k, []

    def unary(self, x: int) -> None:
        self.text.append("0" * x + "1")

    def plain(self, x: int, bits: int) -> None:
        self.text.append(f"{x:0{bits}b}" if bits else "")

    def gamma(self, x: int) -> None:
        log = (x + 1).bit_length() - 1
        self.unary(log)
        self.plain(x + 1 - (1 << log), log)

    def delta(self, x: int) -> None:
        log = (x + 1).bit_length() - 1
        self.gamma(log)
        self.plain(x + 1 - (1 << log), log)

    def zeta(self, x: int) -> None:
        """Unary h, then x + 1 - 2^(h k) in minimal binary among the numbers below 2^((h + 1) k) - 2^(h k)."""
        k, x = self.k, x + 1
        h = (x.bit_length() - 1) // k
        self.unary(h)
        z, x = (1 << (h + 1) * k) - (1 << h * k), x - (1 << h * k)
        s = (z - 1).bit_length()
        short = (1 << s) - z
        if x < short:
            self.plain(x, s - 1)
        else:
            self.plain(x + short, s)

    def __str__(self) -> str:
        return "".join(self.text)


def folded(x: int) -> int:
    return 2 * x if x >= 0 else -2 * x - 1


def row(x: int, columns: Sequence[int], other: Sequence[int], back: int, least: int, window: int, k: int, codes) -> str:
    """The bits of row x, of which `other`, `back` rows before, has what it copies."""
    bits = Bits(k)
    put = lambda part, value: getattr(bits, codes[part])(value)
    put("outdegrees", len(columns))
    if not columns:
        return str(bits)
    if window:
        put("references", back)
    rest = list(columns)
    if back:
        wanted = [j in columns for j in other]
        blocks, copies = [], True
        for there in wanted:
            if not blocks or there != copies:
                if not blocks and not there:
                    blocks, copies = [0, 0], False
                elif not blocks:
                    blocks = [0]
                else:
                    blocks.append(0)
                    copies = there
            blocks[-1] += 1
        put("block_count", max(0, len(blocks) - 1))  # the last one is known by the number of columns
        for b, length in enumerate(blocks[:-1]):
            put("blocks", length - (b > 0))
        copied = {j for j, there in zip(other, wanted) if there}
        rest = [j for j in columns if j not in copied]
    if rest and least:
        runs, k = [], 0
        while k < len(rest):
            stop = k
            while stop + 1 < len(rest) and rest[stop + 1] == rest[stop] + 1:
                stop += 1
            if stop + 1 - k >= least:
                runs.append((rest[k], stop + 1 - k))
            k = stop + 1
        put("intervals", len(runs))
        end = None
        for start, length in runs:
            put("intervals", folded(start - x) if end is None else start - end - 1)
            put("intervals", length - least)
            end = start + length
        inside = {start + d for start, length in runs for d in range(length)}
        rest = [j for j in rest if j not in inside]
    last = None
    for j in rest:
        put("residuals", folded(j - x) if last is None else j - last - 1)
        last = j
    return str(bits)


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
