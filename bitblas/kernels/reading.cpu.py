# Kernels that read files: vertex names and fields of text, and graphs in the WebGraph format.
# include: kernels/views.cpu.py


# ---- Read vertex names of text files: split lines into fields, and number names in order of first appearance.


# Split text lines into fields, and hash the first two (vertex names): position in the text, length and key of each.
# Units are lines, which end at `ends`. mark: the separator, 0 for blanks; columns: the expected number of fields. A
# third field is copied into `rest`. begins is -1 on a blank line. `wrong` marks lines that need the slow path: another
# number of fields, an empty field, a quote, or a control character.
#
# A key is two words. Names of up to 16 bytes without a zero byte are stored as they are, so that equal keys are equal
# names. Of other names the key is a hash, and the length is negative.
@njit(**KERNEL)
def words(lo, hi, text, ends, mark, columns, begins, lengths, keys, more_keys, rest, wrong):
    for line in range(lo, hi):
        place = at(ends, line - 1) + 1 if line > 0 else 0
        end = at(ends, line)
        bad = 0
        fields = 0
        put(begins, 2 * line, -1)
        while place <= end:
            letter = np.uint8(32)
            while place < end:  # blanks before a field
                letter = at(text, place)
                if (letter > 32 or (mark != 0 and letter == mark)) or not (letter == 32 or 9 <= letter <= 13):
                    break
                place += 1
            if place == end and (mark == 0 or fields == 0):
                break
            begin = place
            last = place
            while place < end:
                letter = at(text, place)
                if mark != 0:
                    if letter == mark:
                        break
                    bad |= letter == 34
                elif letter <= 32 and (letter == 32 or 9 <= letter <= 13):
                    break
                if letter < 32 and not 9 <= letter <= 13:
                    bad = 1
                place += 1
                if letter > 32:
                    last = place
            key = np.uint64(0)
            more = np.uint64(0)
            zero = False
            for k in range(begin, min(begin + 8, last)):
                zero |= at(text, k) == 0
                key |= np.uint64(at(text, k)) << np.uint64(8 * (k - begin))
            for k in range(begin + 8, min(begin + 16, last)):
                zero |= at(text, k) == 0
                more |= np.uint64(at(text, k)) << np.uint64(8 * (k - begin - 8))
            hashed = zero or last - begin > 16
            if hashed:
                for k in range(begin + 16, last):
                    key = mixed(key ^ np.uint64(at(text, k)))
                    more += key
            if fields < 2:
                put(begins, 2 * line + fields, begin)
                put(lengths, 2 * line + fields, begin - last if hashed else last - begin)
                put(keys, 2 * line + fields, key)
                put(more_keys, 2 * line + fields, more)
                bad |= last == begin
            elif fields == 2:
                bad |= last == begin
                for k in range(begin, last):
                    put(rest, k, at(text, k))
            fields += 1
            if mark == 0:
                continue
            if place >= end:
                break
            place += 1  # after the separator
        if fields == 0:
            put(begins, 2 * line, -1)
        elif fields != columns:
            bad = 1
        put(wrong, line, np.uint8(bad))


# Number vertex names in order of first appearance, by a hash table over the keys that `words` found.
# A table slot is three words: the two words of the key, and 2 * (number + 1), plus 1 if the key is a hash; 0 for an
# empty slot. `names` stores the names, each followed by a line feed, starting at `starts`. `found` is the number of
# names and their bytes. A smaller table from before, if any, is moved in first.
@njit(**FUNCTION)
def slot_of(key, more, mask):
    return mixed(mixed(key) ^ more) & mask


@njit(**KERNEL)
def numbered(lo, hi, text, begins, lengths, keys, more_keys, before, moved, table, mask, names, starts, found, numbers):
    for k in range(moved):
        if at(before, 3 * k + 2) != 0:
            slot = slot_of(at(before, 3 * k), at(before, 3 * k + 1), mask)
            while at(table, 3 * slot + 2) != 0:
                slot = (slot + np.uint64(1)) & mask
            for part in range(3):
                put(table, 3 * slot + part, at(before, 3 * k + part))
    count = at(found, 0)
    size = at(found, 1)
    for k in range(lo, hi):
        if k + AHEAD < hi:
            prefetch(table, 3 * slot_of(at(keys, k + AHEAD), at(more_keys, k + AHEAD), mask))
        begin = at(begins, k)
        length = np.int64(at(lengths, k))
        hashed = np.uint64(length < 0)
        length = abs(length)
        key = at(keys, k)
        more = at(more_keys, k)
        slot = slot_of(key, more, mask)
        while True:
            entry = at(table, 3 * slot + 2)
            if entry == 0:
                put(table, 3 * slot, key)
                put(table, 3 * slot + 1, more)
                put(table, 3 * slot + 2, (np.uint64(count + 1) << np.uint64(1)) | hashed)
                put(numbers, k, count)
                for i in range(length):
                    put(names, size + i, at(text, begin + i))
                put(names, size + length, np.uint8(10))
                size += length + 1
                count += 1
                put(starts, count, size)
                break
            same = at(table, 3 * slot) == key and at(table, 3 * slot + 1) == more and (entry & np.uint64(1)) == hashed
            number = np.int64(entry >> np.uint64(1)) - 1
            if same and hashed != 0:
                first = at(starts, number)
                same = at(starts, number + 1) - first - 1 == length
                i = 0
                while same and i < length:
                    same = at(names, first + i) == at(text, begin + i)
                    i += 1
            if same:
                put(numbers, k, number)
                break
            slot = (slot + np.uint64(1)) & mask
    put(found, 0, count)
    put(found, 1, size)


# ---- Decode a graph in the WebGraph format (BVGraph, Boldi and Vigna) from big-endian words, row by row.
# A row consists of: its number of columns; the reference (how many rows back is the row that it copies from); the
# number of copy blocks, and their lengths, alternately copied and skipped; the number of intervals, their starts and
# lengths; and the remaining columns (residuals).
# `how` holds the code of each of these, then the largest reference distance, the least interval length, and the k of
# zeta codes. Row r begins at ptr[r + that distance], after the earlier rows that it may copy from. `state`: the bit at
# which the next row begins, rows decoded, the reason for stopping, and the number of columns of the next row. `end` is
# the bit after the last; all bits from there on are ones, so that every code terminates. `work` has space for the
# copies and intervals of a row, twice the size of col.
UNARY, GAMMA, DELTA, ZETA = 0, 1, 2, 3
DEGREE, REFERENCE, COUNT, BLOCK, RUNS, START, SPAN, RESIDUAL, REST, NEXT, COPIES, OTHERS = range(12)
BACK, LEAST, K = 8, 9, 10  # in `how`
INPUT, ROOM, FAULT = 1, 2, 3  # from FAULT on: which part is invalid
LARGE = 1 << 62  # replaces numbers too large to be valid


@njit(**FUNCTION)
def number_at(words, place, end, code, k):
    """The number at bit `place`, and the position of the bit after it."""
    place = min(place, end)
    zeros = np.int64(0)
    bits = window(words, place)
    while bits == 0:
        zeros += 64
        bits = window(words, place + zeros)
    zeros += np.int64(leading_zeros(bits))
    place += zeros + 1
    found = zeros
    steps = 0 if code == UNARY else 2 if code == DELTA else 1
    for _ in range(steps):
        count = found * k + k - 1 if code == ZETA else found
        if count > 60:
            found = np.int64(LARGE)
        else:
            low = np.int64(window(words, place) >> np.uint64(1) >> np.uint64(63 - count))
            place += count
            if code != ZETA:
                found = (np.int64(1) << count | low) - 1
            else:
                left = np.int64(1) << count - k + 1
                found = low + left - 1
                if low >= left:
                    found = (low << 1 | np.int64(at(words, place >> 5) >> np.uint32(31 - (place & 31)) & 1)) - 1
                    place += 1
    return found, place


@njit(**KERNEL)
def webgraph(lo, hi, words, end, how, nodes, first, ptr, col, work, state):
    back = at(how, BACK)
    least = at(how, LEAST)
    begin = at(state, 0)
    done = np.int64(lo)
    why = np.int64(0)
    degree = np.int64(0)
    while done < hi and why == 0:
        row = first + done
        out = at(ptr, done + back)
        stop = out
        place = begin
        step = np.int64(DEGREE)
        left = other = length = passed = count = turn = last = residual = np.int64(0)
        copies = runs = np.int64(0)  # how many of each are in `work`: pairs of a position (or column) and a length
        copy = run = column = copied = spanned = np.int64(0)  # state of the merge
        before = np.int64(-1)
        while why == 0 and step != NEXT:
            part = step
            value = np.int64(0)
            if step < REST:
                value, place = number_at(words, place, end, at(how, step), at(how, K))
            if part == DEGREE:
                degree = value
                left = value
                if value > nodes:
                    why = np.int64(FAULT + part)
                elif value > col.size - out:
                    why = np.int64(ROOM)
                step = np.int64(NEXT if value == 0 else REFERENCE if back > 0 else OTHERS)
            elif part == REFERENCE:
                if value > min(row, back):
                    why = np.int64(FAULT + part)
                elif value > 0:
                    other = at(ptr, done + back - value)
                    length = at(ptr, done + back - value + 1) - other
                step = np.int64(COUNT if value > 0 else OTHERS)
            elif part == COUNT:
                count = value
                if value > length + 1:
                    why = np.int64(FAULT + part)
                step = np.int64(BLOCK if value > 0 else COPIES)
            elif part == BLOCK:
                block = value + (1 if turn > 0 else 0)
                if block > length - passed:
                    why = np.int64(FAULT + part)
                elif turn & 1 == 0:
                    put(work, 2 * copies, other + passed)
                    put(work, 2 * copies + 1, block)
                    copies += 1
                    left -= block
                passed += block
                turn += 1
                step = np.int64(BLOCK if turn < count else COPIES)
            elif part == RUNS:
                runs = value
                if value > left:
                    why = np.int64(FAULT + part)
                step = np.int64(START if value > 0 else RESIDUAL)
                turn = np.int64(0)
            elif part == START:
                last = last + value + 1 if turn > 0 else row + (value >> 1 ^ -(value & 1))
                if last < 0 or last >= nodes:
                    why = np.int64(FAULT + part)
                step = np.int64(SPAN)
            elif part == SPAN:
                if value + least > min(left, nodes - last):
                    why = np.int64(FAULT + part)
                put(work, 2 * (copies + turn), last)
                put(work, 2 * (copies + turn) + 1, value + least)
                left -= value + least
                last += value + least
                turn += 1
                step = np.int64(START if turn < runs else RESIDUAL)
            elif part == RESIDUAL:
                residual = residual + value + 1 if count < 0 else row + (value >> 1 ^ -(value & 1))
                count = np.int64(-1)  # there is a reference
                left -= 1
            if step == COPIES:
                if count & 1 == 0:
                    put(work, 2 * copies, other + passed)
                    put(work, 2 * copies + 1, length - passed)
                    copies += 1
                    left -= length - passed
                if left < 0:
                    why = np.int64(FAULT + BLOCK)
                step = np.int64(OTHERS)
            if step == OTHERS:
                step = np.int64(RUNS if least > 0 and left > 0 else RESIDUAL)
            if place > end:
                why = np.int64(INPUT)
            if why == 0 and (part == RESIDUAL or part == REST):
                # merge copies and intervals up to the residual, or all of them; then the residual
                limit = residual if part == RESIDUAL else nodes
                merging = True
                while merging and why == 0:
                    while copied == 0 and copy < copies:
                        column = at(work, 2 * copy)
                        copied = at(work, 2 * copy + 1)
                        copy += 1
                    while spanned == 0 and run < runs:
                        last = at(work, 2 * (copies + run))
                        spanned = at(work, 2 * (copies + run) + 1)
                        run += 1
                    found = np.int64(at(col, column)) if copied > 0 else nodes
                    if spanned > 0 and last < found:
                        found = last
                        if found < limit:
                            last += 1
                            spanned -= 1
                    elif found < limit:
                        column += 1
                        copied -= 1
                    if found >= limit:
                        merging = False
                        found = limit
                    if merging or part == RESIDUAL:
                        if found <= before or found >= nodes:
                            why = np.int64(FAULT + RESIDUAL)
                        else:
                            put(col, stop, found)
                            stop += 1
                            before = found
                if part == REST:
                    step = np.int64(NEXT)
            if step == RESIDUAL and left == 0:
                step = np.int64(REST)
        if why == 0:
            begin = place
            done += 1
            put(ptr, done + back, out + degree)
    put(state, 0, begin)
    put(state, 1, done)
    put(state, 2, why)
    put(state, 3, degree)
