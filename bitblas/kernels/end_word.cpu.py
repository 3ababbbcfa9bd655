# The end of the statement for the rows of a word: statements of a kernel, after ending.cpu.py.
stay = kept(had, open_bits, rows, replace)
truths |= carry(stay, word << 6, w_val, w_iso, w_stride, moved, t_val)
put(t_bits, word, rows | stay)
if STORE and W_BOOL:
    put(t_val, word, truths)
