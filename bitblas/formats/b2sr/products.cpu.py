# Products with a vector on tiles: by tile rows (pull), and along the rows where u has entries (push).
# CPU twin of pull.cu and push.cu.
# include: formats/b2sr/tile.cpu.py
# include: formats/csr/columns.cpu.py


# w<mask, accum, replace> = A (+).(x) u. Parallel bounds are multiples of 64 rows, so threads share no words of t.
@njit(**KERNEL)
def pull(
    lo, hi, longest, rows: RowsView, tiles: TilesView, a: Values, u: VectorView, mask: MaskView, product, to: Epilogue
):
    acc = empty(TILE_WORDS, np.uint64)
    count = empty(TILE, np.int64)
    total = empty(TILE, Z_T)
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask.bits, tile_row * mask.stride) ^ mask.invert) & ROW
        first = np.int64(at(rows.begin, tile_row))
        stop = np.int64(at(rows.end, tile_row)) if open_rows != 0 else first
        found = pull_tiles(
            first, stop, tile_row, open_rows, tiles.col, 0, tiles.bits, tiles.value_ptr, a, u, acc, count, total
        )
        end_tile_row(tile_row, open_rows, found, count, total, product, to)


@njit(**FUNCTION)
def push_word(
    w,
    lo,
    hi,
    whole,
    rows: RowsView,
    tiles: TilesView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    counts,
    t: OutputView,
    summarized,
    t_sum,
):
    """Push the entries of u in word w along their tile rows: over all words of t (whole), or only lo .. hi."""
    word_left = at(u.bits, w)
    while word_left != 0:
        tile_row = ((w << 6) + np.int64(trailing_zeros(word_left))) >> LOG_TILE
        active = tile_bits(u.bits, tile_row)
        word_left &= ~(ROW << np.uint64((tile_row << LOG_TILE) & 63))
        first = np.int64(at(rows.begin, tile_row))
        stop = np.int64(at(rows.end, tile_row))
        if not whole and first < stop:
            if np.int64(at(tiles.col, first)) < lo << (6 - LOG_TILE):
                first = lower_bound(False, tiles.col, 0, first, stop, lo << (6 - LOG_TILE))
            if first < stop and np.int64(at(tiles.col, stop - 1)) >= hi << (6 - LOG_TILE):
                stop = lower_bound(False, tiles.col, 0, first, stop, hi << (6 - LOG_TILE))
        push_tiles(
            first,
            stop,
            tile_row,
            active,
            tiles.col,
            0,
            tiles.bits,
            tiles.value_ptr,
            a,
            u,
            mask,
            counts,
            t,
            summarized,
            t_sum,
        )


# t = A' (+).(x) u. Units are the 64-bit words of t: each range reads all of u and takes the tiles over its own words.
@njit(**KERNEL)
def push(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: TilesView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    whole = lo == 0 and hi == t.bits.size
    w = filled(u.bits, 0, u.bits.size)
    while w < u.bits.size:
        push_word(w, lo, hi, whole, rows, tiles, a, u, mask, counts, t, False, t.bits)
        w = filled(u.bits, w + 1, u.bits.size)
    if KIND == COUNT:
        close_counts(lo, hi, t.bits, t.values, counts, product)


# Push of one loop round, single-threaded. u has a summary (a bitset of its words that have entries), and t gets one.
# Units are the 64-bit words of the summary.
@njit(**KERNEL)
def push_frontier(
    lo,
    hi,
    longest,
    rows: RowsView,
    tiles: TilesView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    u_sum,
    t: OutputView,
    t_sum,
):
    blank(0, t_sum.size, t.bits, t_sum)
    w = next_marked(u_sum, lo << 6, hi)
    while w < hi << 6:
        push_word(w, lo, hi, True, rows, tiles, a, u, mask, t.bits, t, True, t_sum)
        w = next_marked(u_sum, w + 1, hi)
