# Code fragment: epilogue of the 64 rows of a word: write their bits and keep old entries. Follows ending.cpu.py.
stay = kept(had, open_bits, summed, to.replace)
truths |= carry(stay, word << 6, to.w.values, to.w.iso, to.w.stride, to.moved, to.t.values)
put(to.t.bits, word, summed | stay)
if STORE and W_BOOL:
    put(to.t.values, word, truths)
