# Pull SpMV by rows: w<mask, accum, replace> = A (+).(x) u. CPU twin of pull.cu.
# Parallel bounds are multiples of 64 rows, so threads share no words of t.
# include: kernels/products.cpu.py
# include: formats/csr/columns.cpu.py
EXACT = 2  # BLEND: sums are also exact, so four products are combined before they are added to the sum


@njit(**KERNEL)
def pull(
    lo, hi, longest, rows: RowsView, col: ColumnsView, a: Values, u: VectorView, mask: MaskView, product, to: Epilogue
):
    last = np.int64(at(rows.end, rows.end.size - 1)) - 1
    mostly = KIND == WORDS and not U_FULL and last >= 0 and is_mostly_full(u.bits)
    for word in range(lo >> 6, (hi + 63) >> 6):
        rest = at(mask.bits, word * mask.stride) ^ mask.invert
        # include: kernels/fragments.cpu.py rows_of_word
        if U_FULL and KIND == COUNT and STORE and not MERGE and not W_BOOL and rest == ~np.uint64(0):  # vectorized
            for d in range(64):
                row = (word << 6) + d
                count = np.int64(at(rows.end, row)) - np.int64(at(rows.begin, row))
                put(to.t.values, row, take(repeated(product, count)))
                summed |= np.uint64(count > 0) << np.uint64(d)
            rest = np.uint64(0)
        # Mostly full: test the first entry of each row.
        if KIND == WORDS and not U_FULL and not STORE and mostly and rest == ~np.uint64(0):
            lacking = np.uint64(0)  # rows without a hit there
            for d in range(64):
                row = (word << 6) + d
                e = np.int64(at(rows.begin, row))
                any_entry = np.uint64(e < np.int64(at(rows.end, row)))
                j = column(col, min(e, last))
                hit = at(u.bits, j >> 6) >> np.uint64(j & 63) & any_entry
                summed |= hit << np.uint64(d)
                lacking |= (hit ^ any_entry) << np.uint64(d)
            rest = lacking
        while rest != 0:
            # include: kernels/fragments.cpu.py next_row
            e = np.int64(at(rows.begin, row))
            stop = np.int64(at(rows.end, row))
            if U_FULL and (KIND == WORDS or BLEND):
                count = np.int64(stop > e)
            elif KIND == WORDS:  # entries by four, without branches between them
                hit = np.uint64(0)
                if mostly and e < stop:  # mostly full: the first one nearly always hits
                    j = column(col, e)
                    hit = at(u.bits, j >> 6) >> np.uint64(j & 63)
                    e += 1
                elif stop - e >= 4:
                    for d in range(4):
                        j = column(col, e + d)
                        hit |= at(u.bits, j >> 6) >> np.uint64(j & 63)
                    e += 4
                while e < stop and hit & ONE == 0:  # at the end the last one is repeated, which OR ignores
                    for d in range(4):
                        j = column(col, min(e + d, stop - 1))
                        hit |= at(u.bits, j >> 6) >> np.uint64(j & 63)
                    e += 4
                count = np.int64(hit & ONE)
            # Missing entries of u add the neutral value, which avoids unpredictable branches.
            while BLEND and stop - e >= 4:
                before = total
                total = BEGIN if BLEND == EXACT else total
                for d in range(4):
                    j = column(col, e + d)
                    z = mul(value_at(a, e + d), load_u(u.values, u.iso, u.stride, j), row, j)
                    # include: kernels/fragments.cpu.py blended
                total = add(before, total) if BLEND == EXACT else total
                e = opaque(e + 4)
            if BLEND and e < stop:  # the remaining ones too: beyond the end the last one is repeated with weight 0
                for d in range(3):
                    p = min(e + d, stop - 1)
                    j = column(col, p)
                    z = mul(value_at(a, p), load_u(u.values, u.iso, u.stride, j), row, j)
                    hit = np.uint64(e + d < stop)
                    if not U_FULL:
                        hit &= at(u.bits, j >> 6) >> np.uint64(j & 63)
                        count += np.int64(hit)
                    total = add(total, chosen(hit, z, BEGIN))
                e = stop
            if KIND == COUNT and U_FULL:
                count = stop - e
            while KIND == COUNT and not U_FULL and e < stop:  # which entries u has is unpredictable
                j = column(col, e)
                count += np.int64(at(u.bits, j >> 6) >> np.uint64(j & 63) & ONE)
                e = opaque(e + 1)
            while KIND == VALUES and e < stop:
                j = column(col, e)
                if U_FULL or bit_of(u.bits, j):
                    z = mul(value_at(a, e), load_u(u.values, u.iso, u.stride, j), row, j)
                    total = add(total, z) if some else z
                    some = True
                    if is_final(total):
                        break
                e += 1
            # include: kernels/fragments.cpu.py end_row
        # include: kernels/fragments.cpu.py end_word
