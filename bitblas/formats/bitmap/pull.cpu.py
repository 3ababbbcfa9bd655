# Pull SpMM with a bitmap: T<mask> = A (+).(x) X by rows of A. CPU twin of pull.cu.
# X and T are bitmaps whose lines are the columns and the rows of A. A sum is taken in the order of its row's entries.
# MODE JOIN reduces runs of lines of X and does not read A.
# include: formats/bitmap/lines.cpu.py
# include: formats/csr/columns.cpu.py
ROWS, PARTS, JOIN = 0, 1, 2


@njit(**KERNEL)
def pull(lo, hi, longest, begin, end, row_of, row_stride, col, width, a_val, a_iso, a_stride, words, last, x_bits,
         x_val, x_iso, x_stride, mask, mask_stride, mask_invert, t_bits, t_val, needed, least, most):  # fmt: skip
    if at(needed, 0) < least or at(needed, 0) >= most:
        return
    for line in range(lo, hi):
        first = np.int64(at(begin, line))
        stop = np.int64(at(end, line))
        for w in range(words):
            at_word = line * words + w
            places = open_places(mask, mask_stride, mask_invert, last, words, line, w)
            found = np.uint64(0)
            true = np.uint64(0)
            for e in range(first, stop if places != np.uint64(0) else first):
                k = np.int64(e) if MODE == JOIN else column(col, width, e)
                x = np.uint64(at(x_bits, k * words + w)) & places
                if KIND == VALUES and x != np.uint64(0):
                    a = a_iso if MODE == JOIN else value_at(a_val, a_iso, a_stride, e)
                    from_ = (k * words + w) * BITS
                    true = add_line(a, x, found, true, from_, at_word * BITS, line, k, w, x_val, x_iso, x_stride, t_val)
                found |= x
                if (KIND == WORDS or HAS_TERMINAL == 2) and found == places:
                    break
            put(t_bits, at_word, LINE_T(found))
            if Z_BOOL and KIND == VALUES:
                put(t_val, at_word, LINE_T(true))
