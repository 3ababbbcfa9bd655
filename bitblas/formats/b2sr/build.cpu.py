# Build tiles from CSR rows: merge the rows of each tile row by tile column. CPU twin of build.cu.
# A thread takes whole tile rows; none is cut, so a part is a tile row.
LOG_TILE = TILE.bit_length() - 1
NONE = np.int64(1) << np.int64(50)


@njit(**KERNEL)
def build(lo, hi, tile_rows, nrows, ptr, col, cuts, cut_cols, limit, least_near, least_far, in_tiles, out, counts,
          tile_col, bits, value_ptr, places, rest):  # fmt: skip
    entry = empty(TILE, np.int64)
    next_tile = empty(TILE, np.int64)
    for tile_row in range(lo, hi):
        first = tile_row * TILE
        rows = min(TILE, nrows - first)
        for r in range(rows):
            entry[r] = ptr[first + r]
            next_tile[r] = np.int64(at(col, entry[r])) >> LOG_TILE if ptr[first + r] < ptr[first + r + 1] else NONE
        tile = np.int64(out[tile_row]) if FILL else np.int64(0)
        in_near = np.int64(out[2 * tile_rows + 1]) if SPLIT and FILL else np.int64(0)
        near = np.int64(out[tile_rows + 1 + tile_row]) if SPLIT and FILL else np.int64(0)  # the next single entry
        far = in_near + np.int64(out[2 * tile_rows + 2 + tile_row]) if SPLIT and FILL else np.int64(0)
        rank = np.int64(ptr[first]) - (near + far - in_near)
        while True:
            tile_col_at = NONE
            for r in range(rows):
                tile_col_at = min(tile_col_at, at(next_tile, r))
            if tile_col_at == NONE:
                break
            pays = True
            if SPLIT:
                entries = np.int64(0)
                for r in range(rows):
                    if at(next_tile, r) == tile_col_at:
                        e = np.int64(at(entry, r))
                        end = np.int64(at(ptr, first + r + 1))
                        while e < end and np.int64(at(col, e)) >> LOG_TILE == tile_col_at:
                            e += 1
                        entries += e - at(entry, r)
                pays = entries >= (least_near if tile_col_at < limit else least_far)
            is_near = tile_col_at < limit
            other = near if is_near else far
            if FILL and pays:
                put(tile_col, tile, tile_col_at)
                if ORDER:
                    value_ptr[tile] = rank
            for r in range(rows):
                if at(next_tile, r) == tile_col_at:
                    e = np.int64(at(entry, r))
                    end = np.int64(at(ptr, first + r + 1))
                    c = np.int64(at(col, e))
                    while c >> LOG_TILE == tile_col_at:
                        if not pays:
                            if FILL:
                                code = (tile_col_at << 2 * LOG_TILE) | (r << LOG_TILE) | (c & (TILE - 1))
                                put(rest, other, np.uint32(code))
                                if ORDER:
                                    put(places, in_tiles + other, e)
                            other += 1
                        elif FILL:
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
            if pays:
                tile += 1
            elif is_near:
                near = other
            else:
                far = other
        if not FILL:
            counts[tile_row] = tile
            if SPLIT:
                counts[tile_rows + tile_row] = near
                counts[2 * tile_rows + tile_row] = far
