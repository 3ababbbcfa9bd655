# Pull SpMV on tiles: w<mask, accum, replace> = A (+).(x) u by tile rows. CPU twin of pull.cu.
# Parallel bounds are multiples of 64 rows, so threads share no words of t.
# include: formats/b2sr/tile.cpu.py
# include: kernels/values.cpu.py
# include: formats/b2sr/fold.cpu.py
# include: kernels/ending.cpu.py


@njit(**KERNEL)
def pull(lo, hi, longest, begin, end, row_of, row_stride, col, bits, value_ptr, a_val, a_iso, a_stride, u_bits, u_val,
         u_iso, u_stride, mask, mask_stride, mask_invert, product, w_bits, w_val, w_iso, w_stride, moved, replace,
         t_bits, t_val):  # fmt: skip
    acc = empty(TILE_WORDS, np.uint64)
    count = empty(TILE, np.int64)
    total = empty(TILE, Z_T)
    col_width = 0  # columns are not packed
    for tile_row in range(lo, hi):
        open_rows = (tile_bits(mask, tile_row * mask_stride) ^ mask_invert) & ROW
        first = np.int64(at(begin, tile_row))
        stop = np.int64(at(end, tile_row)) if open_rows != 0 else first
        # include: formats/b2sr/walk.cpu.py
        # include: formats/b2sr/close.cpu.py
