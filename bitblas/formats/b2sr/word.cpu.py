# What the entries of u in word w push along their tile rows: statements of a kernel, where `word_left` is that word.
while word_left != 0:
    tile_row = ((w << 6) + np.int64(trailing_zeros(word_left))) >> LOG_TILE
    active = tile_bits(u_bits, tile_row)
    word_left &= ~(ROW << np.uint64((tile_row << LOG_TILE) & 63))
    first = np.int64(at(begin, tile_row))
    stop = np.int64(at(end, tile_row))
    # include: formats/b2sr/scatter.cpu.py
