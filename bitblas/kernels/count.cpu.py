# Count set bits: counts[c] = number of set bits in chunk c of CHUNK words. CPU twin of count.cu.


@njit(**KERNEL)
def count(lo, hi, words, bits, counts):
    for c in range(lo, hi):
        found = np.uint64(0)
        for w in range(c * CHUNK, min((c + 1) * CHUNK, words)):
            found += popcount(at(bits, w))
        put(counts, c, np.uint32(found))
