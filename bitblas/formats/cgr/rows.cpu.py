# Encode and decode CGR rows, and products of them. CPU twin of walk.cuh, convert.cu and products.cu.
IN_WORD = 32
SEGMENT = 256
LEAST = 4
NO_LIMIT = 1 << 62
summarized = False
# include: formats/blocks.cpu.py
# include: kernels/views.cpu.py
# include: kernels/products.cpu.py


@njit(**FUNCTION)
def gamma_at(words, place):
    """The gamma-coded number at bit `place`, and the position of the bit after it."""
    bits = window(words, place)
    twice = leading_zeros(bits) << np.uint64(1)
    return np.int64(bits >> (np.uint64(63) - twice)) - 1, place + np.int64(twice) + 1


@njit(**FUNCTION)
def open_kind(words, place):
    """Number of segments after the first, start of the first, its number of codes, and the bit before these: two gamma
    codes, the second of which is mostly in the loaded bits."""
    bits = window(words, place)
    twice = leading_zeros(bits) << np.uint64(1)
    more = np.int64(bits >> (np.uint64(63) - twice)) - 1
    area = place + np.int64(twice) + 1
    bits = bits << twice << np.uint64(1) if twice < np.uint64(32) else window(words, area)
    if bits >> np.uint64(48) == 0:
        bits = window(words, area)
    twice = leading_zeros(bits) << np.uint64(1)
    return more, area, np.int64(bits >> (np.uint64(63) - twice)) - 1, area + np.int64(twice) + 1


@njit(**FUNCTION)
def zeta_at(words, place):
    """The same for zeta_3."""
    bits = window(words, place)
    more = leading_zeros(bits) + np.uint64(1)
    return np.int64(bits << more >> (np.uint64(64) - np.uint64(3) * more)) - 1, place + 4 * np.int64(more)


@njit(**FUNCTION)
def unfolded(value):
    """The signed distance of a segment's first value from the row."""
    return value >> 1 ^ -(value & 1)


@njit(**FUNCTION)
def next_item(words, place, ahead, spare, runs, first, j):
    """Decode the next interval of a segment (`runs`) or its next residual: place, ahead and spare after it, and its
    first and last column. ahead: the `spare` bits from `place` on. first: it is the first one of its segment; otherwise
    j is the column before it."""
    length = np.int64(1)
    if runs:
        value, place = gamma_at(words, place)
        length, place = gamma_at(words, place)
        length += LEAST
    else:
        if spare < 44:  # a zeta_3 code has up to 44 bits
            ahead = window(words, place)
            spare = np.int64(64)
        more = leading_zeros(ahead) + np.uint64(1)
        value = np.int64(ahead << more >> (np.uint64(64) - np.uint64(3) * more)) - 1
        size = np.int64(more) << 2
        ahead <<= np.uint64(size)
        spare -= size
        place += size
    start = j + (unfolded(value) if first else value + 1)
    return place, ahead, spare, start, start + length - 1


# ---- A range of positions of a bitset. ----


@njit(**FUNCTION)
def range_in(word, low, high):
    """The bits of a bitset's word within a range of positions."""
    bits = ~np.uint64(0)
    if word == low >> 6:
        bits &= ~np.uint64(0) << np.uint64(low & 63)
    if word == high - 1 >> 6:
        bits &= ~np.uint64(0) >> np.uint64(63 - (high - 1 & 63))
    return bits


@njit(**FUNCTION)
def count_in(bits, low, length):
    found = np.int64(0)
    for word in range(low >> 6, (low + length - 1 >> 6) + 1):
        found += np.int64(popcount(at(bits, word) & range_in(word, low, low + length)))
    return found


# ---- Encode and decode. ----


@njit(**FUNCTION)
def gamma_size(x):
    return 2 * (63 - np.int64(leading_zeros(np.uint64(x + 1)))) + 1


@njit(**FUNCTION)
def zeta_size(x):
    return 4 * ((63 - np.int64(leading_zeros(np.uint64(x + 1)))) // 3 + 1)


@njit(**FUNCTION)
def put_code(words, place, code, size):
    bits = np.uint64(code) << np.uint64(64 - size)
    word = place >> 5
    shift = np.uint64(place & 31)
    put(words, word, at(words, word) | np.uint32(bits >> np.uint64(32) >> shift))
    if np.int64(shift) + size > 32:
        put(words, word + 1, at(words, word + 1) | np.uint32(bits >> shift & np.uint64(0xFFFFFFFF)))
    if np.int64(shift) + size > 64:
        third = bits << (np.uint64(32) - shift) & np.uint64(0xFFFFFFFF)
        put(words, word + 2, at(words, word + 2) | np.uint32(third))
    return place + size


@njit(**FUNCTION)
def put_gamma(words, place, x):
    return put_code(words, place, x + 1, gamma_size(x))


@njit(**FUNCTION)
def put_zeta(words, place, x):
    size = zeta_size(x)
    return put_code(words, place, np.int64(1) << size // 4 * 3 | x + 1, size)


@njit(**FUNCTION)
def seek(col, e, stop, runs):
    """The next interval from entry e on (runs), or the next residual, and the end of the consecutive columns."""
    end = e
    while e < stop:
        end = e + 1
        while end < stop and at(col, end) == at(col, end - 1) + 1:
            end += 1
        if (end - e >= LEAST) == runs:
            break
        e = end
    return e, end


@njit(**FUNCTION)
def follow(col, e, end, stop, runs):
    """The one after it."""
    following = end if runs else e + 1
    if following == end:
        return seek(col, end, stop, runs)
    return following, end


@njit(**FUNCTION)
def value_of(col, e, last, row, first):
    j = np.int64(at(col, e))
    return (j - row) << 1 ^ (j - row) >> 63 if first else j - last - 1


@njit(**FUNCTION)
def last_of(col, e, end, runs):
    return np.int64(at(col, end - 1 if runs else e))


@njit(**FUNCTION)
def pass_over(col, e, end, stop, row, runs, limit):
    """Pass over the codes of a segment of at most `limit` bits: their number, their bits, and the entry and the end
    (see seek) after them."""
    count = np.int64(0)
    size = np.int64(0)
    last = np.int64(0)
    while e < stop:
        value = value_of(col, e, last, row, count == 0)
        more = size + (gamma_size(value) + gamma_size(end - e - LEAST) if runs else zeta_size(value))
        if gamma_size(count + 1) + more > limit:
            break
        size = more
        count += 1
        last = last_of(col, e, end, runs)
        e, end = follow(col, e, end, stop, runs)
    return count, size, e, end


@njit(**FUNCTION)
def segments_of(col, row, begin, stop, runs):
    """Segments, and bits in total: a segment that is not filled joins the one before."""
    e, end = seek(col, begin, stop, runs)
    last, last_end = e, end
    filled = np.int64(0)
    count, size, after, after_end = pass_over(col, e, end, stop, row, runs, SEGMENT)
    while after < stop:
        filled += 1
        last, last_end = e, end
        e, end = after, after_end
        _, _, after, after_end = pass_over(col, e, end, stop, row, runs, SEGMENT)
    if filled > 0:
        count, size, _, _ = pass_over(col, last, last_end, stop, row, runs, NO_LIMIT)
    more = max(filled - 1, 0)
    return more + 1, gamma_size(more) + more * SEGMENT + gamma_size(count) + size


@njit(**FUNCTION)
def put_items(col, row, begin, stop, runs, words, place):
    """Write them; returns the bit after them."""
    segments, _ = segments_of(col, row, begin, stop, runs)
    area = put_gamma(words, place, segments - 1)
    e, end = seek(col, begin, stop, runs)
    for s in range(1, segments + 1):
        count, _, _, _ = pass_over(col, e, end, stop, row, runs, SEGMENT if s < segments else NO_LIMIT)
        place = put_gamma(words, area + (s - 1) * SEGMENT, count)
        last = np.int64(0)
        for k in range(count):
            value = value_of(col, e, last, row, k == 0)
            if runs:
                place = put_gamma(words, put_gamma(words, place, value), end - e - LEAST)
            else:
                place = put_zeta(words, place, value)
            last = last_of(col, e, end, runs)
            e, end = follow(col, e, end, stop, runs)
    return place


# Encode CSR rows as CGR codes.
# Parallel bounds are multiples of 32 rows, so threads share no words.
@njit(**KERNEL)
def encode(lo, hi, first, ptr, col, sizes, heads, ends, words):
    for row in range(lo, hi):
        begin = np.int64(at(ptr, row))
        stop = np.int64(at(ptr, row + 1))
        if FILL:
            put_end(heads, ends, words, row)
        place = np.int64(begin_of(heads, ends, row)) if FILL and begin < stop else np.int64(0)
        for kind in range(2 if begin < stop else 0):
            if FILL:
                place = put_items(col, first + row, begin, stop, kind == 0, words, place)
            else:
                place += segments_of(col, first + row, begin, stop, kind == 0)[1]
        if not FILL:
            put(sizes, row, place)


@njit(**FUNCTION)
def number_at(words, place, end, zeta):
    """A number, and the bit after it. FILL 2: that is -1 if the number is not within the limits."""
    if FILL == 2:
        if place < 0 or place >= end:
            return np.int64(0), np.int64(-1)
        if np.int64(leading_zeros(window(words, place))) > (10 if zeta else 31):
            return np.int64(0), np.int64(-1)
    found, after = zeta_at(words, place) if zeta else gamma_at(words, place)
    if FILL == 2 and (after > end or found < 0 or found > 0xFFFFFFFF):
        return np.int64(0), np.int64(-1)
    return found, after


@njit(**FUNCTION)
def checked_item(words, place, end, columns, runs, first, j):
    """The same as next_item within limits: the bit after it, or -1 if there is no item, and its last column."""
    value, place = number_at(words, place, end, not runs)
    more = np.int64(0)
    if runs:
        more, place = number_at(words, place, end, False)
        more += LEAST - 1
    j += unfolded(value) if first else value + 1
    return np.int64(-1) if j < 0 or j + more >= columns else place, j + more


# Decode CGR codes to CSR rows. The residuals are written behind the places of the intervals, and move forward when
# these are read again.
@njit(**KERNEL)
def decode(lo, hi, row_of, row_stride, columns, heads, words, counts, col, place):
    for k in range(lo, hi):
        row = k
        if row_stride != 0:
            row = np.int64(at(row_of, k))
        bit = row_begin(heads, words, row)
        end = row_end(heads, words, row)
        if bit == end:
            continue
        begin = bit
        inside = np.int64(0)  # entries in intervals
        e = np.int64(at(counts, k))
        in_runs = e  # in the layout's order: the next entry of an interval, the next residual, and the end
        other = e
        stop = e
        for turn in range(3 if FILL == 1 else 2):  # intervals, residuals, intervals
            runs = turn != 1
            if turn == 1:
                other += inside
                stop = other
            elif turn == 2:
                bit = begin
            if FILL == 2:
                more, area = number_at(words, bit, end, False)
                if more > 0 and more > (end - area) // SEGMENT:
                    area = np.int64(-1)
                left, bit = number_at(words, area, end, False)
            else:
                more, area, left, bit = open_kind(words, bit)
            for s in range(more + 1):
                if s > 0:
                    left, bit = number_at(words, area + s * SEGMENT, end, False)
                if FILL == 0 and not runs:
                    inside += left
                    continue
                if FILL == 2 and (bit < 0 or left > end - bit):
                    bit = np.int64(-1)
                    break
                j = np.int64(row)
                spare = np.int64(0)
                ahead = np.uint64(0)
                for number in range(left):
                    if FILL == 2:
                        bit, j = checked_item(words, bit, end, columns, runs, number == 0, j)
                        if bit < 0:
                            break
                        continue
                    bit, ahead, spare, start, j = next_item(words, bit, ahead, spare, runs, number == 0, j)
                    if turn == 0:
                        inside += j - start + 1
                    elif turn == 1:
                        put(col, stop, j)
                        stop += 1
                    else:
                        while other < stop and at(col, other) < start:
                            put(col, e, at(col, other))
                            if ORDER:
                                put(place, e, other)
                            e += 1
                            other += 1
                        length = j - start + 1
                        for x in range(length):
                            put(col, e + x, start + x)
                            if ORDER:
                                put(place, e + x, in_runs + x)
                        e += length
                        in_runs += length
        if FILL == 1 and ORDER:
            for x in range(other, stop):
                put(place, x, x)
        if FILL == 0:
            put(counts, k, inside)
        if FILL == 2:
            put(counts, k, np.int64(bit < 0))


# Symmetry test: per group of rows, the hash difference of entries and their mirror images.
@njit(**KERNEL)
def mirror(lo, hi, rows, heads, words, sums):
    for group in range(lo, hi):
        total = np.uint64(0)
        for row in range(group << 5, min(group + 1 << 5, rows)):
            left = scramble(row)
            place = row_begin(heads, words, row)
            for runs in range(1 if row_end(heads, words, row) > place else -1, -1, -1):  # intervals, then residuals
                parts, area, left_over, place = open_kind(words, place)
                for s in range(parts + 1):
                    if s > 0:
                        left_over, place = gamma_at(words, area + s * SEGMENT)
                    spare = np.int64(0)
                    ahead = np.uint64(0)
                    j = np.int64(row)
                    for number in range(left_over):
                        place, ahead, spare, start, j = next_item(words, place, ahead, spare, runs, number == 0, j)
                        for column in range(start, j + 1):
                            total += unlike_mirror(left, scramble(column))
        put(sums, group, total)


# ---- Products. ----


# Pull SpMV: w<mask, accum, replace> = A (+).(x) u.
# Parallel bounds are multiples of 64 rows, so threads share no words of t.
@njit(**KERNEL)
def pull(
    lo,
    hi,
    longest,
    rows: RowsView,
    words,
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
                        left, place = gamma_at(words, area + s * SEGMENT)
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
                            left -= 1
                            place, ahead, spare, start, j = next_item(words, place, ahead, spare, runs, first, j)
                            first = False
                            length = j - start + 1
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
    for w in range(lo, hi):
        active = at(u.bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            x = load_u(u.values, u.iso, u.stride, row)
            place = row_begin(begin, words, row)
            if row_end(begin, words, row) == place:
                continue
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            for runs in range(1, -1, -1):  # intervals, then residuals
                parts, area, left, place = open_kind(words, place)
                for s in range(parts + 1):
                    if s > 0:
                        left, place = gamma_at(words, area + s * SEGMENT)
                    spare = np.int64(0)
                    ahead = np.uint64(0)
                    j = np.int64(row)
                    first = True
                    while left > 0:
                        left -= 1
                        place, ahead, spare, start, j = next_item(words, place, ahead, spare, runs, first, j)
                        first = False
                        if KIND == WORDS and runs:
                            for k in range(start >> 6, (j >> 6) + 1):
                                some = (at(mask.bits, k * mask.stride) ^ mask.invert) & range_in(k, start, j + 1)
                                put(t.bits, k, at(t.bits, k) | some)
                            continue
                        last = j
                        j = start
                        while j <= last:
                            # include: kernels/fragments.cpu.py pushed
                            j += 1
                            if RANKED:
                                e += 1
                        j = last
    if KIND == COUNT:
        close_counts(0, t.bits.size, t.bits, t.values, counts, product)
