# Masked dot products that count, on 8 x 8 tiles with SIMD lanes; dot.cpu.py does the same bit by bit.
# Lane 8 r + s of `counts` is position (r, s) of the mask tile. Each tile of the row of B' is added to all lanes at
# once, combined with the tile of A in its tile column, or with zeros.
# include: formats/b2sr/tile.cpu.py
# include: kernels/rows.cpu.py
# include: kernels/product.cpu.py
from bitblas.kernels.lanes import outer_counts, plus_lanes, splat, store_lanes

FLUSH = 31  # tiles of up to 8 common bits each that an 8-bit lane can count


@njit(**FUNCTION)
def flush(counts, small, count):
    store_lanes(small, 0, counts)
    for p in range(64):
        put(count, p, at(count, p) + np.int64(at(small, p)))


@njit(**KERNEL)
def dot_lanes(lo, hi, m_ptr, m_rows, m_col, m_bits, m_ranks, a_ptr, a_col, a_bits, a_ranks, a_val, a_iso, a_stride,
              b_ptr, b_col, b_bits, b_ranks, b_val, b_iso, b_stride, inner, product, present, sums):  # fmt: skip
    small = empty(64, np.uint8)
    count = zeros(64, np.int64)
    spread = zeros((inner >> LOG_TILE) + 1, np.uint64)  # the tile row of A by tile column: the tile, or 0
    row = np.int64(-1)
    a = np.int64(0)
    a_end = np.int64(0)
    tile_row = row_of(m_ptr, m_rows, lo)
    for tile in range(lo, hi):
        while np.int64(at(m_ptr, tile_row + 1)) <= tile:
            tile_row += 1
        if tile_row != row:
            for x in range(a, a_end):
                put(spread, np.int64(at(a_col, x)), np.uint64(0))
            row = tile_row
            a = np.int64(at(a_ptr, row))
            a_end = np.int64(at(a_ptr, row + 1))
            for x in range(a, a_end):
                put(spread, np.int64(at(a_col, x)), at(a_bits, x))
        y = np.int64(at(b_ptr, np.int64(at(m_col, tile))))
        b_end = np.int64(at(b_ptr, np.int64(at(m_col, tile)) + 1))
        for p in range(64):
            put(count, p, np.int64(0))
        while y < b_end:
            counts = splat(np.uint8(0), 64)
            until = min(y + FLUSH, b_end)
            while y < until:
                counts = plus_lanes(counts, outer_counts(at(spread, np.int64(at(b_col, y))), at(b_bits, y)))
                y += 1
            flush(counts, small, count)
        place = np.int64(at(m_ranks, tile))
        rest = at(m_bits, tile)
        while rest != 0:
            p = np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            put(present, place, at(count, p) > 0)
            if KIND == COUNT:
                put(sums, place, repeated(product, at(count, p)) if at(count, p) > 0 else IDENTITY)
            place += 1
