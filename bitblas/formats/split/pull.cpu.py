# w<mask, accum, replace> = A (+).(x) u by tile rows, their tiles and then their rest, the twin of pull.cu. Parallel
# bounds are multiples of 64 rows: no words of t are shared.
# include: formats/b2sr/walk.cpu.py
LOG_CELLS = 2 * LOG_TILE  # of a tile


@njit(**FUNCTION)
def row_in_tile(code):
    return np.int64(code) >> LOG_TILE & (TILE - 1)


@njit(**FUNCTION)
def column_of(code):
    return np.int64(code) >> LOG_CELLS << LOG_TILE | np.int64(code) & (TILE - 1)


@njit(**FUNCTION)
def bit_at(bits, i):
    return at(bits, i >> 6) >> np.uint64(i & 63) & ONE


@njit(**FUNCTION)
def hit_rest(rows, open_rows, e, stop, rest, width, u_bits):
    """The rows that have a hit here or in `rows`. Ends where every open row has one."""
    while e < stop and rows & open_rows != open_rows:
        code = packed_at(rest, e, width)
        rows |= bit_at(u_bits, column_of(code)) << np.uint64(row_in_tile(code))
        e += 1
    return rows


@njit(**FUNCTION)
def sum_rest(e, stop, tile_row, rows, open_rows, rest, width, in_tiles, a_val, a_iso, u_bits, u_val, u_iso, u_step,
             count, total):  # fmt: skip
    """The products of the rest, counted or joined to the sums; the rows that have one."""
    while e < stop and not (HAS_TERMINAL == 2 and rows & open_rows == open_rows):
        code = packed_at(rest, e, width)
        r = row_in_tile(code)
        j = column_of(code)
        if (U_FULL or bit_of(u_bits, j)) and open_rows >> np.uint64(r) & ONE != 0:
            if KIND == VALUES:
                a = at(a_val, in_tiles + e) if RANKED else a_iso
                z = mul(a, load_u(u_val, u_iso, u_step, j), (tile_row << LOG_TILE) + r, j)
                rows = add_to_row(total, rows, r, z)
                rows |= ONE << np.uint64(r)
            else:
                put(count, r, at(count, r) + 1)
        e += 1
    return rows


@njit(**KERNEL)
def pull(lo, hi, longest, begin, end, row_of, row_step, col, col_width, bits, value_ptr, rest, rest_width, in_tiles,
         a_val, a_iso, a_step, u_bits, u_val, u_iso, u_step, mask, mask_step, mask_flip, product, w_bits, w_val, w_iso,
         w_step, moved, replace, t_bits, t_val):  # fmt: skip
    acc = np.empty(TILE_WORDS, np.uint64)
    count = np.empty(TILE, np.int64)
    total = np.empty(TILE, Z_T)
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask, tile_row * mask_step) ^ mask_flip) & ROW
        first = np.int64(at(begin, 2 * tile_row))
        stop = np.int64(at(end, 2 * tile_row)) if open_rows != 0 else first
        e = np.int64(at(begin, 2 * tile_row + 1))
        last = np.int64(at(end, 2 * tile_row + 1)) if open_rows != 0 else e
        if KIND == WORDS:
            rows = hit_rows(first, stop, col, col_width, bits, u_bits, open_rows, acc)
            rows = hit_rest(rows, open_rows, e, last, rest, rest_width, u_bits)
        else:
            rows = sum_tiles(first, stop, tile_row, open_rows, col, col_width, bits, value_ptr, a_val, a_iso, u_bits,
                             u_val, u_iso, u_step, count, total)  # fmt: skip
            rows = sum_rest(e, last, tile_row, rows, open_rows, rest, rest_width, in_tiles, a_val, a_iso, u_bits,
                            u_val, u_iso, u_step, count, total)  # fmt: skip
            rows = counted_rows(rows, product, count, total)
        end_rows(tile_row, rows & open_rows, open_rows, product, total, w_bits, w_val, w_iso, w_step, moved, replace,
                 t_bits, t_val)  # fmt: skip
