# Code fragment: epilogue of a tile row. CPU twin of close.cuh; follows walk.cpu.py.
if KIND == COUNT:
    for r in range(TILE):
        if at(count, r) > 0:
            rows |= ONE << np.uint64(r)
            put(total, r, repeated(product, at(count, r)))
rows &= open_rows
row = tile_row << LOG_TILE
target = row >> 6
shift = np.uint64(row & 63)
had = tile_bits(w_bits, tile_row) if MERGE else np.uint64(0)
truths = np.uint64(0)
rest = rows
while STORE and rest != 0:
    r = np.int64(trailing_zeros(rest))
    rest = drop_lowest(rest)
    found = product if KIND == WORDS else at(total, r)
    value = ended(found, had >> np.uint64(r) & ONE != 0, w_val, w_iso, w_stride, row + r)
    if not W_BOOL:
        put(t_val, row + r, value)
    elif value:
        truths |= ONE << np.uint64(r)
stay = kept(had, open_rows, rows, replace)
truths |= carry(stay, row, w_val, w_iso, w_stride, moved, t_val)
put(t_bits, target, (at(t_bits, target) & ~(ROW << shift)) | (rows | stay) << shift)
if STORE and W_BOOL:
    put(t_val, target, (at(t_val, target) & ~(ROW << shift)) | truths << shift)
