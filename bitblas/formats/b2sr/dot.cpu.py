# Masked dot products on tiles: C<M> = A B', computed at the bits of the mask. CPU twin of dot.cu.
# Two tile rows are merged; each common tile column serves all bits of the mask tile.
# include: formats/b2sr/tile.cpu.py
# include: kernels/rows.cpu.py
# include: kernels/product.cpu.py


@njit(**FUNCTION)
def rank_in(bits, tile, r, c):
    rank = np.int64(popcount(tile_row_bits(bits, tile, r) & ((ONE << np.uint64(c)) - ONE)))
    for above in range(r):
        rank += np.int64(popcount(tile_row_bits(bits, tile, above)))
    return rank


@njit(**KERNEL)
def dot(lo, hi, m_ptr, m_rows, m_col, m_bits, m_ranks, a_ptr, a_col, a_bits, a_ranks, a_val, a_iso, a_stride, b_ptr,
        b_col, b_bits, b_ranks, b_val, b_iso, b_stride, inner, product, present, sums):  # fmt: skip
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
                                left = at(a_val, a_ranks[x] + rank_in(a_bits, x, r, c)) if a_stride else a_iso
                                right = at(b_val, b_ranks[y] + rank_in(b_bits, y, s, c)) if b_stride else b_iso
                                i, inner, j = (tile_i << LOG_TILE) + r, (k << LOG_TILE) + c, (tile_j << LOG_TILE) + s
                                z = mul(left, right, i, inner, j)
                                sums[first + m] = add(at(sums, first + m), z) if at(count, m) else z
                                put(count, m, np.int64(1))
                        else:
                            put(count, m, at(count, m) + np.int64(popcount(common)))
                        m += 1
                x += 1
                y += 1
        for m in range(bits):
            some = at(count, m) > 0
            put(present, first + m, some)
            if KIND == COUNT:
                put(sums, first + m, repeated(product, at(count, m)) if some else IDENTITY)
            elif KIND == VALUES and not some:
                put(sums, first + m, IDENTITY)
