# Products on Split by tile rows, tiles first, then single entries. CPU twin of products.cu.
# include: formats/b2sr/tile.cpu.py
# include: kernels/views.cpu.py
GROUPS = 64 // TILE  # tile rows per word of u
CELL_BITS = np.uint64(2 * LOG_TILE)  # bits of a number that select the position in a tile
ROW_BITS = np.uint64(LOG_TILE)


# Pull SpMV: w<mask, accum, replace> = A (+).(x) u. Parallel bounds are multiples of 64 rows, so threads share no words
# of t.
@njit(**KERNEL)
def pull(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: PackedTilesView,
    singles: RestView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    to: Epilogue,
):
    acc = empty(TILE_WORDS, np.uint64)
    count = empty(TILE, np.int64)
    total = empty(TILE, Z_T)
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask.bits, tile_row * mask.stride) ^ mask.invert) & ROW
        first = np.int64(at(rows.begin, singles.parts * tile_row))
        stop = np.int64(at(rows.end, singles.parts * tile_row)) if open_rows != 0 else first
        found = pull_tiles(first, stop, tile_row, open_rows, tiles, a, u, acc, count, total)
        for part in range(1, singles.parts):
            e = np.int64(at(rows.begin, singles.parts * tile_row + part))
            stop = np.int64(at(rows.end, singles.parts * tile_row + part)) if open_rows != 0 else e
            is_far = part + 1 == singles.parts
            codes, code_width = (singles.far, singles.far_width) if is_far else (singles.near, singles.near_width)
            first_rank = singles.in_tiles + singles.in_near if is_far else singles.in_tiles
            while e < stop:
                if (KIND == WORDS or HAS_TERMINAL == 2) and found & open_rows == open_rows:  # the result is final
                    break
                code = packed_at(codes, e, code_width)
                place = code >> ROW_BITS & np.uint64(TILE - 1)
                j = np.int64(code >> CELL_BITS << ROW_BITS | code & np.uint64(TILE - 1))
                hit = ONE if U_FULL else at(u.bits, j >> 6) >> np.uint64(j & 63) & ONE
                if KIND == WORDS:
                    found |= hit << place
                elif hit & open_rows >> place != 0:
                    r = np.int64(place)
                    if KIND == VALUES:
                        value = value_at(a, first_rank + e) if RANKED else a.iso
                        z = mul(value, load_u(u.values, u.iso, u.stride, j), (tile_row << LOG_TILE) + r, j)
                        if NEUTRAL:
                            put(total, r, add(at(total, r), z))
                        else:
                            put(total, r, z if found >> place & ONE == 0 else add(at(total, r), z))
                        found |= ONE << place
                    else:
                        put(count, r, at(count, r) + 1)
                e += 1
        end_tile_row(tile_row, open_rows, found, count, total, product, to)


# Push SpMV: t = A' (+).(x) u by the tile rows where u has entries. Units are the 64-bit words of u; one thread.
@njit(**KERNEL)
def push(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: PackedTilesView,
    singles: RestView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    w = filled(u.bits, lo, hi)
    while w < hi:
        for tile_row in range(w * GROUPS, min((w + 1) * GROUPS, rows.begin.size // singles.parts)):
            active = tile_bits(u.bits, tile_row)
            if active == 0:
                continue
            first = np.int64(at(rows.begin, singles.parts * tile_row))
            stop = np.int64(at(rows.end, singles.parts * tile_row))
            push_tiles(first, stop, tile_row, active, tiles, a, u, mask, counts, t, False, t.bits)
            for part in range(1, singles.parts):
                is_far = part + 1 == singles.parts
                codes, code_width = (singles.far, singles.far_width) if is_far else (singles.near, singles.near_width)
                first_rank = singles.in_tiles + singles.in_near if is_far else singles.in_tiles
                at_part = singles.parts * tile_row + part
                for e in range(np.int64(at(rows.begin, at_part)), np.int64(at(rows.end, at_part))):
                    code = packed_at(codes, e, code_width)
                    place = code >> ROW_BITS & np.uint64(TILE - 1)
                    j = np.int64(code >> CELL_BITS << ROW_BITS | code & np.uint64(TILE - 1))
                    mask_word = at(mask.bits, (j >> 6) * mask.stride) ^ mask.invert
                    if active >> place & mask_word >> np.uint64(j & 63) & ONE == 0:
                        continue
                    had = bit_of(t.bits, j)
                    if KIND == COUNT:
                        put(counts, j, (at(counts, j) if had else 0) + 1)
                    if KIND == VALUES and not (had and HAS_TERMINAL == 2):
                        k = (tile_row << LOG_TILE) + np.int64(place)
                        value = value_at(a, first_rank + e) if RANKED else a.iso
                        z = mul(value, load_u(u.values, u.iso, u.stride, k), j, k)
                        put(t.values, j, sum_with(had, at(t.values, j), z))
                    if not had:
                        set_bit(t.bits, j)
        w = filled(u.bits, w + 1, hi)
    if KIND == COUNT:
        close_counts(0, t.bits.size, t.bits, t.values, counts, product)
