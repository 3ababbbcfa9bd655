# Of each chunk of CHUNK entries, how much they differ from their mirror images, as mirror.cu has it, by other numbers:
# an entry (i, j) is first(i) second(j) - second(i) first(j), so that of a row sums are multiplied, not entries.
# include: formats/csr/columns.cpu.py
# include: kernels/scramble.cpu.py
PIECE = 512  # entries of which numbers are made at once, whatever their rows: SIMD's


@njit(**FUNCTION)
def second_of(first):
    """Another number that looks random."""
    return (first ^ (first >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)


@njit(**KERNEL)
def mirror(lo, hi, rows, nvals, ptr, col, width, sums):
    row = np.searchsorted(ptr, lo * CHUNK, side="right") - 1
    firsts = empty(PIECE, np.uint64)
    seconds = empty(PIECE, np.uint64)
    for chunk in range(lo, hi):
        total = np.uint64(0)
        piece = chunk * CHUNK
        last = min(piece + CHUNK, nvals)
        while piece < last:
            count = min(PIECE, last - piece)
            for k in range(count):
                number = scramble(column(col, width, piece + k))
                put(firsts, k, number)
                put(seconds, k, second_of(number))
            k = 0
            while k < count:
                while np.int64(at(ptr, row + 1)) <= piece + k:
                    row += 1
                stop = min(count, np.int64(at(ptr, row + 1)) - piece)
                first = np.uint64(0)
                second = np.uint64(0)
                while k < stop:
                    first += at(firsts, k)
                    second += at(seconds, k)
                    k += 1
                mine = scramble(row)
                total += mine * second - second_of(mine) * first
            piece += count
        put(sums, chunk, total)
