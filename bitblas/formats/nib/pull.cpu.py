# w<mask, accum, replace> = A (+).(x) u row by row, the twin of pull.cu. Parallel bounds are multiples of 64 rows:
# words of t are not shared.
# include: formats/nib/row.cpu.py
# include: kernels/values.cpu.py
# include: kernels/ending.cpu.py


@njit(**KERNEL)
def pull(lo, hi, longest, begin, end, row_of, row_stride, words, value_ptr, a_val, a_iso, a_stride, u_bits, u_val,
         u_iso, u_stride, mask, mask_stride, mask_invert, product, w_bits, w_val, w_iso, w_stride, moved, replace,
         t_bits, t_val):  # fmt: skip
    follows = np.int64(-1)
    limit = np.int64(0)
    for word in range(lo >> 6, (hi + 63) >> 6):
        rest = at(mask, word * mask_stride) ^ mask_invert
        # include: kernels/rows_of_word.cpu.py
        while rest != 0:
            # include: kernels/next_row.cpu.py
            place = limit if row == follows and row & 31 != 0 else row_begin(begin, words, row)
            limit = row_end(begin, words, row)
            follows = row + 1
            stop = limit
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            j = row
            first = True
            if U_FULL and (KIND == WORDS or BLEND):
                count = np.int64(stop > place)
            while KIND == COUNT and U_FULL and place < stop:
                count += np.int64(popcount(window(words, place, stop) & STOPS))
                place = place + 16 & -2
            while place < stop and not (U_FULL and KIND == WORDS):
                # include: formats/nib/window.cpu.py
                while ends != 0:
                    # include: formats/nib/next.cpu.py
                    if BLEND:  # what u lacks adds what is neutral
                        z = mul(value_at(a_val, a_iso, a_stride, e), load_u(u_val, u_iso, u_stride, j), row, j)
                        if U_FULL:
                            total = add(total, z)
                        else:
                            hit = at(u_bits, j >> 6) >> np.uint64(j & 63) & ONE
                            total = add(total, chosen(hit, z, BEGIN))
                            count += np.int64(hit)
                    elif U_FULL or bit_of(u_bits, j):
                        if KIND == VALUES:
                            z = mul(value_at(a_val, a_iso, a_stride, e), load_u(u_val, u_iso, u_stride, j), row, j)
                            total = add(total, z) if some else z
                            some = True
                            if is_final(total):
                                stop = np.int64(0)
                                break
                        else:
                            count += 1
                            if KIND == WORDS:
                                stop = np.int64(0)
                                break
                    if RANKED:
                        e += 1
                place += np.int64(last) + 1
            # include: kernels/end_row.cpu.py
        # include: kernels/end_word.cpu.py
