# Count the bits of each tile. CPU twin of ranks.cu.
# include: formats/b2sr/tile.cpu.py


@njit(**KERNEL)
def ranks(lo, hi, bits, counts):
    for tile in range(lo, hi):
        total = np.int64(0)
        for k in range(TILE_WORDS):
            total += np.int64(popcount(at(bits, tile * TILE_WORDS + k)))
        counts[tile] = total
