"""Validate the arrays of a Split that come from outside."""

from __future__ import annotations

from typing import Any

from .. import sound


def check_split(form: Any) -> None:
    """ValueError unless the tiles are valid, and the numbers of each range of single entries ascend in each tile row,
    are inside the matrix and their range, and repeat no entry."""
    form.tile_part().check()
    xp = form.device.xp
    for part in form.ranges():
        sound.check_pointers(part.ends, part.size)
    rows, cols = form.coo()
    if form.nvals and (int(rows.max()) >= form.nrows or int(cols.max()) >= form.ncols):
        raise ValueError(f"rest: expected entries of a matrix of {form.nrows} x {form.ncols}")
    for part in form.ranges():
        codes = form.codes(part)
        after = xp.ones(part.size + 1, bool)
        xp.greater(codes[1:], codes[:-1], out=after[1:-1])
        after[part.ends] = True  # the first number of a tile row has no predecessor
        if part.size and (not bool(after.all()) or int(codes.min()) < part.least):
            raise ValueError(f"rest: expected numbers from {part.least} on that ascend in each tile row")
    form.to_csr(False)[0].check()  # no entry is in both parts
