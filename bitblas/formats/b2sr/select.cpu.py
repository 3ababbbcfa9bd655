# Select and measure entries of tiles: a region, those with a flag, the number per tile, and symmetry. CPU twin of
# select.cu.
# include: formats/b2sr/tile.cpu.py
# include: kernels/views.cpu.py


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
