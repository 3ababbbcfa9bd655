# Pull on 8 x 8 tiles with SIMD lanes, for operators with lane versions; pull.cpu.py works bit by bit.
# include: formats/b2sr/tile.cpu.py
# include: kernels/products.cpu.py

OPERATORS = (first_lanes, second_lanes, plus_lanes, minus_lanes, times_lanes, least_lanes, greatest_lanes)
if KIND == VALUES:
    add_lanes, multiply_lanes = OPERATORS[ADD], OPERATORS[MUL]
# For each tile column the sums over all subsets of its columns 0 to 2, 3 to 5, and 6 and 7: this many numbers.
CHOICES = 24


@njit(**FUNCTION)
def mul_lanes(a, u):
    return multiply_lanes(u, a) if FLIP else multiply_lanes(a, u)


# t = A (+).(x) u for iso A, all 64 positions of a tile at once. Parallel bounds are multiples of 64 rows.
# TABLES: the values of u are the sums of `tables`; three bits of a row select one of them, in eight rows at once
# (method of four Russians: Arlazarov, Dinic, Kronrod, Faradzev, Soviet Math. Dokl. 11, 1970). Otherwise lane 8 r + c
# sums column c of row r over the tiles, and at the end the eight lanes of each row are summed in pairs.
@njit(**KERNEL)
def lanes(
    lo, hi, longest, rows: RowsView, tiles: TilesView, a: Values, u: VectorView, mask: MaskView, product, t: OutputView
):
    weight = splat(a.iso, 8)
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask.bits, tile_row * mask.stride) ^ mask.invert) & ROW
        if open_rows == 0:
            continue
        seen = np.uint64(0)
        place = tile_row << LOG_TILE
        if KIND == COUNT:
            count = splat(np.int64(0), 8)
            for tile in range(np.int64(at(rows.begin, tile_row)), np.int64(at(rows.end, tile_row))):
                word = at(tiles.bits, tile) & (tile_bits(u.bits, np.int64(at(tiles.col, tile))) * SPREAD)
                seen |= word
                count = plus_lanes(count, row_counts(word))
            found = fold_rows(seen) & open_rows
            rest = found
            while rest != 0:
                r = np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                put(t.values, place + r, repeated(product, lane(count, r)))
        else:
            if TABLES:
                low = middle = high = splat(BEGIN, 8)
                for tile in range(np.int64(at(rows.begin, tile_row)), np.int64(at(rows.end, tile_row))):
                    tile_col = np.int64(at(tiles.col, tile))
                    word = at(tiles.bits, tile)
                    seen |= word if U_FULL else word & (tile_bits(u.bits, tile_col) * SPREAD)
                    choices = tile_col * CHOICES
                    low = add_lanes(low, picked_lanes(u.values, choices, row_places(u.values, word, 0)))
                    middle = add_lanes(middle, picked_lanes(u.values, choices + 8, row_places(u.values, word, 3)))
                    high = add_lanes(high, picked_lanes(u.values, choices + 16, row_places(u.values, word, 6)))
                total = add_lanes(add_lanes(low, middle), high)
            else:
                sums = splat(BEGIN, 64)
                for tile in range(np.int64(at(rows.begin, tile_row)), np.int64(at(rows.end, tile_row))):
                    tile_col = np.int64(at(tiles.col, tile))
                    there = tile_bits(u.bits, tile_col)
                    word = at(tiles.bits, tile) if U_FULL else at(tiles.bits, tile) & (there * SPREAD)
                    seen |= word
                    z = mul_lanes(weight, load_lanes(u.values, tile_col << LOG_TILE, np.uint8(there)))
                    sums = where_lanes(mask_lanes(word), add_lanes(sums, repeat_lanes(z, 8)), sums)
                fours = add_lanes(even_lanes(sums), odd_lanes(sums))
                twos = add_lanes(even_lanes(fours), odd_lanes(fours))
                total = add_lanes(even_lanes(twos), odd_lanes(twos))
            found = fold_rows(seen) & open_rows
            if place + 8 <= t.values.size:
                store_lanes(t.values, place, total)
            else:
                rest = found
                while rest != 0:
                    r = np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    put(t.values, place + r, lane(total, r))
        put(t.bits, place >> 6, at(t.bits, place >> 6) | found << np.uint64(place & 63))


@njit(**FUNCTION)
def with_sum(sums, z, choices):
    """The sums, with z added to those whose subset has the bit."""
    return where_lanes(mask_lanes(choices), add_lanes(sums, splat(z, 8)), sums)


# For each three columns of a tile, the sums over all of their subsets of the products of iso A with u. Units are tile
# columns; missing entries of u add nothing.
@njit(**KERNEL)
def tables(lo, hi, a_iso, u_bits, u_val, table):
    nothing = splat(BEGIN, 8)
    a = splat(a_iso, 8)
    for tile_col in range(lo, hi):
        u = np.uint8(tile_bits(u_bits, tile_col))
        z = where_lanes(mask_lanes(u), mul_lanes(a, load_lanes(u_val, tile_col << LOG_TILE, u)), nothing)
        for k in range(3):
            first = 3 * k
            sums = with_sum(nothing, lane(z, first), np.uint8(0xAA))
            sums = with_sum(sums, lane(z, first + 1), np.uint8(0xCC))
            if k < 2:
                sums = with_sum(sums, lane(z, first + 2), np.uint8(0xF0))
            store_lanes(table, tile_col * CHOICES + 8 * k, sums)
