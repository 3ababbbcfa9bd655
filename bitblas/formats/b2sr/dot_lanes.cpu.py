# c = the numbers of products at the bits of a mask, by 8 x 8 tiles: what dot.cpu.py counts bit by bit. Lane 8 r + s of
# `counts` is place (r, s) of the mask's tile; every common tile column adds to all of them at once.
# include: formats/b2sr/tile.cpu.py
# include: kernels/product.cpu.py
from bitblas.kernels.lanes import outer_counts, plus_lanes, splat, store_lanes

FLUSH = 31  # common tiles of up to 8 bits each that a lane of 8 bits can count


@njit(**FUNCTION)
def flush(counts, small, count):
    store_lanes(small, 0, counts)
    for p in range(64):
        put(count, p, at(count, p) + np.int64(at(small, p)))


@njit(**KERNEL)
def dot_lanes(lo, hi, tile_rows, tile_cols, m_bits, m_ranks, a_ptr, a_col, a_bits, a_ranks, a_val, a_iso, a_step,
              b_ptr, b_col, b_bits, b_ranks, b_val, b_iso, b_step, product, present, sums):  # fmt: skip
    small = np.empty(64, np.uint8)
    count = np.zeros(64, np.int64)
    for tile in range(lo, hi):
        x = np.int64(at(a_ptr, at(tile_rows, tile)))
        a_end = np.int64(at(a_ptr, at(tile_rows, tile) + 1))
        y = np.int64(at(b_ptr, np.int64(at(tile_cols, tile))))
        b_end = np.int64(at(b_ptr, np.int64(at(tile_cols, tile)) + 1))
        counts = splat(np.uint8(0), 64)
        steps = np.int64(0)
        for p in range(64):
            put(count, p, np.int64(0))
        while x < a_end and y < b_end:
            k = np.int64(at(a_col, x))
            other = np.int64(at(b_col, y))
            # Without a branch: where the columns differ the word is 0.
            common = at(a_bits, x) if k == other else np.uint64(0)
            counts = plus_lanes(counts, outer_counts(common, at(b_bits, y)))
            x += np.int64(k <= other)
            y += np.int64(other <= k)
            steps += np.int64(k == other)
            if steps == FLUSH:
                flush(counts, small, count)
                counts = splat(np.uint8(0), 64)
                steps = np.int64(0)
        flush(counts, small, count)
        place = np.int64(at(m_ranks, tile))
        rest = at(m_bits, tile)
        while rest != 0:
            p = np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            put(present, place, at(count, p) > 0)
            if KIND == COUNT and at(count, p) > 0:
                put(sums, place, repeated(product, at(count, p)))
            place += 1
