# Code fragment: push the tiles first .. stop of a tile row. CPU twin of scatter.cuh.
# The kernel around it defines first and stop, tile_row, `active` (the rows where u has entries), and the arrays of the
# layout, of u, of the mask and of t. Of each tile word the bits in active rows and open columns are pushed, in storage
# order: by rows.
for tile in range(first, stop):
    tile_col = np.int64(packed_at(col, tile, col_width) if PACKED else at(col, tile))
    left = tile_col << LOG_TILE
    open_bits = (tile_bits(mask, tile_col * mask_stride) ^ mask_invert) & ROW
    word = left >> 6
    shift = np.uint64(left & 63)
    before = at(t_bits, word)
    hit = np.uint64(0)
    rank = np.int64(at(value_ptr, tile)) if KIND != WORDS and RANKED else np.int64(0)
    for k in range(TILE_WORDS):
        tile_word = np.uint64(at(bits, tile * TILE_WORDS + k))
        rest = tile_word & rows_of_tile(active >> np.uint64(k * WORD_ROWS)) & (open_bits * SPREAD)
        if KIND == WORDS:
            hit |= columns_of(rest)
        while KIND != WORDS and rest != 0:
            place = trailing_zeros(rest)
            rest = drop_lowest(rest)
            c = place & np.uint64(TILE - 1)
            j = left + np.int64(c)
            had = (before >> shift | hit) >> c & ONE
            hit |= ONE << c
            if KIND == COUNT:
                put(counts, j, (at(counts, j) if had != 0 else 0) + 1)
            elif not (HAS_TERMINAL == 2 and had != 0):
                if RANKED:
                    a = value_at(a_val, a_iso, a_stride, rank + np.int64(popcount(tile_word & ((ONE << place) - ONE))))
                else:
                    a = a_iso
                i = (tile_row << LOG_TILE) + k * WORD_ROWS + np.int64(place >> np.uint64(LOG_TILE))
                put(t_val, j, joined(had != 0, at(t_val, j), mul(a, load_u(u_val, u_iso, u_stride, i), j, i)))
        if KIND != WORDS and RANKED:
            rank += np.int64(popcount(tile_word))
    hit &= open_bits
    put(t_bits, word, before | hit << shift)
    if LISTED:
        note(t_sum, word, hit)
