# The tiles first .. stop of a tile row in a push, the twin of scatter.cuh: statements of a kernel that has these,
# tile_row, `active`, the rows where u has entries, and the arrays of the form, of u, of the mask and of t.
for tile in range(first, stop):
    tile_col = np.int64(packed_at(col, tile, col_width) if PACKED else at(col, tile))
    left = tile_col << LOG_TILE
    open_bits = (tile_bits(mask, tile_col * mask_stride) ^ mask_invert) & ROW
    word = left >> 6
    shift = np.uint64(left & 63)
    rows = active
    if KIND == WORDS:
        hit = np.uint64(0)
        while rows != 0:
            hit |= tile_row_bits(bits, tile, np.int64(trailing_zeros(rows)))
            rows = drop_lowest(rows)
        put(t_bits, word, at(t_bits, word) | (hit & open_bits) << shift)
        if LISTED:
            note(t_sum, word, hit & open_bits)
        continue
    rank = np.int64(at(value_ptr, tile)) if RANKED else np.int64(0)
    ranked = np.int64(0)
    while rows != 0:
        r = np.int64(trailing_zeros(rows))
        rows = drop_lowest(rows)
        if RANKED:
            while ranked < r:
                rank += np.int64(popcount(tile_row_bits(bits, tile, ranked)))
                ranked += 1
        row_bits = tile_row_bits(bits, tile, r)
        k = (tile_row << LOG_TILE) + r
        u = load_u(u_val, u_iso, u_stride, k)
        rest = row_bits & open_bits
        while rest != 0:
            c = trailing_zeros(rest)
            rest = drop_lowest(rest)
            j = left + np.int64(c)
            had = bit_of(t_bits, j)
            if KIND == COUNT:
                put(counts, j, (at(counts, j) if had else 0) + 1)
            elif not (had and HAS_TERMINAL == 2):
                if RANKED:
                    a = value_at(a_val, a_iso, a_stride, rank + np.int64(popcount(row_bits & ((ONE << c) - ONE))))
                else:
                    a = a_iso
                put(t_val, j, joined(had, at(t_val, j), mul(a, u, j, k)))
            if not had:
                set_bit(t_bits, j)
                if LISTED:
                    note(t_sum, word, ONE)
