# t = A (+).(x) u row by row, the twin of pull.cu. Parallel bounds are multiples of 64 rows: words of t are not shared.
# include: kernels/product.cpu.py


@njit(**KERNEL)
def pull(lo, hi, longest, begin, end, row_of, row_step, col, a_val, a_iso, a_step, u_bits, u_val, u_iso, u_step,
         mask, mask_step, mask_flip, product, t_bits, t_val):
    for row in range(lo, hi):
        if (at(mask, (row >> 6) * mask_step) ^ mask_flip) >> np.uint64(row & 63) & ONE == 0:
            continue
        some = False
        total = IDENTITY
        count = np.int64(0)
        for e in range(np.int64(at(begin, row)), np.int64(at(end, row))):
            j = np.int64(at(col, e))
            if U_FULL or bit_of(u_bits, j):
                if KIND == VALUES:
                    z = mul(at(a_val, e) if a_step else a_iso, load_u(u_val, u_iso, u_step, j), row, j)
                    total = add(total, z) if some else z
                    some = True
                    if is_final(total):
                        break
                else:
                    count += 1
                    if KIND == WORDS:
                        break
        if KIND != VALUES:
            some = count > 0
        if some:
            set_bit(t_bits, row)
            if KIND == COUNT:
                total = repeated(product, count)
            if KIND != WORDS:
                if Z_BOOL:
                    if total:
                        set_bit(t_val, row)
                else:
                    put(t_val, row, total)
