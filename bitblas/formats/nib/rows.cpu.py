# Encode and decode nibble rows, test their symmetry, and products of them. CPU twin of walk.cuh, convert.cu and
# products.cu.
IN_WORD = 8
STOPS = np.uint64(0x8888888888888888)
summarized = False
# include: formats/blocks.cpu.py
# include: kernels/views.cpu.py
# include: kernels/products.cpu.py


@njit(**FUNCTION)
def nibbles_at(words, place, stop):
    """The sixteen nibbles from `place` on (fifteen if it is odd) up to `stop`; others are zero. A value ends among
    them."""
    found = word_at(words, place >> 1) >> np.uint64((place & 1) << 2)
    left = min(stop - place, 16)
    return found & ~np.uint64(0) >> np.uint64(64 - (left << 2))


@njit(**FUNCTION)
def without_stops(x):
    """The 3 low bits of each of sixteen nibbles, concatenated."""
    x = (x & np.uint64(0x0707070707070707)) | (x & np.uint64(0x7070707070707070)) >> np.uint64(1)
    x = (x & np.uint64(0x003F003F003F003F)) | (x & np.uint64(0x3F003F003F003F00)) >> np.uint64(2)
    x = (x & np.uint64(0x00000FFF00000FFF)) | (x & np.uint64(0x0FFF00000FFF0000)) >> np.uint64(4)
    return (x & np.uint64(0xFFFFFF)) | (x >> np.uint64(8) & np.uint64(0xFFFFFF000000))


@njit(**FUNCTION)
def unfolded(value):
    """The signed distance of a row's first column from the row."""
    return np.int64(value >> np.uint64(1)) ^ -np.int64(value & np.uint64(1))


@njit(**FUNCTION)
def read_window(words, place, stop, first, j):
    """The nibbles of a row from `place` on, as many as one read gives: the ends of values, and their bits. In the first
    window of a row, column j is shifted so that the row's first value is decoded like the others."""
    nibbles = nibbles_at(words, place, stop)
    ends = nibbles & STOPS
    threes = without_stops(nibbles)
    if first:
        last = (trailing_zeros(ends) >> np.uint64(2)) * np.uint64(3)
        code = threes & ((np.uint64(8) << last) - np.uint64(1))
        j += unfolded(code) - np.int64(code) - 1
    return ends, threes, j


@njit(**FUNCTION)
def next_column(ends, threes, read, j):
    """Decode the column after j: the remaining ends of a window, the nibble at which the value ends, the bits read so
    far, and the column."""
    last = trailing_zeros(ends) >> np.uint64(2)
    upto = last * np.uint64(3) + np.uint64(3)
    j += np.int64(threes >> read & ((np.uint64(1) << upto - read) - np.uint64(1))) + 1
    return drop_lowest(ends), last, upto, j


# ---- Encode and decode. ----


# Encode CSR rows as nibbles.
# Parallel bounds are multiples of 32 rows, so threads share no words.
@njit(**KERNEL)
def encode(lo, hi, first, ptr, col, sizes, heads, ends, words):
    for row in range(lo, hi):
        begin = np.int64(at(ptr, row))
        stop = np.int64(at(ptr, row + 1))
        place = np.uint64(0)
        size = np.int64(0)
        if FILL:
            put_end(heads, ends, words, row)
            place = begin_of(heads, ends, row) << np.uint64(2)
        last = first + row
        for e in range(begin, stop):
            j = np.int64(at(col, e))
            apart = j - last
            value = np.uint64(apart - 1) if e > begin else np.uint64(apart << 1 ^ apart >> 63)
            last = j
            if FILL:
                code = np.uint64(0)
                length = np.uint64(0)
                while value > np.uint64(7):
                    code |= (value & np.uint64(7)) << length
                    value >>= np.uint64(3)
                    length += np.uint64(4)
                put_bits(words, place, code | (value | np.uint64(8)) << length)
                place += length + np.uint64(4)
            else:
                size += 1
                while value > np.uint64(7):
                    value >>= np.uint64(3)
                    size += 1
        if not FILL:
            put(sizes, row, size)


# Decode nibble rows to CSR rows.
@njit(**KERNEL)
def decode(lo, hi, row_of, row_stride, columns, heads, words, counts, col, numbers):
    place = np.int64(0)
    for k in range(lo, hi):
        row = k
        if row_stride != 0:
            row = np.int64(at(row_of, k))
        if row_stride != 0 or k == lo or row & 31 == 0:  # otherwise a row begins at the end of the previous one
            place = row_begin(heads, words, row)
        stop = row_end(heads, words, row)
        if not FILL:
            count = np.int64(0)
            while place < stop:
                count += np.int64(popcount(nibbles_at(words, place, stop) & STOPS))
                place = place + 16 & -2
            put(counts, k, count)
        else:
            j = row
            e = np.int64(at(counts, k))
            first = True
            while place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                last = np.uint64(0)
                read = np.uint64(0)
                while ends != 0:
                    ends, last, read, j = next_column(ends, threes, read, j)
                    put(col, e, j)
                    e += 1
                place += np.int64(last) + 1
        place = stop


# Symmetry test on nibble rows: per group of rows, the hash difference between entries and their mirror images.
@njit(**KERNEL)
def mirror(lo, hi, rows, heads, words, sums):
    for group in range(lo, hi):
        total = np.uint64(0)
        place = row_begin(heads, words, group << 5)
        for row in range(group << 5, min(group + 1 << 5, rows)):
            left = scramble(row)
            stop = row_end(heads, words, row)
            j = row
            first = True
            while place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                last = np.uint64(0)
                read = np.uint64(0)
                while ends != 0:
                    ends, last, read, j = next_column(ends, threes, read, j)
                    total += unlike_mirror(left, scramble(j))
                place += np.int64(last) + 1
        put(sums, group, total)


# ---- Products. ----


# Pull SpMV: w<mask, accum, replace> = A (+).(x) u.
# Parallel bounds are multiples of 64 rows, so threads share no words of t.


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


# Push SpMV: t = A' (+).(x) u by the entries of u. Units are the 64-bit words of u; one thread.
@njit(**KERNEL)
def push(
    lo,
    hi,
    longest,
    begin,
    end,
    row_of,
    row_stride,
    words,
    value_ptr,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    w = filled(u.bits, lo, hi)
    while w < hi:
        active = at(u.bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            x = load_u(u.values, u.iso, u.stride, row)
            place = row_begin(begin, words, row)
            stop = row_end(begin, words, row)
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            j = row
            first = True
            while place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                last = np.uint64(0)
                read = np.uint64(0)
                while ends != 0:
                    ends, last, read, j = next_column(ends, threes, read, j)
                    # include: kernels/fragments.cpu.py pushed
                    if RANKED:
                        e += 1
                place += np.int64(last) + 1
        w = filled(u.bits, w + 1, hi)
    if KIND == COUNT:
        close_counts(0, t.bits.size, t.bits, t.values, counts, product)
