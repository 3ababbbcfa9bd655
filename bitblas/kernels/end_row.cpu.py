# Code fragment: epilogue of one row whose sum is complete (mask, accumulator, store). Follows ending.cpu.py.
if KIND != VALUES or BLEND:
    some = count > 0
if some:
    summed |= ONE << bit
    if KIND == COUNT:
        total = repeated(product, count)
    elif KIND == WORDS:
        total = product
    if STORE:
        value = ended(total, had >> bit & ONE != 0, to.w.values, to.w.iso, to.w.stride, row)
        if not W_BOOL:
            put(to.t.values, row, value)
        elif value:
            truths |= ONE << bit
