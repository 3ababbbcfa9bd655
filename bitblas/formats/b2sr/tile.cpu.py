# A T x T tile of bits, row-major. CPU twin of tile.cuh. A row, or T bits of a bitset, is a uint64.
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
