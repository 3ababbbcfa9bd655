# Words of coded rows: of each row, or the total of those where a vector has an entry. CPU twin of extents.cu.
# include: formats/blocks.cpu.py


@njit(**KERNEL)
def extents(lo, hi, heads, words, sizes):
    for row in range(lo, hi):
        put(sizes, row, (row_end(heads, words, row) - row_begin(heads, words, row) + IN_WORD - 1) // IN_WORD)


# Frontier work: the total of the rows where a vector has an entry. Units are the words of its bits; one thread.
@njit(**KERNEL)
def active(lo, hi, heads, words, bits, total):
    found = np.int64(0)
    for word in range(lo, hi):
        rest = at(bits, word)
        while rest != 0:
            row = (word << 6) + np.int64(trailing_zeros(rest))
            rest = drop_lowest(rest)
            found += (row_end(heads, words, row) - row_begin(heads, words, row) + IN_WORD - 1) // IN_WORD
    put(total, 0, found)
