# Products of NIB rows with a multivector. CPU twin of the kernels in products.cu. A push is one thread, so a sum
# has a fixed order.
# include: formats/nib/rows.cpu.py
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
            stop = row_end(rows.begin, words, row)
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            j = np.int64(row)
            first = True
            while going and place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                end = np.uint64(0)
                read = np.uint64(0)
                while going and ends != 0:
                    ends, end, read, j = next_column(ends, threes, read, j)
                    # include: formats/bitmap/fragments.cpu.py pulled
                    if RANKED:
                        e += 1
                place += np.int64(end) + 1
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
            stop = row_end(rows.begin, words, row)
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            j = np.int64(row)
            first = True
            while place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                end = np.uint64(0)
                read = np.uint64(0)
                while ends != 0:
                    ends, end, read, j = next_column(ends, threes, read, j)
                    # include: formats/bitmap/fragments.cpu.py pushed
                    if RANKED:
                        e += 1
                place += np.int64(end) + 1
