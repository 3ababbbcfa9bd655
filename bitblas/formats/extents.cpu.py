# Words per coded row. CPU twin of extents.cu.
# include: formats/blocks.cpu.py


@njit(**KERNEL)
def extents(lo, hi, heads, words, sizes):
    for row in range(lo, hi):
        put(sizes, row, (row_end(heads, words, row) - row_begin(heads, words, row) + IN_WORD - 1) // IN_WORD)
