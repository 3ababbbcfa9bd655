# Code fragment: push the entries of u in word w along their tile rows.
# `word_left` is that word; `whole` selects tiles over all words, or only those over the words lo .. hi of t.
while word_left != 0:
    tile_row = ((w << 6) + np.int64(trailing_zeros(word_left))) >> LOG_TILE
    active = tile_bits(u_bits, tile_row)
    word_left &= ~(ROW << np.uint64((tile_row << LOG_TILE) & 63))
    first = np.int64(at(begin, tile_row))
    stop = np.int64(at(end, tile_row))
    if not whole and first < stop:
        if np.int64(at(col, first)) < lo << (6 - LOG_TILE):
            first = lower_bound(False, col, 0, first, stop, lo << (6 - LOG_TILE))
        if first < stop and np.int64(at(col, stop - 1)) >= hi << (6 - LOG_TILE):
            stop = lower_bound(False, col, 0, first, stop, hi << (6 - LOG_TILE))
    # include: formats/b2sr/scatter.cpu.py
