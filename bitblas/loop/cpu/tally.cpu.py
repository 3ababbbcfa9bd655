# Count a vector's entries, and decide whether a product along them should pull and whether they are many. Units are the
# words of its summary, which afterwards lists no empty word. One thread.
# include: kernels/vector.cpu.py
ENTRIES, PULLS, MANY = 0, 1, 2


@njit(**KERNEL)
def tally(lo, hi, bits, summary, ptr, longest, most_entries, most_work, many, counts):
    entries = np.int64(0)
    for k in range(lo, hi):
        some = at(summary, k)
        kept = np.uint64(0)
        while some != 0:
            place = trailing_zeros(some)
            some = drop_lowest(some)
            word = at(bits, (k << 6) + np.int64(place))
            kept |= np.uint64(word != 0) << place
            entries += np.int64(popcount(word))
        put(summary, k, kept)
    pulls = entries > most_entries
    if not pulls and entries * longest > most_work:
        work = np.int64(0)
        w = next_listed(summary, lo << 6, hi)
        while w < hi << 6:
            rest = at(bits, w)
            while rest != 0:
                unit = ((w << 6) + np.int64(trailing_zeros(rest))) // ROWS
                work += np.int64(at(ptr, unit + 1)) - np.int64(at(ptr, unit))
                rest = drop_lowest(rest)
            w = next_listed(summary, w + 1, hi)
        pulls = work > most_work
    put(counts, ENTRIES, entries)
    put(counts, PULLS, np.int64(pulls))
    put(counts, MANY, np.int64(entries >= many))
