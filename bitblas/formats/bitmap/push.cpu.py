# Push SpMM with a bitmap: T<mask> = A' (+).(x) X by the lines of X that have entries. CPU twin of push.cu.
# X and T are bitmaps whose lines are the rows and the columns of A; the bits of T are zero before. One thread, so a
# sum has the same order as in a pull. X is read in 64-bit words, which hold several short lines, because most lines
# are empty.
# include: formats/bitmap/lines.cpu.py
# include: formats/csr/columns.cpu.py


@njit(**KERNEL)
def push(lo, hi, longest, begin, end, row_of, row_stride, col, width, a_val, a_iso, a_stride, words, last, x_bits,
         x_val, x_iso, x_stride, mask, mask_stride, mask_invert, t_bits, t_val, needed, least, most):  # fmt: skip
    if at(needed, 0) < least or at(needed, 0) >= most:
        return
    for q in range(lo, hi):
        rest = np.uint64(at(x_bits, q))
        while rest != np.uint64(0):
            b = np.int64(trailing_zeros(rest)) // BITS
            some = (rest >> np.uint64(b * BITS)) & FULL
            rest &= ~(FULL << np.uint64(b * BITS))
            k = q // words if BITS == 64 else q * (64 // BITS) + b
            w = q - k * words if BITS == 64 else np.int64(0)
            from_ = q * 64 + b * BITS
            for e in range(np.int64(at(begin, k)), np.int64(at(end, k))):
                line = column(col, width, e)
                at_word = line * words + w
                x = some & open_places(mask, mask_stride, mask_invert, last, words, line, w)
                found = np.uint64(at(t_bits, at_word))
                if KIND == VALUES and x != np.uint64(0):
                    a = value_at(a_val, a_iso, a_stride, e)
                    true = np.uint64(at(t_val, at_word)) if Z_BOOL else np.uint64(0)
                    true = add_line(a, x, found, true, from_, at_word * BITS, line, k, w, x_val, x_iso, x_stride, t_val)
                    if Z_BOOL:
                        put(t_val, at_word, LINE_T(true))
                put(t_bits, at_word, LINE_T(found | x))
