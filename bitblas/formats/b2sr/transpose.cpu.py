# Transpose the bits of tiles. CPU twin of transpose.cu.
# include: formats/b2sr/tile.cpu.py


@njit(**KERNEL)
def transpose(lo, hi, source, bits, value_ptr, t_value_ptr, t_bits, places):
    next_place = empty(TILE, np.int64)  # ORDER: next position of an entry for each row of the transpose
    for tile in range(lo, hi):
        first = np.int64(at(source, tile))
        if ORDER:
            place = np.int64(t_value_ptr[tile])
            next_place[:] = 0
            for r in range(TILE - 1):
                rest = tile_row_bits(bits, first, r)
                while rest != 0:
                    c = np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    next_place[c] += 1
            rest = tile_row_bits(bits, first, TILE - 1)
            for c in range(TILE):
                count = next_place[c] + np.int64(rest >> np.uint64(c) & np.uint64(1))
                next_place[c] = place
                place += count
        rank = np.int64(value_ptr[first]) if ORDER else np.int64(0)
        for r in range(TILE):
            rest = tile_row_bits(bits, first, r)
            while rest != 0:
                c = np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                if ORDER:
                    places[next_place[c]] = rank
                    next_place[c] += 1
                    rank += 1
                elif TILE == 4:
                    put(t_bits, tile, at(t_bits, tile) | np.uint16(np.int64(1) << (4 * c + r)))
                else:
                    place = (c << LOG_TILE) + r
                    w = tile * TILE_WORDS + (place >> 6)
                    put(t_bits, w, at(t_bits, w) | np.uint64(1) << np.uint64(place & 63))
