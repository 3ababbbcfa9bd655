# Pull SpMV on Split: w<mask, accum, replace> = A (+).(x) u by tile rows, tiles first, then single entries.
# CPU twin of pull.cu. Parallel bounds are multiples of 64 rows, so threads share no words of t.
# include: formats/b2sr/tile.cpu.py
# include: kernels/values.cpu.py
# include: formats/b2sr/fold.cpu.py
# include: kernels/packed.cpu.py
# include: kernels/ending.cpu.py
CELL_BITS = np.uint64(2 * LOG_TILE)  # bits of a number that select the position in a tile
ROW_BITS = np.uint64(LOG_TILE)


@njit(**KERNEL)
def pull(lo, hi, longest, begin, end, row_of, row_stride, col, col_width, bits, value_ptr, near, near_width, far,
         far_width, in_tiles, in_near, parts, a_val, a_iso, a_stride, u_bits, u_val, u_iso, u_stride, mask, mask_stride,
         mask_invert, product, w_bits, w_val, w_iso, w_stride, moved, replace, t_bits, t_val):  # fmt: skip
    acc = empty(TILE_WORDS, np.uint64)
    count = empty(TILE, np.int64)
    total = empty(TILE, Z_T)
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask, tile_row * mask_stride) ^ mask_invert) & ROW
        first = np.int64(at(begin, parts * tile_row))
        stop = np.int64(at(end, parts * tile_row)) if open_rows != 0 else first
        # include: formats/b2sr/walk.cpu.py
        for part in range(1, parts):
            e = np.int64(at(begin, parts * tile_row + part))
            stop = np.int64(at(end, parts * tile_row + part)) if open_rows != 0 else e
            is_far = part + 1 == parts
            codes, code_width = (far, far_width) if is_far else (near, near_width)
            first_rank = in_tiles + in_near if is_far else in_tiles
            while e < stop:
                if (KIND == WORDS or HAS_TERMINAL == 2) and rows & open_rows == open_rows:  # the result is final
                    break
                code = packed_at(codes, e, code_width)
                place = code >> ROW_BITS & np.uint64(TILE - 1)
                j = np.int64(code >> CELL_BITS << ROW_BITS | code & np.uint64(TILE - 1))
                hit = ONE if U_FULL else at(u_bits, j >> 6) >> np.uint64(j & 63) & ONE
                if KIND == WORDS:
                    rows |= hit << place
                elif hit & open_rows >> place != 0:
                    r = np.int64(place)
                    if KIND == VALUES:
                        a = value_at(a_val, a_iso, a_stride, first_rank + e) if RANKED else a_iso
                        z = mul(a, load_u(u_val, u_iso, u_stride, j), (tile_row << LOG_TILE) + r, j)
                        if NEUTRAL:
                            put(total, r, add(at(total, r), z))
                        else:
                            put(total, r, z if rows >> place & ONE == 0 else add(at(total, r), z))
                        rows |= ONE << place
                    else:
                        put(count, r, at(count, r) + 1)
                e += 1
        # include: formats/b2sr/close.cpu.py
