# Push SpMV on nibble rows: t = A' (+).(x) u by the entries of u. CPU twin of push.cu.
# Units are the 64-bit words of u; one thread.
# include: formats/nib/row.cpu.py
# include: kernels/products.cpu.py
listed = False


@njit(**KERNEL)
def push(
    lo,
    hi,
    longest,
    begin,
    end,
    row_of,
    row_stride,
    words,
    value_ptr,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    w = filled(u.bits, lo, hi)
    while w < hi:
        active = at(u.bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            x = load_u(u.values, u.iso, u.stride, row)
            place = row_begin(begin, words, row)
            stop = row_end(begin, words, row)
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            j = row
            first = True
            while place < stop:
                ends, threes, j = read_window(words, place, stop, first, j)
                first = False
                last = np.uint64(0)
                read = np.uint64(0)
                while ends != 0:
                    ends, last, read, j = next_column(ends, threes, read, j)
                    # include: kernels/fragments.cpu.py pushed
                    if RANKED:
                        e += 1
                place += np.int64(last) + 1
        w = filled(u.bits, w + 1, hi)
    if KIND == COUNT:
        close_counts(0, t.bits.size, t.bits, t.values, counts, product)
