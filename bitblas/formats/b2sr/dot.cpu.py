# Masked dot products on tiles: C<M> = A B', computed at the bits of the mask. CPU twin of dot.cu.
# TILE_SUMS: the sum of all bits of each mask tile, in place of a sum for each bit.
# include: formats/b2sr/tile.cpu.py
# include: kernels/views.cpu.py
# include: kernels/products.cpu.py


@njit(**FUNCTION)
def rank_in(bits, tile, r, c):
    rank = np.int64(popcount(tile_row_bits(bits, tile, r) & ((ONE << np.uint64(c)) - ONE)))
    for above in range(r):
        rank += np.int64(popcount(tile_row_bits(bits, tile, above)))
    return rank


# Two tile rows are merged; each common tile column serves all bits of the mask tile.
@njit(**KERNEL)
def dot(
    lo,
    hi,
    m_ptr,
    m_rows,
    m_col,
    m_bits,
    m_ranks,
    a_ptr,
    a_col,
    a_bits,
    a_ranks,
    a: MatrixValues,
    b_ptr,
    b_col,
    b_bits,
    b_ranks,
    b: MatrixValues,
    inner,
    product,
    present,
    sums,
):
    count = zeros(TILE * TILE, np.int64)
    tile_i = row_of(m_ptr, m_rows, lo)
    for tile in range(lo, hi):
        while np.int64(at(m_ptr, tile_i + 1)) <= tile:
            tile_i += 1
        tile_j = np.int64(at(m_col, tile))
        first = np.int64(at(m_ranks, tile))
        bits = np.int64(0)
        for r in range(TILE):
            rest = tile_row_bits(m_bits, tile, r)
            while rest != 0:
                put(count, bits, np.int64(0))
                bits += 1
                rest = drop_lowest(rest)
        x = np.int64(at(a_ptr, tile_i))
        a_end = np.int64(at(a_ptr, tile_i + 1))
        y = np.int64(at(b_ptr, tile_j))
        b_end = np.int64(at(b_ptr, tile_j + 1))
        while x < a_end and y < b_end:
            k = np.int64(at(a_col, x))
            other = np.int64(at(b_col, y))
            if k < other:
                x += 1
            elif other < k:
                y += 1
            else:
                m = np.int64(0)
                for r in range(TILE):
                    rest = tile_row_bits(m_bits, tile, r)
                    if rest == 0:
                        continue
                    a_row = tile_row_bits(a_bits, x, r)
                    while rest != 0:
                        s = np.int64(trailing_zeros(rest))
                        rest = drop_lowest(rest)
                        common = a_row & tile_row_bits(b_bits, y, s)
                        if KIND == VALUES:
                            while common != 0:
                                c = np.int64(trailing_zeros(common))
                                common = drop_lowest(common)
                                left = at(a.values, a_ranks[x] + rank_in(a_bits, x, r, c)) if a.stride else a.iso
                                right = at(b.values, b_ranks[y] + rank_in(b_bits, y, s, c)) if b.stride else b.iso
                                i, inner, j = (tile_i << LOG_TILE) + r, (k << LOG_TILE) + c, (tile_j << LOG_TILE) + s
                                z = mul(left, right, i, inner, j)
                                sums[first + m] = add(at(sums, first + m), z) if at(count, m) else z
                                put(count, m, np.int64(1))
                        else:
                            put(count, m, at(count, m) + np.int64(popcount(common)))
                        m += 1
                x += 1
                y += 1
        if TILE_SUMS:
            every = np.int64(0)
            for m in range(bits):
                every += at(count, m)
            put(present, tile, every > 0)
            put(sums, tile, repeated(product, every) if every > 0 else IDENTITY)
            continue
        for m in range(bits):
            some = at(count, m) > 0
            put(present, first + m, some)
            if KIND == COUNT:
                put(sums, first + m, repeated(product, at(count, m)) if some else IDENTITY)
            elif KIND == VALUES and not some:
                put(sums, first + m, IDENTITY)


FLUSH = 31  # tiles of up to 8 common bits each that an 8-bit lane can count


@njit(**FUNCTION)
def flush(counts, small, count):
    store_lanes(small, 0, counts)
    for p in range(64):
        put(count, p, at(count, p) + np.int64(at(small, p)))


# Dot products that count, on 8 x 8 tiles with SIMD lanes.
# Lane 8 r + s of `counts` is position (r, s) of the mask tile. Each tile of the row of B' is added to all lanes at
# once, combined with the tile of A in its tile column, or with zeros.
@njit(**KERNEL)
def dot_lanes(
    lo,
    hi,
    m_ptr,
    m_rows,
    m_col,
    m_bits,
    m_ranks,
    a_ptr,
    a_col,
    a_bits,
    a_ranks,
    a: MatrixValues,
    b_ptr,
    b_col,
    b_bits,
    b_ranks,
    b: MatrixValues,
    inner,
    product,
    present,
    sums,
):
    small = empty(64, np.uint8)
    count = zeros(64, np.int64)
    spread = zeros((inner >> LOG_TILE) + 1, np.uint64)  # the tile row of A by tile column: the tile, or 0
    row = np.int64(-1)
    x_begin = np.int64(0)
    a_end = np.int64(0)
    tile_row = row_of(m_ptr, m_rows, lo)
    for tile in range(lo, hi):
        while np.int64(at(m_ptr, tile_row + 1)) <= tile:
            tile_row += 1
        if tile_row != row:
            for x in range(x_begin, a_end):
                put(spread, np.int64(at(a_col, x)), np.uint64(0))
            row = tile_row
            x_begin = np.int64(at(a_ptr, row))
            a_end = np.int64(at(a_ptr, row + 1))
            for x in range(x_begin, a_end):
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
        if TILE_SUMS:
            every = np.int64(0)
            while rest != 0:
                every += at(count, np.int64(trailing_zeros(rest)))
                rest = drop_lowest(rest)
            put(present, tile, every > 0)
            put(sums, tile, repeated(product, every) if every > 0 else IDENTITY)
        while rest != 0:
            p = np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            put(present, place, at(count, p) > 0)
            if KIND == COUNT:
                put(sums, place, repeated(product, at(count, p)) if at(count, p) > 0 else IDENTITY)
            place += 1
