# Of each chunk of CHUNK entries, how much they differ from their mirror images, the twin of mirror.cu.
# include: formats/csr/columns.cpu.py
# include: kernels/scramble.cpu.py


@njit(**KERNEL)
def mirror(lo, hi, rows, nvals, ptr, col, width, sums):
    row = np.searchsorted(ptr, lo * CHUNK, side="right") - 1
    left = scramble(row)
    for chunk in range(lo, hi):
        total = np.uint64(0)
        for e in range(chunk * CHUNK, min((chunk + 1) * CHUNK, nvals)):
            if np.int64(at(ptr, row + 1)) <= e:
                while np.int64(at(ptr, row + 1)) <= e:
                    row += 1
                left = scramble(row)
            total += unlike_mirror(left, scramble(column(col, width, e)))
        put(sums, chunk, total)
