# Push SpMV on tiles: t = A' (+).(x) u by the tile rows where u has entries. CPU twin of push.cu.
# Units are the 64-bit words of t: each range reads all of u and takes the tiles over its own words.
# include: formats/b2sr/tile.cpu.py
# include: formats/b2sr/fold.cpu.py
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
# include: formats/csr/search.cpu.py
LISTED = 0


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_stride, col, bits, value_ptr, a_val, a_iso, a_stride, u_bits, u_val,
         u_iso, u_stride, mask, mask_stride, mask_invert, product, counts, t_bits, t_val):  # fmt: skip
    col_width = 0  # columns are not packed
    whole = lo == 0 and hi == t_bits.size
    w = filled(u_bits, 0, u_bits.size)
    while w < u_bits.size:
        word_left = at(u_bits, w)
        # include: formats/b2sr/word.cpu.py
        w = filled(u_bits, w + 1, u_bits.size)
    if KIND == COUNT:
        close_counts(lo, hi, t_bits, t_val, counts, product)
