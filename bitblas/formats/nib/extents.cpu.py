# The words of each row, as lanes read them, the twin of extents.cu.
# include: formats/nib/row.cpu.py


@njit(**KERNEL)
def extents(lo, hi, heads, words, sizes):
    for row in range(lo, hi):
        put(sizes, row, (row_end(heads, words, row) - row_begin(heads, words, row) + 7) >> 3)
