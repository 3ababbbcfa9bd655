# Filter entries: clear the bits of entries that are not kept. CPU twin of filter.cu.
# include: formats/b2sr/tile.cpu.py


@njit(**KERNEL)
def filter(lo, hi, bits, value_ptr, keep, left, some):
    for tile in range(lo, hi):
        rank = np.int64(at(value_ptr, tile))
        any_left = False
        for k in range(TILE_WORDS):
            rest = np.uint64(at(bits, tile * TILE_WORDS + k))
            word = np.uint64(0)
            while rest != 0:
                if at(keep, rank):
                    word |= np.uint64(1) << trailing_zeros(rest)
                rank += 1
                rest = drop_lowest(rest)
            put(left, tile * TILE_WORDS + k, word)
            any_left = any_left or word != 0
        put(some, tile, any_left)
