# Split text lines into fields, and hash the first two (vertex names): position in the text, length and key of each.
# Units are lines, which end at `ends`. mark: the separator, 0 for blanks; columns: the expected number of fields. A
# third field is copied into `rest`. begins is -1 on a blank line. `wrong` marks lines that need the slow path: another
# number of fields, an empty field, a quote, or a control character.
#
# A key is two words. Names of up to 16 bytes without a zero byte are stored as they are, so that equal keys are equal
# names. Of other names the key is a hash, and the length is negative.
# include: kernels/mixed.cpu.py


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
