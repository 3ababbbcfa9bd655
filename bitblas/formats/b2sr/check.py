"""Validate the arrays of bit tiles that come from outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import sound


def check_tiles(form: Any, counts: Any) -> None:
    """ValueError unless tile columns ascend and are inside the matrix, and bits are too. counts: number of entries per
    tile."""
    tiles, tile_cols, xp = form.tiles, -(-form.ncols // form.tile), form.device.xp
    sound.check_rows(xp, form.ptr, form.col, tiles, tile_cols)
    if int(counts[:tiles].sum()) != form.nvals or (tiles and not int(counts[:tiles].min())):
        raise ValueError(f"bits: expected {form.nvals} in {tiles} tiles, at least one in each")
    words = form.bits.reshape(max(1, tiles), -1)[:tiles]
    below = words[int(form.ptr[-2:][0]) :]  # the tiles of the last tile row
    right = words[form.col[:tiles] == tile_cols - 1]
    for some, limit, by_row in ((below, form.nrows, True), (right, form.ncols, False)):
        if bool((some & xp.asarray(_beyond(form.tile, limit, by_row, some.dtype))).any()):
            raise ValueError("bits: expected none beyond the last row and column")


def _beyond(tile: int, limit: int, by_row: bool, word: Any) -> np.ndarray:
    """The bits of the last tile beyond the last of `limit` rows or columns."""
    past = np.arange(tile) > (limit - 1) % tile
    flags = np.broadcast_to(past[:, None] if by_row else past, (tile, tile))
    return np.packbits(flags, bitorder="little").view(word)
