# Decode CGR codes to CSR rows. CPU twin of decode.cu.
# include: formats/cgr/part.cpu.py


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
