# Encode and decode CGR rows. CPU twin of convert.cu.
# include: formats/cgr/code.cpu.py


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
def size_of(value, length, runs):
    return gamma_size(value) + gamma_size(length - LEAST) if runs else zeta_size(value)


@njit(**FUNCTION)
def last_of(col, e, end, runs):
    return np.int64(at(col, end - 1 if runs else e))


@njit(**FUNCTION)
def segments_of(col, row, begin, stop, runs, segment):
    """Segments, and bits in total: a segment that is not filled joins the one before."""
    e, end = seek(col, begin, stop, runs)
    segments = np.int64(0)
    count = np.int64(0)
    full = np.int64(0)
    size = np.int64(0)
    joined = np.int64(0)
    before = np.int64(0)
    last = np.int64(0)
    while e < stop:
        more = size_of(value_of(col, e, last, row, count == 0), end - e, runs)
        if gamma_size(count + 1) + size + more > segment:
            before = size
            full = count
            segments += 1
            size = np.int64(0)
            joined = np.int64(0)
            count = np.int64(0)
            more = size_of(value_of(col, e, last, row, True), end - e, runs)
        joined += size_of(value_of(col, e, last, row, segments == 0), end - e, runs) if count == 0 else more
        size += more
        count += 1
        last = last_of(col, e, end, runs)
        e, end = follow(col, e, end, stop, runs)
    if segments == 0:
        return np.int64(1), gamma_size(0) + gamma_size(count) + size
    more = gamma_size(segments - 1) + (segments - 1) * segment + gamma_size(full + count)
    return segments, more + before + joined


@njit(**FUNCTION)
def put_items(col, row, begin, stop, runs, segment, words, place):
    """Write them; returns the bit after them."""
    segments, _ = segments_of(col, row, begin, stop, runs, segment)
    place = put_gamma(words, place, segments - 1)
    area = place
    e, end = seek(col, begin, stop, runs)
    last = np.int64(0)
    for s in range(1, segments + 1):
        count = np.int64(0)
        size = np.int64(0)
        ahead, ahead_end, ahead_last = e, end, last
        while ahead < stop:
            size += size_of(value_of(col, ahead, ahead_last, row, count == 0), ahead_end - ahead, runs)
            if s < segments and gamma_size(count + 1) + size > segment:
                break
            count += 1
            ahead_last = last_of(col, ahead, ahead_end, runs)
            ahead, ahead_end = follow(col, ahead, ahead_end, stop, runs)
        place = put_gamma(words, place, count)
        for k in range(count):
            value = value_of(col, e, last, row, k == 0)
            if runs:
                place = put_gamma(words, put_gamma(words, place, value), end - e - LEAST)
            else:
                place = put_zeta(words, place, value)
            last = last_of(col, e, end, runs)
            e, end = follow(col, e, end, stop, runs)
        if s < segments:
            place = area + s * segment
    return place


# Encode CSR rows as CGR codes.
# Parallel bounds are multiples of 32 rows, so threads share no words.
@njit(**KERNEL)
def encode(lo, hi, segment, longest, row_of, parts, ptr, col, sizes, heads, ends, words):
    for row in range(lo, hi):
        begin = np.int64(at(ptr, row))
        stop = np.int64(at(ptr, row + 1))
        if FILL:
            put_end(heads, ends, words, row)
            if begin < stop:
                place = np.int64(begin_of(heads, ends, row))
                for kind in range(2):
                    place = put_items(col, row, begin, stop, kind == 0, segment, words, place)
        elif begin < stop:
            size = np.int64(0)
            for kind in range(2):
                _, bits = segments_of(col, row, begin, stop, kind == 0, segment)
                size += bits
            put(sizes, row, size)


# ---- Read the intervals of a row, or its residuals, segment by segment. ----
# The state of a part: the next bit, the codes left in the segment, the last column, whether the segment's first code
# is still unread, the number of segments, the number of the current one, and the start of the first.


@njit(**FUNCTION)
def open_part(words, place, row):
    more, area = gamma_at(words, place)
    left, place = gamma_at(words, area)
    return place, left, np.int64(row), True, more + 1, np.int64(0), area


@njit(**FUNCTION)
def go_on(words, segment, part, row, place, column):
    """State after a value that ended before bit `place` with that column."""
    _, left, _, _, segments, number, area = part
    if left > 1 or number + 1 >= segments:
        return place, left - 1, column, False, segments, number, area
    left, place = gamma_at(words, area + (number + 1) * segment)
    return place, left, np.int64(row), True, segments, number + 1, area


@njit(**FUNCTION)
def residual(words, segment, part, row):
    """State after the next column, and that column."""
    place, _, column, first, _, _, _ = part
    value, place = zeta_at(words, place)
    column += unfolded(value) if first else value + 1
    return go_on(words, segment, part, row, place, column), column


@njit(**FUNCTION)
def interval(words, segment, part, row):
    """State after the next interval, its first column, and its length."""
    place, _, column, first, _, _, _ = part
    value, place = gamma_at(words, place)
    length, place = gamma_at(words, place)
    column += unfolded(value) if first else value + 1
    length += LEAST
    return go_on(words, segment, part, row, place, column + length - 1), column, length


@njit(**FUNCTION)
def careful(words, place, end, zeta):
    """Read a number within limits, and the position of the bit after it: -1 if there is none."""
    if place < 0 or place >= end:
        return np.int64(0), np.int64(-1)
    bits = window(words, place)
    zeros = np.int64(leading_zeros(bits))
    if zeros > (10 if zeta else 31):
        return np.int64(0), np.int64(-1)
    found, after = zeta_at(words, place) if zeta else gamma_at(words, place)
    if after > end or found < 0 or found > 0xFFFFFFFF:
        return np.int64(0), np.int64(-1)
    return found, after


@njit(**FUNCTION)
def check_part(words, place, end, segment, row, columns, runs):
    """The bit after the intervals of a row, or after its residuals; -1 if they are invalid."""
    more, area = careful(words, place, end, False)
    if area < 0 or (more > 0 and more > (end - area) // segment):
        return np.int64(-1)
    place = area
    for s in range(more + 1):
        count, place = careful(words, area + s * segment if s > 0 else area, end, False)
        if place < 0 or count > end - place:
            return np.int64(-1)
        column = np.int64(row)
        for k in range(count):
            value, place = careful(words, place, end, not runs)
            column += value + 1 if k > 0 else unfolded(value)
            length = np.int64(1)
            if runs:
                length, place = careful(words, place, end, False)
                length += LEAST
            if place < 0 or column < 0 or column + length > columns:
                return np.int64(-1)
            column += length - 1
    return place


# Decode CGR codes to CSR rows.
@njit(**KERNEL)
def decode(lo, hi, row_of, row_stride, columns, segment, heads, words, counts, col, place):
    for k in range(lo, hi):
        row = k
        if row_stride != 0:
            row = np.int64(at(row_of, k))
        begin = row_begin(heads, words, row)
        end = row_end(heads, words, row)
        if begin == end:
            continue
        if FILL == 2:
            after = check_part(words, begin, end, segment, row, columns, True)
            if after >= 0:
                after = check_part(words, after, end, segment, row, columns, False)
            put(counts, k, np.int64(after < 0))
        else:
            inside = np.int64(0)
            runs = open_part(words, begin, row)
            while runs[1] > 0:
                runs, start, length = interval(words, segment, runs, row)
                inside += length
            others = open_part(words, runs[0], row)
            if FILL == 0:
                for s in range(others[4]):
                    count, _ = gamma_at(words, others[6] + s * segment if s > 0 else others[6])
                    inside += count
                put(counts, k, inside)
            else:
                e = np.int64(at(counts, k))
                in_runs = e
                in_others = e + inside
                runs = open_part(words, begin, row)
                some = runs[1] > 0
                other = others[1] > 0
                start = np.int64(0)
                length = np.int64(0)
                j = np.int64(0)
                if some:
                    runs, start, length = interval(words, segment, runs, row)
                if other:
                    others, j = residual(words, segment, others, row)
                while some or other:
                    if some and (not other or start < j):
                        for x in range(length):
                            put(col, e + x, start + x)
                            if ORDER:
                                put(place, e + x, in_runs + x)
                        e += length
                        in_runs += length
                        some = runs[1] > 0
                        if some:
                            runs, start, length = interval(words, segment, runs, row)
                    else:
                        put(col, e, j)
                        if ORDER:
                            put(place, e, in_others)
                        e += 1
                        in_others += 1
                        other = others[1] > 0
                        if other:
                            others, j = residual(words, segment, others, row)
