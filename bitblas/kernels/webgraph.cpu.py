# Decode a graph in the WebGraph format (BVGraph, Boldi and Vigna) from big-endian words, row by row.
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
# include: kernels/window.cpu.py


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
