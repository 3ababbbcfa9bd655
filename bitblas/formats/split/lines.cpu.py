# Products of Split with a multivector, tiles first, then single entries. CPU twin of lines.cu. A push is one thread, so
# a sum has a fixed order.
# include: formats/b2sr/tile.cpu.py
# include: formats/bitmap/lines.cpu.py
CELL_BITS = np.uint64(2 * LOG_TILE)  # bits of a number that select the position in a tile
ROW_BITS = np.uint64(LOG_TILE)


@njit(**FUNCTION)
def rank_of_row(tiles: PackedTilesView, tile, r):
    """The number of the first entry of row r of a tile."""
    e = np.int64(0)
    if RANKED:
        e = np.int64(at(tiles.value_ptr, tile))
        for above in range(r):
            e += np.int64(popcount(tile_row_bits(tiles.bits, tile, above)))
    return e


@njit(**FUNCTION)
def range_of(rows: RowsView, singles: RestView, tile_row, part):
    """A range of single entries of a tile row: its numbers and their bits, its first entry, its end, and the rank of an
    entry 0."""
    is_far = part + 1 == singles.parts
    codes, width = (singles.far, singles.far_width) if is_far else (singles.near, singles.near_width)
    place = singles.parts * tile_row + part
    first_rank = singles.in_tiles + singles.in_near if is_far else singles.in_tiles
    return codes, width, np.int64(at(rows.begin, place)), np.int64(at(rows.end, place)), first_rank


# Rows of a tile row pull along its tiles; then its single entries are read once, each for its own row.
@njit(**KERNEL)
def pull_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: PackedTilesView,
    singles: RestView,
    a: Values,
    per_line,
    last,
    x: LinesView,
    mask: LinesMask,
    nodes: NodesView,
    t: LinesOutput,
    needed,
    least,
    most,
):
    if at(needed, 0) < least or at(needed, 0) >= most:
        return
    for tile_row in range(lo >> LOG_TILE, (hi + TILE - 1) >> LOG_TILE):
        begin = np.int64(at(rows.begin, singles.parts * tile_row))
        stop = np.int64(at(rows.end, singles.parts * tile_row))
        for row in range(tile_row << LOG_TILE, min((tile_row + 1) << LOG_TILE, hi)):
            # include: formats/bitmap/fragments.cpu.py pulled_row
            r = row & (TILE - 1)
            for word in range(per_line):
                w = np.int64(word)
                # include: formats/bitmap/fragments.cpu.py pulled_word
                for tile in range(begin, stop if going else begin):
                    bits = tile_row_bits(tiles.bits, tile, r)
                    if bits == 0:
                        continue
                    e = rank_of_row(tiles, tile, r)
                    left = column_of_tile(tiles, tile) << LOG_TILE
                    while going and bits != 0:
                        j = left + np.int64(trailing_zeros(bits))
                        bits = drop_lowest(bits)
                        # include: formats/bitmap/fragments.cpu.py pulled
                        e += 1
                    if not going:
                        break
                # include: formats/bitmap/fragments.cpu.py end_pulled
        for part in range(1, singles.parts):
            codes, width, first, end, first_rank = range_of(rows, singles, tile_row, part)
            for single in range(first, end):
                code = packed_at(codes, single, width)
                e = first_rank + single
                row = (tile_row << LOG_TILE) + np.int64(code >> ROW_BITS & np.uint64(TILE - 1))
                j = np.int64(code >> CELL_BITS << ROW_BITS | code & np.uint64(TILE - 1))
                # include: formats/bitmap/fragments.cpu.py pulled_row
                for word in range(per_line):
                    w = np.int64(word)
                    # include: formats/bitmap/fragments.cpu.py pulled_word
                    found = np.uint64(at(t.bits, at_word))
                    if (KIND == WORDS or HAS_TERMINAL == 2) and found == places:
                        continue
                    if Z_BOOL and KIND == VALUES:
                        true = np.uint64(at(t.values, at_word))
                    # include: formats/bitmap/fragments.cpu.py pulled
                    # include: formats/bitmap/fragments.cpu.py end_pulled


@njit(**KERNEL)
def push_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: PackedTilesView,
    singles: RestView,
    a: Values,
    per_line,
    last,
    x: LinesView,
    mask: LinesMask,
    nodes: NodesView,
    t: LinesOutput,
    needed,
    least,
    most,
):
    if at(needed, 0) < least or at(needed, 0) >= most:
        return
    for q in range(lo, hi):
        rest = np.uint64(at(x.bits, q))
        while rest != np.uint64(0):
            # include: formats/bitmap/fragments.cpu.py pushed_line
            r = row & (TILE - 1)
            tile_row = row >> LOG_TILE
            at_tiles = singles.parts * tile_row
            for tile in range(np.int64(at(rows.begin, at_tiles)), np.int64(at(rows.end, at_tiles))):
                bits = tile_row_bits(tiles.bits, tile, r)
                if bits == 0:
                    continue
                e = rank_of_row(tiles, tile, r)
                left = column_of_tile(tiles, tile) << LOG_TILE
                while bits != 0:
                    j = left + np.int64(trailing_zeros(bits))
                    bits = drop_lowest(bits)
                    # include: formats/bitmap/fragments.cpu.py pushed
                    e += 1
            for part in range(1, singles.parts):
                codes, width, first, end, first_rank = range_of(rows, singles, tile_row, part)
                for single in range(first, end):
                    code = packed_at(codes, single, width)
                    if np.int64(code >> ROW_BITS & np.uint64(TILE - 1)) != r:
                        continue
                    e = first_rank + single
                    j = np.int64(code >> CELL_BITS << ROW_BITS | code & np.uint64(TILE - 1))
                    # include: formats/bitmap/fragments.cpu.py pushed
