# List the row and column of every entry in tile order. CPU twin of coo.cu.
# include: formats/b2sr/tile.cpu.py


@njit(**KERNEL)
def coo(lo, hi, tile_rows, tile_ptr, tile_col, bits, value_ptr, rows, cols):
    tile_row = np.searchsorted(tile_ptr, lo, side="right") - 1
    for tile in range(lo, hi):
        while tile_ptr[tile_row + 1] <= tile:
            tile_row += 1
        place = np.int64(at(value_ptr, tile))
        left = np.int64(at(tile_col, tile)) << LOG_TILE
        for k in range(TILE_WORDS):
            rest = np.uint64(at(bits, tile * TILE_WORDS + k))
            while rest != 0:
                bit = (k << 6) + np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                put(rows, place, (tile_row << LOG_TILE) + (bit >> LOG_TILE))
                put(cols, place, left + (bit & (TILE - 1)))
                place += 1
