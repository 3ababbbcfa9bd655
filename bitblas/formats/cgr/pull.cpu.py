# Pull SpMV on CGR rows: w<mask, accum, replace> = A (+).(x) u. CPU twin of pull.cu.
# Parallel bounds are multiples of 64 rows, so threads share no words of t.
# include: formats/cgr/code.cpu.py
# include: kernels/products.cpu.py


@njit(**KERNEL)
def pull(
    lo,
    hi,
    longest,
    rows: RowsView,
    words,
    segment,
    value_ptr,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    to: Epilogue,
):
    for word in range(lo >> 6, (hi + 63) >> 6):
        rest = at(mask.bits, word * mask.stride) ^ mask.invert
        # include: kernels/fragments.cpu.py rows_of_word
        while rest != 0:
            # include: kernels/fragments.cpu.py next_row
            place = row_begin(rows.begin, words, row)
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            going = row_end(rows.begin, words, row) > place
            if U_FULL and (KIND == WORDS or BLEND):
                count = np.int64(going)
                going = going and KIND != WORDS
            for runs in range(1 if going else -1, -1, -1):  # intervals, then residuals
                parts, area, left, place = open_kind(words, place)
                for s in range(parts + 1):
                    if s > 0:
                        left, place = gamma_at(words, area + s * segment)
                    if U_FULL and KIND == COUNT and not runs:
                        count += left
                        left = np.int64(0)
                    spare = np.int64(0)
                    ahead = np.uint64(0)
                    j = np.int64(row)
                    first = True
                    length = np.int64(0)  # columns left in the interval
                    while going and left + length > 0:
                        if length > 0:
                            j += 1
                            length -= 1
                        else:
                            # include: formats/cgr/next.cpu.py
                            if KIND == VALUES:
                                j = start
                                length -= 1
                        if KIND != VALUES:
                            if U_FULL:
                                count += length
                            elif runs:
                                count += count_in(u.bits, start, length)
                            else:
                                count += np.int64(bit_of(u.bits, j))
                            going = KIND != WORDS or count == 0
                            length = np.int64(0)
                        else:
                            if BLEND:  # missing entries of u add the neutral value
                                z = mul(value_at(a, e), load_u(u.values, u.iso, u.stride, j), row, j)
                                # include: kernels/fragments.cpu.py blended
                            elif U_FULL or bit_of(u.bits, j):
                                z = mul(value_at(a, e), load_u(u.values, u.iso, u.stride, j), row, j)
                                total = add(total, z) if some else z
                                some = True
                                if is_final(total):
                                    going = False
                            if RANKED:
                                e += 1
                    if not going:
                        break
                if not going:
                    break
            # include: kernels/fragments.cpu.py end_row
        # include: kernels/fragments.cpu.py end_word
