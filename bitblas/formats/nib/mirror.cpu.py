# Symmetry test on nibble rows: per group of rows, the hash difference between entries and their mirror images.
# CPU twin of mirror.cu.
# include: formats/nib/row.cpu.py
# include: kernels/scramble.cpu.py


@njit(**KERNEL)
def mirror(lo, hi, rows, heads, words, sums):
    for group in range(lo, hi):
        total = np.uint64(0)
        place = row_begin(heads, words, group << 5)
        for row in range(group << 5, min(group + 1 << 5, rows)):
            left = scramble(row)
            stop = row_end(heads, words, row)
            j = row
            first = True
            while place < stop:
                # include: formats/nib/window.cpu.py
                while ends != 0:
                    # include: formats/nib/next.cpu.py
                    total += unlike_mirror(left, scramble(j))
                place += np.int64(last) + 1
        put(sums, group, total)
