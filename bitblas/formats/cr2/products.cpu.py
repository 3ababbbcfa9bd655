# Products on CR2, piece by piece. CPU twin of products.cu.
# include: kernels/products.cpu.py
RUN = 64  # slots of a run


@njit(**FUNCTION)
def vertex_at(words, k, width, before, perm, ordered):
    """The vertex of number k of 4, 8, 16 or 32 bits in words (none straddles two), which is one of a cluster with so
    many vertices before it."""
    bit = np.uint64(k) * width
    word = np.uint64(at(words, bit >> np.uint64(5))) >> (bit & np.uint64(31))
    vertex = before + np.int64(word & ((ONE << width) - ONE))
    return np.int64(at(perm, vertex)) if ordered != 0 else vertex


@njit(**FUNCTION)
def run_at(pieces: PiecesView, run):
    """Of a run: words of rows and columns, bits of a number, vertices before those of its cluster, its first piece and
    entry in these words, what is added to the latter to find values, its pieces, and log2 of the entries of each."""
    piece = at(pieces.runs, 3 * run + 1)
    entry = at(pieces.runs, 3 * run)
    shape = at(pieces.runs, 3 * run + 2)
    rows = pieces.inside.rows
    cols = pieces.inside.cols
    width = np.uint64(pieces.inside.width)
    before = shape >> 16 << pieces.log_cluster
    base = np.int64(0)
    if shape >> 15 & 1:
        rows = pieces.between.rows
        cols = pieces.between.cols
        width = np.uint64(pieces.between.width)
        before = np.int64(0)
        base = pieces.first_entry
        piece -= pieces.first_piece
    return rows, cols, width, before, piece, entry - base, base, shape & 255, shape >> 8 & 127


# The sums of pieces, into their slots: t = P (+).(x) u, where P has a row for each slot. Units are runs.
@njit(**KERNEL)
def pull(
    lo,
    hi,
    longest,
    rows: RowsView,
    pieces: PiecesView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    to: Epilogue,
):
    for run in range(lo, hi):
        sources, cols, width, before, piece, e, base, pieces_of_run, log = run_at(pieces, run)
        size = np.int64(1) << log
        summed = np.uint64(0)
        truths = np.uint64(0)
        for slot in range(pieces_of_run):
            row = vertex_at(sources, piece + slot, width, before, pieces.perm, pieces.ordered)
            is_open = bit_of(mask.bits, row * mask.stride) != (mask.invert != 0)
            stop = e + size
            some = False
            total = IDENTITY
            count = np.int64(0)
            k = e if is_open else stop
            while k < stop:
                j = vertex_at(cols, k, width, before, pieces.perm, pieces.ordered)
                if U_FULL or bit_of(u.bits, j):
                    count += 1
                    if KIND == WORDS:
                        break
                    if KIND == VALUES:
                        z = mul(value_at(a, base + k), load_u(u.values, u.iso, u.stride, j), row, j)
                        total = add(total, z) if some else z
                        some = True
                        if is_final(total):
                            break
                k += 1
            if count > 0:
                summed |= ONE << np.uint64(slot)
                if KIND == COUNT:
                    total = repeated(product, count)
                if STORE and W_BOOL:
                    truths |= np.uint64(take(total)) << np.uint64(slot)
                elif STORE:
                    put(to.t.values, RUN * run + slot, take(total))
            e = stop
        put(to.t.bits, run, summed)
        if STORE and W_BOOL:
            put(to.t.values, run, truths)


# Push SpMV: t = A' (+).(x) u by the entries of u, whose pieces are listed. Units are the 64-bit words of u; one thread.
@njit(**KERNEL)
def push(
    lo,
    hi,
    longest,
    rows: RowsView,
    pieces: PiecesView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    summarized = False
    t_sum = t.bits
    w = filled(u.bits, lo, hi)
    while w < hi:
        active = at(u.bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            x = load_u(u.values, u.iso, u.stride, row)
            for p in range(np.int64(at(rows.begin, row)), np.int64(at(rows.end, row))):
                place = np.int64(at(pieces.col, p))
                _sources, cols, width, before, _piece, first, base, _pieces, log = run_at(pieces, place >> 6)
                first += (place & 63) << log
                for k in range(first, first + (np.int64(1) << log)):
                    j = vertex_at(cols, k, width, before, pieces.perm, pieces.ordered)
                    e = base + k
                    # include: kernels/fragments.cpu.py pushed
        w = filled(u.bits, w + 1, hi)
    if KIND == COUNT:
        close_counts(0, t.bits.size, t.bits, t.values, counts, product)


# The same by all pieces, for a u with entries in many rows. Units are runs; one thread.
@njit(**KERNEL)
def push_pieces(
    lo,
    hi,
    longest,
    rows: RowsView,
    pieces: PiecesView,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    summarized = False
    t_sum = t.bits
    for run in range(lo, hi):
        sources, cols, width, before, piece, first, base, pieces_of_run, log = run_at(pieces, run)
        size = np.int64(1) << log
        for slot in range(pieces_of_run):
            row = vertex_at(sources, piece + slot, width, before, pieces.perm, pieces.ordered)
            if bit_of(u.bits, row):
                x = load_u(u.values, u.iso, u.stride, row)
                for k in range(first, first + size):
                    j = vertex_at(cols, k, width, before, pieces.perm, pieces.ordered)
                    e = base + k
                    # include: kernels/fragments.cpu.py pushed
            first += size
    if KIND == COUNT:
        close_counts(0, t.bits.size, t.bits, t.values, counts, product)
