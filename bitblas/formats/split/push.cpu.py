# Push SpMV on Split: t = A' (+).(x) u by the tile rows where u has entries, tiles first, then single entries.
# CPU twin of push.cu. Units are the 64-bit words of u; one thread.
# include: formats/b2sr/tile.cpu.py
# include: formats/b2sr/fold.cpu.py
# include: kernels/values.cpu.py
# include: kernels/packed.cpu.py
# include: kernels/push.cpu.py
GROUPS = 64 // TILE  # tile rows per word of u
CELL_BITS = np.uint64(2 * LOG_TILE)  # bits of a number that select the position in a tile
ROW_BITS = np.uint64(LOG_TILE)
LISTED = 0


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_stride, col, col_width, bits, value_ptr, near, near_width, far,
         far_width, in_tiles, in_near, parts, a_val, a_iso, a_stride, u_bits, u_val, u_iso, u_stride, mask, mask_stride,
         mask_invert, product, counts, t_bits, t_val):  # fmt: skip
    w = filled(u_bits, lo, hi)
    while w < hi:
        for tile_row in range(w * GROUPS, min((w + 1) * GROUPS, begin.size // parts)):
            active = tile_bits(u_bits, tile_row)
            if active == 0:
                continue
            first = np.int64(at(begin, parts * tile_row))
            stop = np.int64(at(end, parts * tile_row))
            # include: formats/b2sr/scatter.cpu.py
            for part in range(1, parts):
                is_far = part + 1 == parts
                codes, code_width = (far, far_width) if is_far else (near, near_width)
                first_rank = in_tiles + in_near if is_far else in_tiles
                at_part = parts * tile_row + part
                for e in range(np.int64(at(begin, at_part)), np.int64(at(end, at_part))):
                    code = packed_at(codes, e, code_width)
                    place = code >> ROW_BITS & np.uint64(TILE - 1)
                    j = np.int64(code >> CELL_BITS << ROW_BITS | code & np.uint64(TILE - 1))
                    mask_word = at(mask, (j >> 6) * mask_stride) ^ mask_invert
                    if active >> place & mask_word >> np.uint64(j & 63) & ONE == 0:
                        continue
                    had = bit_of(t_bits, j)
                    if KIND == COUNT:
                        put(counts, j, (at(counts, j) if had else 0) + 1)
                    if KIND == VALUES and not (had and HAS_TERMINAL == 2):
                        k = (tile_row << LOG_TILE) + np.int64(place)
                        a = value_at(a_val, a_iso, a_stride, first_rank + e) if RANKED else a_iso
                        put(t_val, j, joined(had, at(t_val, j), mul(a, load_u(u_val, u_iso, u_stride, k), j, k)))
                    if not had:
                        set_bit(t_bits, j)
        w = filled(u_bits, w + 1, hi)
    if KIND == COUNT:
        close_counts(0, t_bits.size, t_bits, t_val, counts, product)
