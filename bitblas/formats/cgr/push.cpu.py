# t = A' (+).(x) u by the entries of u, the twin of push.cu. Units are the 64-bit words of u; one thread.
# include: formats/cgr/part.cpu.py
# include: formats/cgr/range.cpu.py
# include: kernels/values.cpu.py
# include: kernels/push.cpu.py
LISTED = 0


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_stride, words, segment, value_ptr, a_val, a_iso, a_stride, u_bits,
         u_val, u_iso, u_stride, mask, mask_stride, mask_invert, product, counts, t_bits, t_val):  # fmt: skip
    for w in range(lo, hi):
        active = at(u_bits, w)
        while active != 0:
            row = (w << 6) + np.int64(trailing_zeros(active))
            active = drop_lowest(active)
            u = load_u(u_val, u_iso, u_stride, row)
            place = row_begin(begin, words, row)
            if row_end(begin, words, row) == place:
                continue
            e = np.int64(at(value_ptr, row)) if RANKED else np.int64(0)
            part = open_part(words, place, row)
            runs = True
            while runs or part[1] > 0:
                if part[1] == 0:
                    runs = False
                    part = open_part(words, part[0], row)
                    continue
                if runs:
                    part, from_, length = interval(words, segment, part, row)
                    if KIND == WORDS:
                        for k in range(from_ >> 6, (from_ + length - 1 >> 6) + 1):
                            open_bits = (at(mask, k * mask_stride) ^ mask_invert) & range_in(k, from_, from_ + length)
                            put(t_bits, k, at(t_bits, k) | open_bits)
                        continue
                else:
                    part, from_ = residual(words, segment, part, row)
                    length = np.int64(1)
                j = from_
                while j < from_ + length:
                    # include: kernels/pushed.cpu.py
                    j += 1
                    if RANKED:
                        e += 1
    if KIND == COUNT:
        close_counts(t_bits, t_val, counts, product)
