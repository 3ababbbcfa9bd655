# The tiles of a tile row and what becomes of its sums, the twin of walk.cuh and close.cuh.
# include: formats/b2sr/tile.cpu.py
# include: formats/b2sr/fold.cpu.py
# include: kernels/packed.cpu.py
# include: kernels/ending.cpu.py
# Tiles before the first look at whether all rows are done, and between two: looking costs more than it saves on meshes.
FIRST_LOOK, PATIENCE = 8, 32


@njit(**FUNCTION)
def tile_column(col, width, tile):
    """width: bits of packed numbers."""
    return np.int64(packed_at(col, tile, width)) if PACKED else np.int64(at(col, tile))


@njit(**FUNCTION)
def hit_rows(first, stop, col, width, bits, u_bits, open_rows, acc):
    """The rows that have a hit, as bits; not all of them where every open row has one."""
    rows = np.uint64(0)
    if TILE_WORDS == 1:
        word = np.uint64(0)
        until = min(first + FIRST_LOOK, stop)
        while first < stop:
            for tile in range(first, until):
                word |= np.uint64(at(bits, tile)) & (tile_bits(u_bits, tile_column(col, width, tile)) * SPREAD)
            first = until
            until = min(first + PATIENCE, stop)
            rows = fold_rows(word)
            if rows & open_rows == open_rows:  # every row has its hit: the rest changes nothing
                break
    else:
        for k in range(TILE_WORDS):
            put(acc, k, np.uint64(0))
        for tile in range(first, stop):
            u = tile_bits(u_bits, tile_column(col, width, tile)) * SPREAD
            if u != 0:
                for k in range(TILE_WORDS):
                    put(acc, k, at(acc, k) | at(bits, tile * TILE_WORDS + k) & u)
        for k in range(TILE_WORDS):
            rows |= fold_rows(at(acc, k)) << np.uint64(k * WORD_ROWS)
    return rows


@njit(**FUNCTION)
def add_to_row(total, rows, r, z):
    """One more product of row r, and the rows that have one."""
    if NEUTRAL:  # identity + z is z to the bit: no need to ask whether z is the first
        put(total, r, add(at(total, r), z))
        return rows
    put(total, r, z if rows >> np.uint64(r) & ONE == 0 else add(at(total, r), z))
    return rows | ONE << np.uint64(r)


@njit(**FUNCTION)
def sum_tiles(
    first, stop, tile_row, open_rows, col, width, bits, value_ptr, a_val, a_iso, u_bits, u_val, u_iso, u_step, count,
    total,
):  # fmt: skip
    """The products in the tiles, counted or joined by row; the rows that have one, as bits (COUNT: none)."""
    rows = np.uint64(0)
    for r in range(TILE):
        put(count, r, np.int64(0))
        put(total, r, IDENTITY)
    for tile in range(first, stop):
        if HAS_TERMINAL == 2 and rows & open_rows == open_rows:  # every row has its product: any one will do
            break
        tile_col = tile_column(col, width, tile)
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
                            a = at(a_val, rank + np.int64(popcount(word & ((ONE << place) - ONE))))
                        else:
                            a = a_iso
                        z = mul(a, load_u(u_val, u_iso, u_step, j), (tile_row << LOG_TILE) + r, j)
                        rows = add_to_row(total, rows, r, z)
                    else:
                        put(count, r, at(count, r) + 1)
                if RANKED:
                    rank += np.int64(popcount(word))
    return rows


@njit(**FUNCTION)
def counted_rows(rows, product, count, total):
    """The rows that have a product, and the sums of those that are counted."""
    if KIND == COUNT:
        for r in range(TILE):
            if at(count, r) > 0:
                rows |= ONE << np.uint64(r)
                put(total, r, repeated(product, at(count, r)))
    return rows


@njit(**FUNCTION)
def end_rows(tile_row, rows, open_rows, product, total, w_bits, w_val, w_iso, w_step, moved, replace, t_bits, t_val):
    """The end of the statement for a tile row: mask, accumulator and `replace`, once, after all its parts."""
    row = tile_row << LOG_TILE
    target = row >> 6
    shift = np.uint64(row & 63)
    had = tile_bits(w_bits, tile_row) if MERGE else np.uint64(0)
    truths = np.uint64(0)
    rest = rows
    while STORE and rest != 0:
        r = np.int64(trailing_zeros(rest))
        rest = drop_lowest(rest)
        found = product if KIND == WORDS else at(total, r)
        value = ended(found, had >> np.uint64(r) & ONE != 0, w_val, w_iso, w_step, row + r)
        if not W_BOOL:
            put(t_val, row + r, value)
        elif value:
            truths |= ONE << np.uint64(r)
    stay = kept(had, open_rows, rows, replace)
    truths |= carry(stay, row, w_val, w_iso, w_step, moved, t_val)
    put(t_bits, target, (at(t_bits, target) & ~(ROW << shift)) | (rows | stay) << shift)
    if STORE and W_BOOL:
        put(t_val, target, (at(t_val, target) & ~(ROW << shift)) | truths << shift)
