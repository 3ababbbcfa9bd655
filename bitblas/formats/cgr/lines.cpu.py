# Products of CGR rows with a multivector. CPU twin of the kernels in products.cu. A push is one thread, so a sum
# has a fixed order.
# include: formats/cgr/rows.cpu.py
# include: formats/bitmap/lines.cpu.py


@njit(**KERNEL)
def pull_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    words,
    value_ptr,
    a: Values,
    per_line,
    last,
    x: LinesView,
    mask: LinesMask,
    nodes: NodesView,
    t: LinesOutput,
    needed,
    least,
    most,
):
    if at(needed, 0) < least or at(needed, 0) >= most:
        return
    for row in range(lo, hi):
        # include: formats/bitmap/fragments.cpu.py pulled_row
        for word in range(per_line if line >= 0 else 0):
            w = np.int64(word)
            # include: formats/bitmap/fragments.cpu.py pulled_word
            place = row_begin(rows.begin, words, row)
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            for runs in range(
                1 if going and row_end(rows.begin, words, row) > place else -1, -1, -1
            ):  # intervals, residuals
                parts, area, left, place = open_kind(words, place)
                for s in range(parts + 1):
                    if s > 0:
                        left, place = gamma_at(words, area + s * SEGMENT)
                    spare = np.int64(0)
                    ahead = np.uint64(0)
                    until = np.int64(row)
                    first = True
                    while going and left > 0:
                        left -= 1
                        place, ahead, spare, j, until = next_item(words, place, ahead, spare, runs, first, until)
                        first = False
                        while going and j <= until:
                            # include: formats/bitmap/fragments.cpu.py pulled
                            j += 1
                            if RANKED:
                                e += 1
                    if not going:
                        break
                if not going:
                    break
            # include: formats/bitmap/fragments.cpu.py end_pulled


@njit(**KERNEL)
def push_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    words,
    value_ptr,
    a: Values,
    per_line,
    last,
    x: LinesView,
    mask: LinesMask,
    nodes: NodesView,
    t: LinesOutput,
    needed,
    least,
    most,
):
    if at(needed, 0) < least or at(needed, 0) >= most:
        return
    for q in range(lo, hi):
        rest = np.uint64(at(x.bits, q))
        while rest != np.uint64(0):
            # include: formats/bitmap/fragments.cpu.py pushed_line
            place = row_begin(rows.begin, words, row)
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            for runs in range(1 if row_end(rows.begin, words, row) > place else -1, -1, -1):  # intervals, residuals
                parts, area, left, place = open_kind(words, place)
                for s in range(parts + 1):
                    if s > 0:
                        left, place = gamma_at(words, area + s * SEGMENT)
                    spare = np.int64(0)
                    ahead = np.uint64(0)
                    until = np.int64(row)
                    for number in range(left):
                        place, ahead, spare, start, until = next_item(
                            words, place, ahead, spare, runs, number == 0, until
                        )
                        for column in range(start, until + 1):
                            j = np.int64(column)
                            # include: formats/bitmap/fragments.cpu.py pushed
                            if RANKED:
                                e += 1
