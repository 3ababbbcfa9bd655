# Number vertex names in order of first appearance, by a hash table over the keys that words.cpu.py found.
# A table slot is three words: the two words of the key, and 2 * (number + 1), plus 1 if the key is a hash; 0 for an
# empty slot. `names` stores the names, each followed by a line feed, starting at `starts`. `found` is the number of
# names and their bytes. A smaller table from before, if any, is moved in first.
# include: kernels/mixed.cpu.py


@njit(**FUNCTION)
def slot_of(key, more, mask):
    return mixed(mixed(key) ^ more) & mask


@njit(**KERNEL)
def numbered(lo, hi, text, begins, lengths, keys, more_keys, before, moved, table, mask, names, starts, found, numbers):
    for k in range(moved):
        if at(before, 3 * k + 2) != 0:
            slot = slot_of(at(before, 3 * k), at(before, 3 * k + 1), mask)
            while at(table, 3 * slot + 2) != 0:
                slot = (slot + np.uint64(1)) & mask
            for part in range(3):
                put(table, 3 * slot + part, at(before, 3 * k + part))
    count = at(found, 0)
    size = at(found, 1)
    for k in range(lo, hi):
        if k + AHEAD < hi:
            prefetch(table, 3 * slot_of(at(keys, k + AHEAD), at(more_keys, k + AHEAD), mask))
        begin = at(begins, k)
        length = np.int64(at(lengths, k))
        hashed = np.uint64(length < 0)
        length = abs(length)
        key = at(keys, k)
        more = at(more_keys, k)
        slot = slot_of(key, more, mask)
        while True:
            entry = at(table, 3 * slot + 2)
            if entry == 0:
                put(table, 3 * slot, key)
                put(table, 3 * slot + 1, more)
                put(table, 3 * slot + 2, (np.uint64(count + 1) << np.uint64(1)) | hashed)
                put(numbers, k, count)
                for i in range(length):
                    put(names, size + i, at(text, begin + i))
                put(names, size + length, np.uint8(10))
                size += length + 1
                count += 1
                put(starts, count, size)
                break
            same = at(table, 3 * slot) == key and at(table, 3 * slot + 1) == more and (entry & np.uint64(1)) == hashed
            number = np.int64(entry >> np.uint64(1)) - 1
            if same and hashed != 0:
                first = at(starts, number)
                same = at(starts, number + 1) - first - 1 == length
                i = 0
                while same and i < length:
                    same = at(names, first + i) == at(text, begin + i)
                    i += 1
            if same:
                put(numbers, k, number)
                break
            slot = (slot + np.uint64(1)) & mask
    put(found, 0, count)
    put(found, 1, size)
