# A T x T tile of bits, row-major, and products along the tiles of a tile row. CPU twin of tile.cuh, and of pull.cu and
# push.cu without their kernels. A row, or T bits of a bitset, is a uint64.
# include: kernels/products.cpu.py
LOG_TILE = TILE.bit_length() - 1
TILE_WORDS = max(1, TILE * TILE // 64)  # array elements per tile
ROW = np.uint64((1 << TILE) - 1)


@njit(**FUNCTION)
def tile_row_bits(bits, tile, r):
    if TILE == 4:
        return (np.uint64(at(bits, tile)) >> np.uint64(4 * r)) & ROW
    place = r << LOG_TILE
    return (at(bits, tile * TILE_WORDS + (place >> 6)) >> np.uint64(place & 63)) & ROW


@njit(**FUNCTION)
def tile_bits(bits, tile):
    """T bits of a bitset of 64-bit words, aligned to T."""
    place = tile << LOG_TILE
    return (at(bits, place >> 6) >> np.uint64(place & 63)) & ROW


# ---- Spread T bits over the rows of a word, and fold each row of a word to one bit. ----

SPREAD = np.uint64({4: 0x1111, 8: 0x0101010101010101, 16: 0x0001000100010001, 32: 0x100000001, 64: 1}[TILE])
WORD_ROWS = 4 if TILE == 4 else 64 // TILE
SHIFT = np.uint64(TILE & 63)


@njit(**FUNCTION)
def fold_rows(word):
    """Bit r of the result: whether row r of the word has a bit."""
    if TILE == 8:  # carry into the top bit of each byte, then gather the eight top bits by one multiplication
        low = np.uint64(0x7F7F7F7F7F7F7F7F)
        top = (((word & low) + low) | word) >> np.uint64(7) & np.uint64(0x0101010101010101)
        return top * np.uint64(0x0102040810204080) >> np.uint64(56)
    rows = np.uint64(0)
    for r in range(WORD_ROWS):
        if word & ROW != 0:
            rows |= ONE << np.uint64(r)
        word >>= SHIFT
    return rows


@njit(**FUNCTION)
def rows_of_tile(active):
    """The positions of a tile word that are in these rows."""
    if TILE == 8:  # move bit r to byte r, fill the byte by a carry into its top bit and back
        few = (active * np.uint64(0x0101010101010101)) & np.uint64(0x8040201008040201)
        top = (few + np.uint64(0x7F7F7F7F7F7F7F7F)) & np.uint64(0x8080808080808080)
        return (top << ONE) - (top >> np.uint64(7))
    word = np.uint64(0)
    for r in range(WORD_ROWS):
        word |= (np.uint64(0) - (active >> np.uint64(r) & ONE)) & (ROW << np.uint64(r) * SHIFT)
    return word


@njit(**FUNCTION)
def columns_of(word):
    """Bit c of the result: whether column c of the word has a bit."""
    columns = word
    for half in range(6 - LOG_TILE):
        columns |= columns >> np.uint64(32 >> half)
    return columns & ROW


# ---- Products along the tiles of a tile row, for B2SR and Split. ----

# Tiles before the first test whether all rows are done, and between tests: on meshes the test costs more than it saves.
FIRST_LOOK, PATIENCE = 8, 32


@njit(**FUNCTION)
def column_of_tile(tiles: PackedTilesView, tile):
    return np.int64(packed_at(tiles.col.col, tile, tiles.col.width) if PACKED else at(tiles.col.col, tile))


@njit(**FUNCTION)
def pull_tiles(first, stop, tile_row, open_rows, tiles: PackedTilesView, a: Values, u: VectorView, acc, count, total):
    """Sum the tiles first .. stop of a tile row into `count` or `total` (acc: scratch words). Returns the rows that
    have a product (COUNT: none). Once each open row has one, the remaining tiles may be skipped."""
    rows = np.uint64(0)
    if KIND == WORDS:
        if TILE_WORDS == 1:
            word = np.uint64(0)
            until = min(first + FIRST_LOOK, stop)
            while first < stop:
                for tile in range(first, until):
                    tile_col = column_of_tile(tiles, tile)
                    word |= np.uint64(at(tiles.bits, tile)) & (tile_bits(u.bits, tile_col) * SPREAD)
                first = until
                until = min(first + PATIENCE, stop)
                rows = fold_rows(word)
                if rows & open_rows == open_rows:  # every row has its hit: the remaining tiles change nothing
                    break
        else:
            for k in range(TILE_WORDS):
                put(acc, k, np.uint64(0))
            for tile in range(first, stop):
                tile_col = column_of_tile(tiles, tile)
                there = tile_bits(u.bits, tile_col) * SPREAD
                if there != 0:
                    for k in range(TILE_WORDS):
                        put(acc, k, at(acc, k) | at(tiles.bits, tile * TILE_WORDS + k) & there)
            for k in range(TILE_WORDS):
                rows |= fold_rows(at(acc, k)) << np.uint64(k * WORD_ROWS)
    else:
        for r in range(TILE):
            put(count, r, np.int64(0))
            put(total, r, BEGIN if NEUTRAL else IDENTITY)
        for tile in range(first, stop):
            if HAS_TERMINAL == 2 and rows & open_rows == open_rows:  # any: every row has its product
                break
            tile_col = column_of_tile(tiles, tile)
            left = tile_col << LOG_TILE
            there = ROW if U_FULL else tile_bits(u.bits, tile_col)
            if there != 0:
                there *= SPREAD
                rank = np.int64(at(tiles.value_ptr, tile)) if RANKED else np.int64(0)
                for k in range(TILE_WORDS):
                    word = np.uint64(at(tiles.bits, tile * TILE_WORDS + k))
                    rest = word & there
                    if NEUTRAL and KIND == VALUES:
                        rows |= fold_rows(rest) << np.uint64(k * WORD_ROWS)
                    while rest != 0:
                        place = trailing_zeros(rest)
                        rest = drop_lowest(rest)
                        p = (k << 6) + np.int64(place)
                        r = p >> LOG_TILE
                        if KIND == VALUES:
                            j = left + (p & (TILE - 1))
                            value = a.iso
                            if RANKED:
                                value = value_at(a, rank + np.int64(popcount(word & ((ONE << place) - ONE))))
                            z = mul(value, load_u(u.values, u.iso, u.stride, j), (tile_row << LOG_TILE) + r, j)
                            if NEUTRAL:  # identity + z equals z to the bit: no test for the first product
                                put(total, r, add(at(total, r), z))
                            else:
                                put(total, r, z if rows >> np.uint64(r) & ONE == 0 else add(at(total, r), z))
                                rows |= ONE << np.uint64(r)
                        else:
                            put(count, r, at(count, r) + 1)
                    if RANKED:
                        rank += np.int64(popcount(word))
    return rows


@njit(**FUNCTION)
def end_tile_row(tile_row, open_rows, rows, count, total, product, to: Epilogue):
    """Epilogue of a tile row: mask, accumulator and `replace`."""
    if KIND == COUNT:
        for r in range(TILE):
            if at(count, r) > 0:
                rows |= ONE << np.uint64(r)
                put(total, r, repeated(product, at(count, r)))
    rows &= open_rows
    row = tile_row << LOG_TILE
    target = row >> 6
    shift = np.uint64(row & 63)
    had = tile_bits(to.w.bits, tile_row) if MERGE else np.uint64(0)
    truths = np.uint64(0)
    rest = rows
    while STORE and rest != 0:
        r = np.int64(trailing_zeros(rest))
        rest = drop_lowest(rest)
        found = product if KIND == WORDS else at(total, r)
        value = ended(found, had >> np.uint64(r) & ONE != 0, to.w.values, to.w.iso, to.w.stride, row + r)
        if not W_BOOL:
            put(to.t.values, row + r, value)
        elif value:
            truths |= ONE << np.uint64(r)
    stay = kept_bits(had, open_rows, rows, to.replace)
    truths |= carry(stay, row, to.w.values, to.w.iso, to.w.stride, to.moved, to.t.values)
    put(to.t.bits, target, (at(to.t.bits, target) & ~(ROW << shift)) | (rows | stay) << shift)
    if STORE and W_BOOL:
        put(to.t.values, target, (at(to.t.values, target) & ~(ROW << shift)) | truths << shift)


@njit(**FUNCTION)
def push_tiles(
    first,
    stop,
    tile_row,
    active,
    tiles: PackedTilesView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    counts,
    t: OutputView,
    summarized,
    t_sum,
):
    """Push the tiles first .. stop of a tile row; `active`: the rows where u has entries. Of each tile word the bits in
    active rows and open columns are pushed, in storage order: by rows. summarized: t has a summary, t_sum."""
    for tile in range(first, stop):
        tile_col = column_of_tile(tiles, tile)
        left = tile_col << LOG_TILE
        open_bits = (tile_bits(mask.bits, tile_col * mask.stride) ^ mask.invert) & ROW
        word = left >> 6
        shift = np.uint64(left & 63)
        before = at(t.bits, word)
        hit = np.uint64(0)
        rank = np.int64(at(tiles.value_ptr, tile)) if KIND != WORDS and RANKED else np.int64(0)
        for k in range(TILE_WORDS):
            tile_word = np.uint64(at(tiles.bits, tile * TILE_WORDS + k))
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
                    value = a.iso
                    if RANKED:
                        value = value_at(a, rank + np.int64(popcount(tile_word & ((ONE << place) - ONE))))
                    i = (tile_row << LOG_TILE) + k * WORD_ROWS + np.int64(place >> np.uint64(LOG_TILE))
                    z = mul(value, load_u(u.values, u.iso, u.stride, i), j, i)
                    put(t.values, j, sum_with(had != 0, at(t.values, j), z))
            if KIND != WORDS and RANKED:
                rank += np.int64(popcount(tile_word))
        hit &= open_bits
        put(t.bits, word, before | hit << shift)
        if summarized:
            note(t_sum, word, hit)
