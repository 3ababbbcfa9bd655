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
