"""python docs/format_pictures.py: draw each stored format of the matrix of docs/formats.md, into docs/pictures/.

The matrix is left, the arrays of the format right: numbers as numbers, packed words as bits (bit 0 first).
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import bitblas as gb
from bitblas import tuning
from bitblas.formats.packing import unpack

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
ENTRIES = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 7), (4, 5), (4, 6), (5, 4), (6, 4), (7, 3)]
SIDE = 8
MENU = [(i, j) for i in (1, 2, 4, 5) for j in (0, 3, 6)]  # rows that have columns in common
OWN = {"virtual": [*MENU, (0, 1), (2, 7), (3, 4), (6, 5), (7, 6)]}  # where those would show nothing
# Each form: how it is asked for, and its arrays of packed words, whose bits are shown.
FORMS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "csr": ({"format": "csr"}, ()),
    "mplg": ({"format": "mplg"}, ("col",)),
    "nib": ({"format": "nib"}, ("words",)),
    "cgr": ({"format": "cgr"}, ("words",)),
    "b2sr": ({"format": "b2sr", "tile": 4}, ("bits",)),
    "split": ({"format": "split", "tile": 4}, ("bits", "rest", "col")),
    "hyper": ({"format": "hyper"}, ()),
    "cr2": ({"format": "cr2"}, ()),
    "virtual": ({"format": "virtual"}, ("words", "row_nodes")),
    "bitmap": ({"format": "bitmap"}, ("bits", "words")),
}
INK, PAPER, TILE, HUES = "#1b2733", "#ffffff", "#d98e04", ("#2a9d8f", "#5b8def")
WIDE = 64  # characters of a line of an array


def made(how: dict[str, Any]) -> Any:
    """The matrix in a form."""
    rows, cols = zip(*entries(how["format"]))
    with tuning.override({"cr2.log_cluster": 2, "cr2.log_longest": 1}):
        return gb.Matrix.from_coo(rows, cols, True, nrows=SIDE, ncols=SIDE, device="cpu", **how)


def numbers_of(form: Any) -> dict[str, Any]:
    """The arrays of a form by name; of a CR2 its short numbers one by one."""
    if form.key != "cr2":
        return {name: array for name, array in form.arrays().items() if np.size(array)}
    found, (narrow, wide) = {"groups": form.groups}, form.grid.widths
    others = form.work - form.inside_pieces, form.nvals - form.inside
    for name, size, width in (
        ("inside_rows", form.inside_pieces, narrow), ("inside_cols", form.inside, narrow),
        ("between_rows", others[0], wide), ("between_cols", others[1], wide),
    ):  # fmt: skip
        found[name] = unpack(form.device, getattr(form, name), size, width, np.int64)
    return found


def entries(key: str) -> list[tuple[int, int]]:
    return OWN.get(key, ENTRIES)


def lines_of(array: Any, as_bits: bool) -> list[str]:
    """An array as text, in lines."""
    values = np.asarray(array).ravel()
    if as_bits:
        words = [format(int(x), f"0{8 * values.itemsize}b")[::-1] for x in values]
        text = " ".join(" ".join(word[k : k + 8] for k in range(0, len(word), 8)) for word in words)
    else:
        text = " ".join(map(str, values.tolist()))
    found = [""]
    for word in text.split(" "):
        if len(found[-1]) + len(word) >= WIDE:
            found.append("")
        found[-1] += f" {word}" if found[-1] else word
    return found


def picture(key: str) -> Any:
    """A matplotlib Figure of a form."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    how, packed = FORMS[key]
    form = made(how)._store.structure.primary
    texts = {name: lines_of(array, name in packed) for name, array in numbers_of(form).items()}
    rows = sum(len(lines) + 0.5 for lines in texts.values())
    figure = Figure(figsize=(9, max(2.1, 0.35 + 0.22 * rows)), facecolor=PAPER)
    left = figure.add_axes((0.01, 0.04, 0.2, 0.92))
    left.set(xlim=(-0.1, SIDE + 0.1), ylim=(SIDE + 0.1, -0.1), aspect="equal")
    left.set_axis_off()
    for i in range(SIDE):
        for j in range(SIDE):
            paint = {"facecolor": HUES[i % 2] if (i, j) in entries(key) else PAPER, "edgecolor": "#cfd6dc", "lw": 0.6}
            left.add_patch(Rectangle((j, i), 1, 1, **paint))
    tile = how.get("tile", SIDE)
    stored = len(form.bits) if "tile" in how else 0
    for first in (0, 4) if key == "cr2" else ():  # clusters
        left.add_patch(Rectangle((first, first), 4, 4, fill=False, edgecolor=TILE, lw=2))
    full = Counter((i // tile, j // tile) for i, j in ENTRIES).most_common(stored)
    for (i, j), _ in full:  # the tiles that are stored: of a Split those that hold the most
        left.add_patch(Rectangle((j * tile, i * tile), tile, tile, fill=False, edgecolor=TILE, lw=2))
    right = figure.add_axes((0.23, 0, 0.77, 1))
    right.set(xlim=(0, 1), ylim=(rows + 0.6, -0.6))
    right.set_axis_off()
    at = 0.0
    for name, lines in texts.items():
        for number, line in enumerate(lines):
            if number == 0:
                right.text(0, at, name, color=INK, fontsize=9, fontweight="bold", family="monospace", va="center")
            right.text(0.16, at, line, color=INK, fontsize=9, family="monospace", va="center")
            at += 1
        at += 0.5
    return figure


def main() -> int:
    import matplotlib

    # The same bytes each time; text stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "bitblas", "svg.fonttype": "none"})
    for key in FORMS:
        path = PICTURES / f"form-{key}.svg"
        picture(key).savefig(path, metadata={"Date": None})
        print(path.name, gb.Matrix.memory(made(FORMS[key][0])).structure, "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
