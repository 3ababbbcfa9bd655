# Read vertex names of text files: split lines into fields, and number names in order of first appearance.
# include: kernels/mixed.cpu.py


# Split text lines into fields, and hash the first two (vertex names): position in the text, length and key of each.
# Units are lines, which end at `ends`. mark: the separator, 0 for blanks; columns: the expected number of fields. A
# third field is copied into `rest`. begins is -1 on a blank line. `wrong` marks lines that need the slow path: another
# number of fields, an empty field, a quote, or a control character.
#
# A key is two words. Names of up to 16 bytes without a zero byte are stored as they are, so that equal keys are equal
# names. Of other names the key is a hash, and the length is negative.
@njit(**KERNEL)
def words(lo, hi, text, ends, mark, columns, begins, lengths, keys, more_keys, rest, wrong):
    for line in range(lo, hi):
        place = at(ends, line - 1) + 1 if line > 0 else 0
        end = at(ends, line)
        bad = 0
        fields = 0
        put(begins, 2 * line, -1)
        while place <= end:
            letter = np.uint8(32)
            while place < end:  # blanks before a field
                letter = at(text, place)
                if (letter > 32 or (mark != 0 and letter == mark)) or not (letter == 32 or 9 <= letter <= 13):
                    break
                place += 1
            if place == end and (mark == 0 or fields == 0):
                break
            begin = place
            last = place
            while place < end:
                letter = at(text, place)
                if mark != 0:
                    if letter == mark:
                        break
                    bad |= letter == 34
                elif letter <= 32 and (letter == 32 or 9 <= letter <= 13):
                    break
                if letter < 32 and not 9 <= letter <= 13:
                    bad = 1
                place += 1
                if letter > 32:
                    last = place
            key = np.uint64(0)
            more = np.uint64(0)
            zero = False
            for k in range(begin, min(begin + 8, last)):
                zero |= at(text, k) == 0
                key |= np.uint64(at(text, k)) << np.uint64(8 * (k - begin))
            for k in range(begin + 8, min(begin + 16, last)):
                zero |= at(text, k) == 0
                more |= np.uint64(at(text, k)) << np.uint64(8 * (k - begin - 8))
            hashed = zero or last - begin > 16
            if hashed:
                for k in range(begin + 16, last):
                    key = mixed(key ^ np.uint64(at(text, k)))
                    more += key
            if fields < 2:
                put(begins, 2 * line + fields, begin)
                put(lengths, 2 * line + fields, begin - last if hashed else last - begin)
                put(keys, 2 * line + fields, key)
                put(more_keys, 2 * line + fields, more)
                bad |= last == begin
            elif fields == 2:
                bad |= last == begin
                for k in range(begin, last):
                    put(rest, k, at(text, k))
            fields += 1
            if mark == 0:
                continue
            if place >= end:
                break
            place += 1  # after the separator
        if fields == 0:
            put(begins, 2 * line, -1)
        elif fields != columns:
            bad = 1
        put(wrong, line, np.uint8(bad))


# Number vertex names in order of first appearance, by a hash table over the keys that `words` found.
# A table slot is three words: the two words of the key, and 2 * (number + 1), plus 1 if the key is a hash; 0 for an
# empty slot. `names` stores the names, each followed by a line feed, starting at `starts`. `found` is the number of
# names and their bytes. A smaller table from before, if any, is moved in first.
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
