# Pull SpMV on nibble rows: w<mask, accum, replace> = A (+).(x) u. CPU twin of pull.cu.
# Parallel bounds are multiples of 64 rows, so threads share no words of t.
# include: formats/nib/row.cpu.py
# include: kernels/products.cpu.py


@njit(**FUNCTION)
def bits_up_to(stop):
    """Value bits (3 per nibble) up to bit `stop` of a window, at which a value ends."""
    return stop - (stop >> np.uint64(2))


@njit(**FUNCTION)
def read_on(words, place, limit):
    """A window from `place` on: the ends of values in it, their bits, and the start of the next window."""
    nibbles = nibbles_at(words, place, limit)
    ends = nibbles & STOPS
    return ends, without_stops(nibbles), place + 16 - np.int64(leading_zeros(ends | ONE) >> np.uint64(2))


@njit(**FUNCTION)
def read_first(words, place, limit, row):
    """The same for the start of a row, which may be empty, and the column relative to which its first value is a
    gap."""
    ends = np.uint64(0)
    threes = np.uint64(0)
    j = row
    if place < limit:
        ends, threes, place = read_on(words, place, limit)
        code = threes & ((ONE << bits_up_to(trailing_zeros(ends))) - ONE)
        j += unfolded(code) - np.int64(code) - 1
    return ends, threes, place, j


@njit(**KERNEL)
def pull(
    lo, hi, longest, rows: RowsView, words, value_ptr, a: Values, u: VectorView, mask: MaskView, product, to: Epilogue
):
    # A window is loaded before the columns of the previous one are used: their ends are unpredictable, and code after a
    # misprediction would wait for the load. The first window of row `ready` is loaded.
    ready = np.int64(-1)
    limit = np.int64(0)  # of the row whose window was loaded last
    following = np.int64(0)  # start of its next window
    next_ends = np.uint64(0)
    next_threes = np.uint64(0)
    next_j = np.int64(0)
    start = np.uint64(0)  # of the row's group: group_at
    width = np.uint64(0)
    first = np.uint64(0)
    room = np.uint64(0)
    for word in range(lo >> 6, (hi + 63) >> 6):
        rest = at(mask.bits, word * mask.stride) ^ mask.invert
        # include: kernels/fragments.cpu.py rows_of_word
        while rest != 0:
            # include: kernels/fragments.cpu.py next_row
            if U_FULL and KIND != VALUES:
                place = row_begin(rows.begin, words, row)
                stop = row_end(rows.begin, words, row)
                if KIND == WORDS:
                    count = np.int64(stop > place)
                while KIND == COUNT and place < stop:
                    count += np.int64(popcount(nibbles_at(words, place, stop) & STOPS))
                    place = place + 16 & -2
            else:
                if row != ready:
                    start, width, first, room = group_at(rows.begin, row >> 5)
                    number = np.uint64(row & 31)
                    following = np.int64(first)
                    if number != 0:
                        following = end_in(words, start, width, first, room, number - ONE)
                    limit = end_in(words, start, width, first, room, number)
                    next_ends, next_threes, following, next_j = read_first(words, following, limit, row)
                ready = np.int64(-1)
                e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
                if U_FULL and BLEND:
                    count = np.int64(next_ends != 0)
                going = True
                j = next_j
                while going:
                    ends = next_ends
                    threes = next_threes
                    if following < limit:
                        next_ends, next_threes, following = read_on(words, following, limit)
                    else:
                        going = False
                        if row + 1 < hi:
                            ready = row + 1
                            following = limit
                            if ready & 31 == 0:
                                start, width, first, room = group_at(rows.begin, ready >> 5)
                                following = np.int64(first)
                            limit = end_in(words, start, width, first, room, np.uint64(ready & 31))
                            next_ends, next_threes, following, next_j = read_first(words, following, limit, ready)
                    read = np.uint64(0)
                    while ends != 0:
                        last = trailing_zeros(ends)
                        ends = drop_lowest(ends)
                        upto = bits_up_to(last)
                        j += np.int64((threes & ((ONE << upto) - ONE)) >> read) + 1
                        read = upto
                        if BLEND:
                            z = mul(value_at(a, e), load_u(u.values, u.iso, u.stride, j), row, j)
                            # include: kernels/fragments.cpu.py blended
                        elif KIND == COUNT:
                            count += np.int64(at(u.bits, j >> 6) >> np.uint64(j & 63) & ONE)
                        elif U_FULL or bit_of(u.bits, j):
                            if KIND == VALUES:
                                z = mul(value_at(a, e), load_u(u.values, u.iso, u.stride, j), row, j)
                                total = add(total, z) if some else z
                                some = True
                                if is_final(total):
                                    going = False
                                    break
                            else:
                                count += 1
                                going = False
                                break
                        if RANKED:
                            e += 1
            # include: kernels/fragments.cpu.py end_row
        # include: kernels/fragments.cpu.py end_word
