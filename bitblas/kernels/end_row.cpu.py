# Code fragment: epilogue of one row whose sum is complete (mask, accumulator, store). Follows ending.cpu.py.
if KIND != VALUES or BLEND:
    some = count > 0
if some:
    rows |= ONE << bit
    if KIND == COUNT:
        total = repeated(product, count)
    elif KIND == WORDS:
        total = product
    if STORE:
        value = ended(total, had >> bit & ONE != 0, w_val, w_iso, w_stride, row)
        if not W_BOOL:
            put(t_val, row, value)
        elif value:
            truths |= ONE << bit
