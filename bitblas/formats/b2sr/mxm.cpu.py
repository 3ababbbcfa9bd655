# The product of two matrices of tiles, as tiles: C = A B at given tiles, for A and B by rows (Gustavson). CPU twin of
# mxm.cu.
# include: formats/b2sr/tile.cpu.py
# include: kernels/views.cpu.py


@njit(**FUNCTION)
def or_row(bits, tile, r, row):
    """OR a row of a tile."""
    place = (tile * TILE + r) * TILE
    if TILE == 4:
        put(bits, tile, at(bits, tile) | np.uint16(row << np.uint64(4 * r)))
    else:
        put(bits, place >> 6, at(bits, place >> 6) | row << np.uint64(place & 63))


# Units are tile rows. KIND COUNT: also count, T * T numbers per tile, which are zero before; bits are zero too.
@njit(**KERNEL)
def mxm(lo, hi, c_ptr, c_rows, c_col, a_ptr, a_col, a_bits, b_ptr, b_col, b_bits, columns, c_bits, count):
    place = zeros(columns, np.int64)  # the tile of C's tile row in each tile column
    for tile_row in range(lo, hi):
        for c in range(np.int64(at(c_ptr, tile_row)), np.int64(at(c_ptr, tile_row + 1))):
            put(place, np.int64(at(c_col, c)), c)
        for x in range(np.int64(at(a_ptr, tile_row)), np.int64(at(a_ptr, tile_row + 1))):
            k = np.int64(at(a_col, x))
            for y in range(np.int64(at(b_ptr, k)), np.int64(at(b_ptr, k + 1))):
                c = at(place, np.int64(at(b_col, y)))
                for r in range(TILE):
                    rest = tile_row_bits(a_bits, x, r)
                    found = np.uint64(0)
                    while rest != 0:
                        row = tile_row_bits(b_bits, y, np.int64(trailing_zeros(rest)))
                        rest = drop_lowest(rest)
                        found |= row
                        if KIND == COUNT:
                            first = (c * TILE + r) * TILE
                            while row != 0:
                                s = first + np.int64(trailing_zeros(row))
                                row = drop_lowest(row)
                                put(count, s, np.int32(at(count, s) + 1))
                    if found != 0:
                        or_row(c_bits, c, r, found)
