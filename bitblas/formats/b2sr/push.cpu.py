# t = A' (+).(x) u by the tile rows that u touches, the twin of push.cu. Units are the 64-bit words of u; one thread.
# include: formats/b2sr/tile.cpu.py
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
GROUPS = 64 // TILE  # tile rows in a word of u


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_stride, col, bits, value_ptr, a_val, a_iso, a_stride, u_bits, u_val,
         u_iso, u_stride, mask, mask_stride, mask_invert, product, counts, t_bits, t_val):  # fmt: skip
    col_width = 0  # columns are plain
    for w in range(lo, hi):
        if at(u_bits, w) == 0:
            continue
        for tile_row in range(w * GROUPS, min((w + 1) * GROUPS, begin.size)):
            active = tile_bits(u_bits, tile_row)
            if active == 0:
                continue
            first = np.int64(at(begin, tile_row))
            stop = np.int64(at(end, tile_row))
            # include: formats/b2sr/scatter.cpu.py
    if KIND == COUNT:
        close_counts(t_bits, t_val, counts, product)
