# What the entries of u in word w push along their tile rows: statements of a kernel, where `word_left` is that word,
# and `whole` says whether tiles over all words are taken, or those over the words lo .. hi of t alone.
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
