# Tiles from CSR rows, the twin of build.cu: the rows of a tile row merge by tile column. A thread has many tile rows,
# so none is cut: a part is a tile row.
LOG_TILE = TILE.bit_length() - 1
NONE = np.int64(1) << np.int64(50)


@njit(**KERNEL)
def build(lo, hi, tile_rows, nrows, ptr, col, cuts, cut_cols, out, counts, tile_col, bits, value_ptr, places):
    entry = np.empty(TILE, np.int64)
    next_tile = np.empty(TILE, np.int64)
    for tile_row in range(lo, hi):
        first = tile_row * TILE
        rows = min(TILE, nrows - first)
        for r in range(rows):
            entry[r] = ptr[first + r]
            next_tile[r] = np.int64(at(col, entry[r])) >> LOG_TILE if ptr[first + r] < ptr[first + r + 1] else NONE
        tile = np.int64(out[tile_row]) if FILL else np.int64(0)
        rank = np.int64(ptr[first])
        while True:
            least = NONE
            for r in range(rows):
                least = min(least, at(next_tile, r))
            if least == NONE:
                break
            if FILL:
                put(tile_col, tile, least)
                if ORDER:
                    value_ptr[tile] = rank
            for r in range(rows):
                if at(next_tile, r) == least:
                    e = np.int64(at(entry, r))
                    end = np.int64(at(ptr, first + r + 1))
                    c = np.int64(at(col, e))
                    while c >> LOG_TILE == least:
                        if FILL:
                            place = (r << LOG_TILE) + (c & (TILE - 1))
                            if TILE == 4:
                                put(bits, tile, at(bits, tile) | np.uint16(np.int64(1) << place))
                            else:
                                w = tile * (TILE * TILE // 64) + (place >> 6)
                                put(bits, w, at(bits, w) | np.uint64(1) << np.uint64(place & 63))
                            if ORDER:
                                put(places, rank, e)
                                rank += 1
                        e += 1
                        c = np.int64(at(col, e)) if e < end else NONE << LOG_TILE
                    put(next_tile, r, c >> LOG_TILE)
                    put(entry, r, e)
            tile += 1
        if not FILL:
            counts[tile_row] = tile
