# Products with a bitmap (SpMM with a multivector): pull by the rows of the result, push by the lines of X. Lines of a
# bitmap: reduce each, assign a scalar at positions, set the bits at positions. CPU twin of products.cu.
# A line of X or of the result is `words` LINEs of BITS bits each. The sum of a position is stored at the number of its
# bit; BOOL sums are bits.
# include: formats/bitmap/lines.cpu.py
# include: formats/csr/columns.cpu.py


# Pull: X and T are bitmaps whose lines are the columns and the rows of A. A sum is taken in the order of its row's
# entries. MODE JOIN reduces runs of lines of X and does not read A.
@njit(**KERNEL)
def pull(
    lo,
    hi,
    longest,
    rows: RowsView,
    all: ColumnsView,
    a: Values,
    words,
    last,
    x: LinesView,
    mask: LinesMask,
    t: LinesOutput,
    needed,
    least,
    most,
):
    if at(needed, 0) < least or at(needed, 0) >= most:
        return
    for line in range(lo, hi):
        first = np.int64(at(rows.begin, line))
        stop = np.int64(at(rows.end, line))
        for w in range(words):
            at_word = line * words + w
            places = open_places(mask, last, words, line, w)
            found = np.uint64(0)
            true = np.uint64(0)
            for e in range(first, stop if places != np.uint64(0) else first):
                k = np.int64(e) if MODE == JOIN else column(all, e)
                here = np.uint64(at(x.bits, k * words + w)) & places
                if KIND == VALUES and here != np.uint64(0):
                    value = a.iso if MODE == JOIN else value_at(a, e)
                    from_ = (k * words + w) * BITS
                    true = add_line(value, here, found, true, from_, at_word * BITS, line, k, w, x, t)
                found |= here
                if (KIND == WORDS or HAS_TERMINAL == 2) and found == places:
                    break
            put(t.bits, at_word, LINE_T(found))
            if Z_BOOL and KIND == VALUES:
                put(t.values, at_word, LINE_T(true))


# Push: X and T are bitmaps whose lines are the rows and the columns of A; the bits of T are zero before. One thread, so
# a sum has the same order as in a pull. X is read in 64-bit words, which hold several short lines, because most lines
# are empty.
@njit(**KERNEL)
def push(
    lo,
    hi,
    longest,
    rows: RowsView,
    all: ColumnsView,
    a: Values,
    words,
    last,
    x: LinesView,
    mask: LinesMask,
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
            b = np.int64(trailing_zeros(rest)) // BITS
            some = (rest >> np.uint64(b * BITS)) & FULL
            rest &= ~(FULL << np.uint64(b * BITS))
            k = q // words if BITS == 64 else q * (64 // BITS) + b
            w = q - k * words if BITS == 64 else np.int64(0)
            from_ = q * 64 + b * BITS
            for e in range(np.int64(at(rows.begin, k)), np.int64(at(rows.end, k))):
                line = column(all, e)
                at_word = line * words + w
                here = some & open_places(mask, last, words, line, w)
                found = np.uint64(at(t.bits, at_word))
                if KIND == VALUES and here != np.uint64(0):
                    value = value_at(a, e)
                    true = np.uint64(at(t.values, at_word)) if Z_BOOL else np.uint64(0)
                    true = add_line(value, here, found, true, from_, at_word * BITS, line, k, w, x, t)
                    if Z_BOOL:
                        put(t.values, at_word, LINE_T(true))
                put(t.bits, at_word, LINE_T(found | here))


# Reduce each line of a bitmap (row or column reduction of a multivector).
# KIND COUNT: all values are `product`.
@njit(**KERNEL)
def reduce_columns(lo, hi, words, x: LinesView, product, t: OutputView):
    for line in range(lo, hi):
        some = False
        total = product
        count = np.int64(0)
        for at_word in range(line * words, (line + 1) * words):
            rest = np.uint64(at(x.bits, at_word))
            if KIND == COUNT:
                count += np.int64(popcount(rest))
                continue
            while rest != np.uint64(0):
                p = at_word * BITS + np.int64(trailing_zeros(rest))
                rest = drop_lowest(rest)
                value = take(load_u(x.values, x.iso, x.stride, p))
                total = add(total, value) if some else value
                some = True
        if KIND == COUNT and count:
            some, total = True, repeated(product, count)
        if some:
            set_bit(t.bits, line)
            if not Z_BOOL:
                put(t.values, line, total)
            elif total:
                set_bit(t.values, line)


# Assign a scalar at the positions of t: w<mask, replace> = x.
@njit(**KERNEL)
def fill(lo, hi, t_bits, x, mask: MaskView, replace, w_bits, w_val):
    for word in range(lo, hi):
        open_bits = at(mask.bits, word * mask.stride) ^ mask.invert
        rest = at(t_bits, word) & open_bits
        kept = np.uint64(0) if replace else at(w_bits, word) & ~open_bits
        put(w_bits, word, rest | kept)
        while rest != np.uint64(0):
            put(w_val, (word << 6) + np.int64(trailing_zeros(rest)), x)
            rest = drop_lowest(rest)


# Set the bits at a list of distinct positions. One thread.
@njit(**KERNEL)
def mark(lo, hi, places, bits):
    for e in range(lo, hi):
        p = at(places, e)
        put(bits, p >> 6, at(bits, p >> 6) | np.uint64(1) << np.uint64(p & 63))
