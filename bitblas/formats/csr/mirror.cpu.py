# Symmetry test on rows: per chunk of CHUNK entries, the hash difference between entries and their mirror images.
# Same purpose as mirror.cu, with other hashes: entry (i, j) contributes first(i) second(j) - second(i) first(j), so
# that one multiplication per row replaces one per entry.
# include: formats/csr/columns.cpu.py
# include: kernels/scramble.cpu.py
PIECE = 512  # entries that are hashed at a time, across rows: vectorized


@njit(**FUNCTION)
def second_of(first):
    """A second, independent hash."""
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
