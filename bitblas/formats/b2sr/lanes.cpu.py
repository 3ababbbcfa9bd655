# Pull on 8 x 8 tiles with SIMD lanes: t = A (+).(x) u for iso A, all 64 positions of a tile at once.
# Used for operators with lane versions; pull.cpu.py works bit by bit. Parallel bounds are multiples of 64 rows.
# TABLES: u_val holds the sums of tables.cpu.py; three bits of a row select one of them, in eight rows at once (method
# of four Russians: Arlazarov, Dinic, Kronrod, Faradzev, Soviet Math. Dokl. 11, 1970). Otherwise lane 8 r + c sums
# column c of row r over the tiles, and at the end the eight lanes of each row are summed in pairs.
# include: formats/b2sr/tile.cpu.py
# include: formats/b2sr/fold.cpu.py
# include: kernels/product.cpu.py
# include: formats/b2sr/operators.cpu.py


@njit(**KERNEL)
def lanes(lo, hi, longest, begin, end, row_of, row_stride, col, bits, value_ptr, a_val, a_iso, a_stride, u_bits, u_val,
          u_iso, u_stride, mask, mask_stride, mask_invert, product, t_bits, t_val):  # fmt: skip
    a = splat(a_iso, 8)
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask, tile_row * mask_stride) ^ mask_invert) & ROW
        if open_rows == 0:
            continue
        seen = np.uint64(0)
        place = tile_row << LOG_TILE
        if KIND == COUNT:
            count = splat(np.int64(0), 8)
            for tile in range(np.int64(at(begin, tile_row)), np.int64(at(end, tile_row))):
                word = at(bits, tile) & (tile_bits(u_bits, np.int64(at(col, tile))) * SPREAD)
                seen |= word
                count = plus_lanes(count, row_counts(word))
            rows = fold_rows(seen) & open_rows
            rest = rows
            while rest != 0:
                r = np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                put(t_val, place + r, repeated(product, lane(count, r)))
        else:
            if TABLES:
                low = middle = high = splat(BEGIN, 8)
                for tile in range(np.int64(at(begin, tile_row)), np.int64(at(end, tile_row))):
                    tile_col = np.int64(at(col, tile))
                    word = at(bits, tile)
                    seen |= word if U_FULL else word & (tile_bits(u_bits, tile_col) * SPREAD)
                    choices = tile_col * CHOICES
                    low = add_lanes(low, picked_lanes(u_val, choices, row_places(u_val, word, 0)))
                    middle = add_lanes(middle, picked_lanes(u_val, choices + 8, row_places(u_val, word, 3)))
                    high = add_lanes(high, picked_lanes(u_val, choices + 16, row_places(u_val, word, 6)))
                total = add_lanes(add_lanes(low, middle), high)
            else:
                sums = splat(BEGIN, 64)
                for tile in range(np.int64(at(begin, tile_row)), np.int64(at(end, tile_row))):
                    tile_col = np.int64(at(col, tile))
                    u = tile_bits(u_bits, tile_col)
                    word = at(bits, tile) if U_FULL else at(bits, tile) & (u * SPREAD)
                    seen |= word
                    z = mul_lanes(a, load_lanes(u_val, tile_col << LOG_TILE, np.uint8(u)))
                    sums = where_lanes(mask_lanes(word), add_lanes(sums, repeat_lanes(z, 8)), sums)
                fours = add_lanes(even_lanes(sums), odd_lanes(sums))
                twos = add_lanes(even_lanes(fours), odd_lanes(fours))
                total = add_lanes(even_lanes(twos), odd_lanes(twos))
            rows = fold_rows(seen) & open_rows
            if place + 8 <= t_val.size:
                store_lanes(t_val, place, total)
            else:
                rest = rows
                while rest != 0:
                    r = np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    put(t_val, place + r, lane(total, r))
        put(t_bits, place >> 6, at(t_bits, place >> 6) | rows << np.uint64(place & 63))
