# Push SpMV on CGR rows: t = A' (+).(x) u by the entries of u. CPU twin of push.cu.
# Units are the 64-bit words of u; one thread.
# include: formats/cgr/code.cpu.py
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
    segment,
    value_ptr,
    a: Values,
    u: VectorView,
    mask: MaskView,
    product,
    counts,
    t: OutputView,
):
    for w in range(lo, hi):
        active = at(u.bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            x = load_u(u.values, u.iso, u.stride, row)
            place = row_begin(begin, words, row)
            if row_end(begin, words, row) == place:
                continue
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            for runs in range(1, -1, -1):  # intervals, then residuals
                parts, area, left, place = open_kind(words, place)
                for s in range(parts + 1):
                    if s > 0:
                        left, place = gamma_at(words, area + s * segment)
                    spare = np.int64(0)
                    ahead = np.uint64(0)
                    j = np.int64(row)
                    first = True
                    while left > 0:
                        # include: formats/cgr/next.cpu.py
                        if KIND == WORDS and runs:
                            for k in range(start >> 6, (j >> 6) + 1):
                                some = (at(mask.bits, k * mask.stride) ^ mask.invert) & range_in(k, start, j + 1)
                                put(t.bits, k, at(t.bits, k) | some)
                            continue
                        last = j
                        j = start
                        while j <= last:
                            # include: kernels/fragments.cpu.py pushed
                            j += 1
                            if RANKED:
                                e += 1
                        j = last
    if KIND == COUNT:
        close_counts(0, t.bits.size, t.bits, t.values, counts, product)
