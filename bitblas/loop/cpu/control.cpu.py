# Kernels of the rounds of a loop on the CPU: summaries of vectors, counts of frontiers, nested loops.
# include: kernels/push.cpu.py
ENTRIES, PULLS, MANY = 0, 1, 2  # of the counts
ROUND, LIMIT, COPY, FAULT, INDEX, RESUMED = 0, 1, 2, 3, 5, 6  # of the state (device/kernel_table.py)


# Remove all entries of a vector that has a summary. Units are the words of the summary.
@njit(**KERNEL)
def clear(lo, hi, bits, summary):
    blank(lo, hi, bits, summary)


# Recompute the summary of a vector: which of its words have entries. Units are the words of the summary.
@njit(**KERNEL)
def summary(lo, hi, bits, found):
    for k in range(lo, hi):
        some = np.uint64(0)
        for place in range(min(64, bits.size - (k << 6))):
            some |= np.uint64(at(bits, (k << 6) + place) != 0) << np.uint64(place)
        put(found, k, some)


# Count a vector's entries, and decide whether a product along them should pull and whether they are many. Units are the
# words of its summary, which afterwards lists no empty word. One thread.
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


# After a nested loop, move a vector with rotating buffers back to the first one, from where `steps` advances in each of
# its rounds left it. HELD: whether it has an array of values (1) or of truth values (2). One unit.
@njit(**KERNEL)
def settle(lo, hi, state, steps, bits, bits1, bits2, sums, sums1, sums2, val, val1, val2):
    turned = at(state, ROUND) * steps % 3
    if turned != 0:
        blank(0, sums.size, bits, sums)
        w = next_listed(sums1 if turned == 1 else sums2, 0, sums.size)
        while w < sums.size << 6:
            word = at(bits1, w) if turned == 1 else at(bits2, w)
            put(bits, w, word)
            note(sums, w, word)
            if HELD == 2:
                put(val, w, at(val1, w) if turned == 1 else at(val2, w))
            if HELD == 1:
                rest = word
                while rest != 0:
                    i = (w << 6) + np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    put(val, i, at(val1, i) if turned == 1 else at(val2, i))
            w = next_listed(sums1 if turned == 1 else sums2, w + 1, sums.size)


# Before and after a nested loop: reset its round to 0 (after 0), or pass its fault to the enclosing rounds (after 1).
# One unit.
@njit(**KERNEL)
def nested(lo, hi, after, limit, state, around):
    if after == 0:
        put(state, ROUND, 0)
        put(state, LIMIT, limit)
        put(state, COPY, 0)
        put(state, FAULT, 0)
        put(state, RESUMED, 0)
    elif at(state, FAULT) != 0 and at(around, FAULT) == 0:
        put(around, FAULT, at(state, FAULT))
        put(around, INDEX, at(state, INDEX))
