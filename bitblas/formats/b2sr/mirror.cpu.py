# Symmetry test on tiles: per chunk of CHUNK tiles, the hash difference between entries and their mirror images.
# CPU twin of mirror.cu.
# include: formats/b2sr/tile.cpu.py
# include: kernels/scramble.cpu.py


@njit(**KERNEL)
def mirror(lo, hi, tile_rows, tiles, tile_ptr, tile_col, bits, sums):
    tile_row = np.searchsorted(tile_ptr, lo * CHUNK, side="right") - 1
    for chunk in range(lo, hi):
        total = np.uint64(0)
        for tile in range(chunk * CHUNK, min((chunk + 1) * CHUNK, tiles)):
            while np.int64(at(tile_ptr, tile_row + 1)) <= tile:
                tile_row += 1
            left = np.int64(at(tile_col, tile)) << LOG_TILE
            for r in range(TILE):
                rest = tile_row_bits(bits, tile, r)
                if rest != 0:
                    row = scramble((tile_row << LOG_TILE) + r)
                while rest != 0:
                    total += unlike_mirror(row, scramble(left + np.int64(trailing_zeros(rest))))
                    rest = drop_lowest(rest)
        put(sums, chunk, total)
