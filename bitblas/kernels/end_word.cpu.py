# Code fragment: epilogue of the 64 rows of a word: write their bits and keep old entries. Follows ending.cpu.py.
stay = kept(had, open_bits, rows, replace)
truths |= carry(stay, word << 6, w_val, w_iso, w_stride, moved, t_val)
put(t_bits, word, rows | stay)
if STORE and W_BOOL:
    put(t_val, word, truths)
