# Fill a vector's missing positions with the sentinel `nothing`.
# Also count its entries that equal the sentinel or are NaN.
# include: kernels/vector.cpu.py


@njit(**KERNEL)
def lacking(lo, hi, size, bits, val, nothing, filled, others):
    count = np.int64(0)
    for word in range(lo, hi):
        has = at(bits, word)
        first = word << 6
        if first + 64 <= size:  # whole words: vectorized
            for d in range(64):
                x = at(val, first + d)
                there = has >> np.uint64(d) & np.uint64(1) != 0
                put(filled, first + d, x if there else nothing)
                count += np.int64(there and (x == nothing or x != x))
        else:
            for i in range(first, size):
                x = at(val, i)
                there = bit_of(bits, i)
                put(filled, i, x if there else nothing)
                count += np.int64(there and (x == nothing or x != x))
    put(others, 0, count)
