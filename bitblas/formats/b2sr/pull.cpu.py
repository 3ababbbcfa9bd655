# Pull SpMV on tiles: w<mask, accum, replace> = A (+).(x) u by tile rows. CPU twin of pull.cu.
# Parallel bounds are multiples of 64 rows, so threads share no words of t.
# include: formats/b2sr/products.cpu.py


@njit(**KERNEL)
def pull(
    lo, hi, longest, rows: RowsView, tiles: TilesView, a: Values, u: VectorView, mask: MaskView, product, to: Epilogue
):
    acc = empty(TILE_WORDS, np.uint64)
    count = empty(TILE, np.int64)
    total = empty(TILE, Z_T)
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask.bits, tile_row * mask.stride) ^ mask.invert) & ROW
        first = np.int64(at(rows.begin, tile_row))
        stop = np.int64(at(rows.end, tile_row)) if open_rows != 0 else first
        found = pull_tiles(
            first, stop, tile_row, open_rows, tiles.col, 0, tiles.bits, tiles.value_ptr, a, u, acc, count, total
        )
        end_tile_row(tile_row, open_rows, found, count, total, product, to)
