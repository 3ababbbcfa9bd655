# Min-hash signatures of rows: the least hash of a row's columns, for each of HASHES hash functions.
# Two rows agree in one with a probability equal to their Jaccard similarity (Broder 1997).
# include: kernels/mixed.cpu.py


@njit(**KERNEL)
def minhash(lo, hi, ptr, col, seed, signature):
    for row in range(lo, hi):
        for k in range(HASHES):
            put(signature, row * HASHES + k, np.uint32(0xFFFFFFFF))
        for p in range(at(ptr, row), at(ptr, row + 1)):
            found = mixed(np.uint64(at(col, p)) + (np.uint64(seed) << np.uint64(40)))
            for k in range(HASHES):
                # one good hash, and its multiples by odd numbers
                odd = np.uint64(2 * k + 1) * np.uint64(0x9E3779B97F4A7C15)
                value = np.uint32(found * odd >> np.uint64(32))
                put(signature, row * HASHES + k, min(value, at(signature, row * HASHES + k)))
