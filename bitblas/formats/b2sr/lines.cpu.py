# Products of bit tiles with a multivector. CPU twin of lines.cu. A push is one thread, so a sum has a fixed order.
# include: formats/b2sr/tile.cpu.py
# include: formats/bitmap/lines.cpu.py


@njit(**FUNCTION)
def rank_of_row(bits, value_ptr, tile, r):
    """The number of the first entry of row r of a tile."""
    e = np.int64(0)
    if RANKED:
        e = np.int64(at(value_ptr, tile))
        for above in range(r):
            e += np.int64(popcount(tile_row_bits(bits, tile, above)))
    return e


@njit(**KERNEL)
def pull_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: TilesView,
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
    for row in range(lo, hi):
        # include: formats/bitmap/fragments.cpu.py pulled_row
        begin = np.int64(at(rows.begin, row >> LOG_TILE))
        stop = np.int64(at(rows.end, row >> LOG_TILE))
        r = row & (TILE - 1)
        for word in range(per_line):
            w = np.int64(word)
            # include: formats/bitmap/fragments.cpu.py pulled_word
            for tile in range(begin, stop if going else begin):
                bits = tile_row_bits(tiles.bits, tile, r)
                if bits == 0:
                    continue
                e = rank_of_row(tiles.bits, tiles.value_ptr, tile, r)
                left = np.int64(at(tiles.col, tile)) << LOG_TILE
                while going and bits != 0:
                    j = left + np.int64(trailing_zeros(bits))
                    bits = drop_lowest(bits)
                    # include: formats/bitmap/fragments.cpu.py pulled
                    e += 1
                if not going:
                    break
            # include: formats/bitmap/fragments.cpu.py end_pulled


@njit(**KERNEL)
def push_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: TilesView,
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
            for tile in range(np.int64(at(rows.begin, row >> LOG_TILE)), np.int64(at(rows.end, row >> LOG_TILE))):
                bits = tile_row_bits(tiles.bits, tile, r)
                if bits == 0:
                    continue
                e = rank_of_row(tiles.bits, tiles.value_ptr, tile, r)
                left = np.int64(at(tiles.col, tile)) << LOG_TILE
                while bits != 0:
                    j = left + np.int64(trailing_zeros(bits))
                    bits = drop_lowest(bits)
                    # include: formats/bitmap/fragments.cpu.py pushed
                    e += 1
