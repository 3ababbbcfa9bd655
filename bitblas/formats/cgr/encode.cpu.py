# Encode CSR rows as CGR codes. CPU twin of encode.cu.
# Parallel bounds are multiples of 32 rows, so threads share no words.
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
