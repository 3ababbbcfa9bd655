# t = A' (+).(x) u by the tile rows that u touches, the twin of push.cu. Units are the 64-bit words of u; one thread.
# include: formats/b2sr/tile.cpu.py
# include: kernels/product.cpu.py
GROUPS = 64 // TILE  # tile rows in a word of u


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_step, col, bits, value_ptr, a_val, a_iso, a_step, u_bits, u_val,
         u_iso, u_step, mask, mask_step, mask_flip, t_bits, t_val):  # fmt: skip
    for w in range(lo, hi):
        if at(u_bits, w) == 0:
            continue
        for tile_row in range(w * GROUPS, min((w + 1) * GROUPS, begin.size)):
            active = tile_bits(u_bits, tile_row)
            if active == 0:
                continue
            for tile in range(np.int64(at(begin, tile_row)), np.int64(at(end, tile_row))):
                tile_col = np.int64(at(col, tile))
                left = tile_col << LOG_TILE
                open_bits = (tile_bits(mask, tile_col * mask_step) ^ mask_flip) & ROW
                word = left >> 6
                shift = np.uint64(left & 63)
                rows = active
                if KIND == WORDS:
                    hit = np.uint64(0)
                    while rows != 0:
                        hit |= tile_row_bits(bits, tile, np.int64(trailing_zeros(rows)))
                        rows = drop_lowest(rows)
                    put(t_bits, word, at(t_bits, word) | (hit & open_bits) << shift)
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
                    u = load_u(u_val, u_iso, u_step, k)
                    rest = row_bits & open_bits
                    while rest != 0:
                        c = trailing_zeros(rest)
                        rest = drop_lowest(rest)
                        j = left + np.int64(c)
                        had = bit_of(t_bits, j)
                        if not (had and HAS_TERMINAL == 2):
                            if RANKED:
                                a = at(a_val, rank + np.int64(popcount(row_bits & ((ONE << c) - ONE))))
                            else:
                                a = a_iso
                            z = mul(a, u, j, k)
                            put(t_val, j, add(take(at(t_val, j)), z) if had else z)
                        if not had:
                            set_bit(t_bits, j)
