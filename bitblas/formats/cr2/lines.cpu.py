# Products of CR2 with a multivector, by the lists of the pieces of each row. CPU twin of lines.cu. A push is one
# thread, so a sum has a fixed order.
# include: formats/cr2/products.cpu.py
# include: formats/bitmap/lines.cpu.py


@njit(**FUNCTION)
def piece_at(pieces: PiecesView, p):
    """Of entry p of a list: the words of columns, bits of a number, vertices before those of the cluster, the first
    entry in these words, what is added to find values, and the entries of the piece."""
    slot = np.int64(at(pieces.col, p))
    _sources, cols, width, before, _piece, first, base, _pieces, log = run_at(pieces, slot >> 6)
    return cols, width, before, first + ((slot & 63) << log), base, np.int64(1) << log


@njit(**KERNEL)
def pull_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    pieces: PiecesView,
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
        for word in range(per_line):
            w = np.int64(word)
            # include: formats/bitmap/fragments.cpu.py pulled_word
            p = np.int64(at(rows.begin, row))
            stop = np.int64(at(rows.end, row))
            while going and p < stop:
                cols, width, before, k0, base, size = piece_at(pieces, p)
                place = k0
                while going and place < k0 + size:
                    j = vertex_at(cols, place, width, before, pieces.perm, pieces.ordered)
                    e = base + place
                    # include: formats/bitmap/fragments.cpu.py pulled
                    place += 1
                p += 1
            # include: formats/bitmap/fragments.cpu.py end_pulled


@njit(**KERNEL)
def push_lines(
    lo,
    hi,
    longest,
    rows: RowsView,
    pieces: PiecesView,
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
            for p in range(np.int64(at(rows.begin, row)), np.int64(at(rows.end, row))):
                cols, width, before, first, base, size = piece_at(pieces, p)
                for place in range(first, first + size):
                    j = vertex_at(cols, place, width, before, pieces.perm, pieces.ordered)
                    e = base + place
                    # include: formats/bitmap/fragments.cpu.py pushed
