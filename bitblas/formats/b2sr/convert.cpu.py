# Convert CSR rows to tiles and back; list, transpose, select and measure the entries of tiles. CPU twin of convert.cu.
# include: formats/b2sr/tile.cpu.py
# include: kernels/views.cpu.py
NONE = np.int64(1) << np.int64(50)


# Build tiles from CSR rows: merge the rows of each tile row by tile column.
# A thread takes whole tile rows; none is cut, so a part is a tile row.
@njit(**KERNEL)
def build(
    lo,
    hi,
    tile_rows,
    nrows,
    ptr,
    col,
    cuts,
    cut_cols,
    limit,
    least_near,
    least_far,
    in_tiles,
    out,
    counts,
    tile_col,
    bits,
    value_ptr,
    places,
    rest,
):
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


# Convert tiles to CSR rows. no tile row is cut.
@njit(**KERNEL)
def unbuild(lo, hi, tile_rows, nrows, tile_ptr, tile_col, bits, value_ptr, cuts, out, counts, ptr, col, places):
    written = empty(TILE, np.int64)
    for tile_row in range(lo, hi):
        first = tile_row * TILE
        rows = min(TILE, nrows - first)
        for r in range(rows):
            written[r] = out[first + r] if FILL else 0
            if FILL:
                ptr[first + r] = written[r]
        for tile in range(tile_ptr[tile_row], tile_ptr[tile_row + 1]):
            rank = np.int64(value_ptr[tile]) if ORDER else np.int64(0)
            left = np.int64(tile_col[tile]) << LOG_TILE
            for r in range(rows):
                rest = tile_row_bits(bits, tile, r)
                if FILL:
                    while rest != 0:
                        col[written[r]] = left + np.int64(trailing_zeros(rest))
                        if ORDER:
                            places[written[r]] = rank
                            rank += 1
                        written[r] += 1
                        rest = drop_lowest(rest)
                else:
                    written[r] += np.int64(popcount(rest))
        if not FILL:
            for r in range(rows):
                counts[first + r] = written[r]


# List the row and column of every entry in tile order.
@njit(**KERNEL)
def coo(lo, hi, tile_rows, tile_ptr, tile_col, bits, value_ptr, rows, cols):
    tile_row = np.searchsorted(tile_ptr, lo, side="right") - 1
    for tile in range(lo, hi):
        while tile_ptr[tile_row + 1] <= tile:
            tile_row += 1
        place = np.int64(at(value_ptr, tile))
        left = np.int64(at(tile_col, tile)) << LOG_TILE
        for k in range(TILE_WORDS):
            rest = np.uint64(at(bits, tile * TILE_WORDS + k))
            while rest != 0:
                bit = (k << 6) + np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                put(rows, place, (tile_row << LOG_TILE) + (bit >> LOG_TILE))
                put(cols, place, left + (bit & (TILE - 1)))
                place += 1


# Transpose the bits of tiles.
@njit(**KERNEL)
def transpose(lo, hi, source, bits, value_ptr, t_value_ptr, t_bits, places):
    next_place = empty(TILE, np.int64)  # ORDER: next position of an entry for each row of the transpose
    for tile in range(lo, hi):
        first = np.int64(at(source, tile))
        if ORDER:
            place = np.int64(t_value_ptr[tile])
            next_place[:] = 0
            for r in range(TILE - 1):
                rest = tile_row_bits(bits, first, r)
                while rest != 0:
                    c = np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    next_place[c] += 1
            rest = tile_row_bits(bits, first, TILE - 1)
            for c in range(TILE):
                count = next_place[c] + np.int64(rest >> np.uint64(c) & np.uint64(1))
                next_place[c] = place
                place += count
        rank = np.int64(value_ptr[first]) if ORDER else np.int64(0)
        for r in range(TILE):
            rest = tile_row_bits(bits, first, r)
            while rest != 0:
                c = np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                if ORDER:
                    places[next_place[c]] = rank
                    next_place[c] += 1
                    rank += 1
                elif TILE == 4:
                    put(t_bits, tile, at(t_bits, tile) | np.uint16(np.int64(1) << (4 * c + r)))
                else:
                    place = (c << LOG_TILE) + r
                    w = tile * TILE_WORDS + (place >> 6)
                    put(t_bits, w, at(t_bits, w) | np.uint64(1) << np.uint64(place & 63))


@njit(**FUNCTION)
def low_bits(count):
    """The lowest `count` bits of ROW, for any count."""
    if count <= 0:
        return np.uint64(0)
    return ROW if count >= TILE else (np.uint64(1) << np.uint64(count)) - np.uint64(1)


# Extract a region: count or write the bits of each tile inside it.
@njit(**KERNEL)
def clip(lo, hi, ptr, col, bits, region: Region, tiles, entries, left_col, left, ranks):
    per_word = 4 if TILE == 4 else 64 // TILE
    words = empty(TILE_WORDS, np.uint64)
    for tile_row in range(lo, hi):
        top = tile_row << LOG_TILE
        tile_base = np.int64(at(tiles, tile_row)) if FILL else np.int64(0)
        bit_base = np.int64(at(entries, tile_row) - at(entries, 0)) if FILL else np.int64(0)
        for tile in range(np.int64(at(ptr, tile_row)), np.int64(at(ptr, tile_row + 1))):
            first = np.int64(at(col, tile)) << LOG_TILE
            total = np.int64(0)
            inside = (
                top >= region.row_low
                and top + TILE <= region.row_high
                and first >= region.col_low
                and first + TILE <= region.col_high
                and first - top - TILE + 1 >= region.diag_low
                and first - top + TILE - 1 <= region.diag_high
            )
            outside = (
                top >= region.row_high
                or top + TILE <= region.row_low
                or first >= region.col_high
                or first + TILE <= region.col_low
                or first - top - TILE + 1 > region.diag_high
                or first - top + TILE - 1 < region.diag_low
            )
            for k in range(TILE_WORDS):
                word = np.uint64(0) if outside else np.uint64(at(bits, tile * TILE_WORDS + k))
                if not inside and not outside:
                    kept = np.uint64(0)
                    for r in range(per_word):
                        row = top + k * per_word + r
                        if row >= region.row_low and row < region.row_high:
                            low = max(region.col_low, row + region.diag_low) - first
                            high = min(region.col_high, row + region.diag_high + 1) - first
                            kept |= (low_bits(high) & ~low_bits(low)) << np.uint64(r << LOG_TILE)
                    word &= kept
                put(words, k, word)
                total += np.int64(popcount(word))
            if total == 0:
                continue
            if FILL:
                put(left_col, tile_base, at(col, tile))
                put(ranks, tile_base, bit_base)
                for k in range(TILE_WORDS):
                    put(left, tile_base * TILE_WORDS + k, at(words, k))
            tile_base += 1
            bit_base += total
        if not FILL:
            put(tiles, tile_row + 1, tile_base)
            put(entries, tile_row + 1, bit_base)


# Filter entries: clear the bits of entries that are not kept.
@njit(**KERNEL)
def filter(lo, hi, bits, value_ptr, keep, left, some):
    for tile in range(lo, hi):
        rank = np.int64(at(value_ptr, tile))
        any_left = False
        for k in range(TILE_WORDS):
            rest = np.uint64(at(bits, tile * TILE_WORDS + k))
            word = np.uint64(0)
            while rest != 0:
                if at(keep, rank):
                    word |= np.uint64(1) << trailing_zeros(rest)
                rank += 1
                rest = drop_lowest(rest)
            put(left, tile * TILE_WORDS + k, word)
            any_left = any_left or word != 0
        put(some, tile, any_left)


# Count the bits of each tile.
@njit(**KERNEL)
def ranks(lo, hi, bits, counts):
    for tile in range(lo, hi):
        total = np.int64(0)
        for k in range(TILE_WORDS):
            total += np.int64(popcount(at(bits, tile * TILE_WORDS + k)))
        counts[tile] = total


# Symmetry test on tiles: per chunk of CHUNK tiles, the hash difference between entries and their mirror images.
@njit(**KERNEL)
def mirror(lo, hi, tile_rows, tiles, tile_ptr, tile_col, bits, sums):
    tile_row = np.searchsorted(tile_ptr, lo * CHUNK, side="right") - 1
    for chunk in range(lo, hi):
        total = np.uint64(0)
        for tile in range(chunk * CHUNK, min((chunk + 1) * CHUNK, tiles)):
            while np.int64(at(tile_ptr, tile_row + 1)) <= tile:
                tile_row += 1
            left = np.int64(at(tile_col, tile)) << LOG_TILE
            for r in range(TILE):
                rest = tile_row_bits(bits, tile, r)
                if rest != 0:
                    row = scramble((tile_row << LOG_TILE) + r)
                while rest != 0:
                    total += unlike_mirror(row, scramble(left + np.int64(trailing_zeros(rest))))
                    rest = drop_lowest(rest)
        put(sums, chunk, total)
