# Convert tiles to CSR rows. CPU twin of unbuild.cu; no tile row is cut.
# include: formats/b2sr/tile.cpu.py


@njit(**KERNEL)
def unbuild(lo, hi, tile_rows, nrows, tile_ptr, tile_col, bits, value_ptr, cuts, out, counts, ptr, col, places):
    written = empty(TILE, np.int64)
    for tile_row in range(lo, hi):
        first = tile_row * TILE
        rows = min(TILE, nrows - first)
        for r in range(rows):
            written[r] = out[first + r] if FILL else 0
            if FILL:
                ptr[first + r] = written[r]
        for tile in range(tile_ptr[tile_row], tile_ptr[tile_row + 1]):
            rank = np.int64(value_ptr[tile]) if ORDER else np.int64(0)
            left = np.int64(tile_col[tile]) << LOG_TILE
            for r in range(rows):
                rest = tile_row_bits(bits, tile, r)
                if FILL:
                    while rest != 0:
                        col[written[r]] = left + np.int64(trailing_zeros(rest))
                        if ORDER:
                            places[written[r]] = rank
                            rank += 1
                        written[r] += 1
                        rest = drop_lowest(rest)
                else:
                    written[r] += np.int64(popcount(rest))
        if not FILL:
            for r in range(rows):
                counts[first + r] = written[r]
