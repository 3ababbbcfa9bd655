# Code fragment: pull along the tiles first .. stop of a tile row. CPU twin of walk.cuh.
# The kernel around it defines first and stop, tile_row, open_rows, the arrays of the layout and of u, and the
# accumulators acc, count and total. The fragment sets `rows`, the rows that have a product (COUNT: none). Once each
# open row has one, the remaining tiles may be skipped.
rows = np.uint64(0)
if KIND == WORDS:
    if TILE_WORDS == 1:
        word = np.uint64(0)
        until = min(first + FIRST_LOOK, stop)
        while first < stop:
            for tile in range(first, until):
                tile_col = np.int64(packed_at(col, tile, col_width) if PACKED else at(col, tile))
                word |= np.uint64(at(bits, tile)) & (tile_bits(u_bits, tile_col) * SPREAD)
            first = until
            until = min(first + PATIENCE, stop)
            rows = fold_rows(word)
            if rows & open_rows == open_rows:  # every row has its hit: the remaining tiles change nothing
                break
    else:
        for k in range(TILE_WORDS):
            put(acc, k, np.uint64(0))
        for tile in range(first, stop):
            tile_col = np.int64(packed_at(col, tile, col_width) if PACKED else at(col, tile))
            u = tile_bits(u_bits, tile_col) * SPREAD
            if u != 0:
                for k in range(TILE_WORDS):
                    put(acc, k, at(acc, k) | at(bits, tile * TILE_WORDS + k) & u)
        for k in range(TILE_WORDS):
            rows |= fold_rows(at(acc, k)) << np.uint64(k * WORD_ROWS)
else:
    for r in range(TILE):
        put(count, r, np.int64(0))
        put(total, r, BEGIN if NEUTRAL else IDENTITY)
    for tile in range(first, stop):
        if HAS_TERMINAL == 2 and rows & open_rows == open_rows:  # any: every row has its product
            break
        tile_col = np.int64(packed_at(col, tile, col_width) if PACKED else at(col, tile))
        left = tile_col << LOG_TILE
        u = ROW if U_FULL else tile_bits(u_bits, tile_col)
        if u != 0:
            u *= SPREAD
            rank = np.int64(at(value_ptr, tile)) if RANKED else np.int64(0)
            for k in range(TILE_WORDS):
                word = np.uint64(at(bits, tile * TILE_WORDS + k))
                rest = word & u
                if NEUTRAL and KIND == VALUES:
                    rows |= fold_rows(rest) << np.uint64(k * WORD_ROWS)
                while rest != 0:
                    place = trailing_zeros(rest)
                    rest = drop_lowest(rest)
                    p = (k << 6) + np.int64(place)
                    r = p >> LOG_TILE
                    if KIND == VALUES:
                        j = left + (p & (TILE - 1))
                        if RANKED:
                            a = value_at(
                                a_val, a_iso, a_stride, rank + np.int64(popcount(word & ((ONE << place) - ONE)))
                            )
                        else:
                            a = a_iso
                        z = mul(a, load_u(u_val, u_iso, u_stride, j), (tile_row << LOG_TILE) + r, j)
                        if NEUTRAL:  # identity + z equals z to the bit: no test for the first product
                            put(total, r, add(at(total, r), z))
                        else:
                            put(total, r, z if rows >> np.uint64(r) & ONE == 0 else add(at(total, r), z))
                            rows |= ONE << np.uint64(r)
                    else:
                        put(count, r, at(count, r) + 1)
                if RANKED:
                    rank += np.int64(popcount(word))
