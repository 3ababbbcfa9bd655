# Products with a map, reduced by row: sum the entries of each row by the key of their column, then choose one key or
# fold the sums. CPU twin of map_products.cu.
# include: formats/csr/columns.cpu.py
# include: kernels/views.cpu.py
LARGEST, SMALLEST, FIRST, LAST, FOLD = 0, 1, 2, 3, 4
SHORT = 16  # entries up to which all keys of a row are compared with each other, without branches


@njit(**FUNCTION)
def equal_keys(known, size, k):
    """How many of the first `size` keys, a constant, are k."""
    count = np.int32(0)
    for j in range(size):
        count += np.int32(at(known, j) == k)
    return np.int64(count)


# A table for each range of rows. If keys are few (below the number of columns, at most DIRECT) and the range has many
# entries, it has a place for each key; otherwise it is a hash table, large enough for the longest row, and a row uses a
# part of twice its length. The sums are added in the order of the entries, and the keys are compared in the order in
# which they first occur. COMMON: the most frequent key is chosen.
@njit(**KERNEL)
def map_rows(lo, hi, rows, row_stride, A: Matrix, a: MatrixValues, keys: KeysView, product, to: ChoiceView):
    longest = np.int64(0)
    entries = np.int64(0)
    for r in range(lo, hi):
        i = np.int64(at(rows, r)) if row_stride else np.int64(r)
        length = np.int64(at(A.ptr, i + 1)) - np.int64(at(A.ptr, i))
        longest = max(longest, length)
        entries += length
    slots = np.int64(2)
    while slots < 2 * longest:
        slots <<= 1
    direct = keys.key.size <= min(DIRECT, 4 * entries)
    if direct:
        slots = np.int64(keys.key.size)
    table = empty(slots, np.int32)  # the number of the key in a slot, counted from 1; 0: the slot is free
    for s in range(slots):
        put(table, s, np.int32(0))
    used = empty(longest + 1, np.int64)  # the slot of each number
    known = empty(max(longest + 1, np.int64(SHORT)), np.int32)  # the key
    sums = empty(longest + 1 if not COUNT else 1, Z_T)
    counts = empty(max(longest + 1, np.int64(SHORT)) if COUNT else 1, np.int64)
    for r in range(lo, hi):
        i = np.int64(at(rows, r)) if row_stride else np.int64(r)
        begin = np.int64(at(A.ptr, i))
        end = np.int64(at(A.ptr, i + 1))
        if ACTIVE and not at(to.active, i):
            continue
        # Equal keys are compared several times, which is harmless unless all are folded.
        first = np.int64(1)
        count = np.int64(0)
        short = COUNT and SELECT != FOLD and 0 < end - begin <= SHORT
        most = np.int64(0)  # the largest count, and of its keys the smallest, as one number: count << 32 less key
        if COMMON and short and end - begin <= SHORT // 2:
            for e in range(begin, end):
                k = np.int32(at(keys.key, column_of(A_PACKED, A.col, A.width, e)))
                put(known, e - begin, k)
                same = np.int64(1)
                for j in range(e - begin):
                    same += np.int64(at(known, j) == k)
                if k >= 0:
                    most = max(most, (same << 32) - np.int64(k))
        elif short:
            first = np.int64(0)
            count = end - begin - 1
            for e in range(begin, end):
                put(known, e - begin, np.int32(at(keys.key, column_of(A_PACKED, A.col, A.width, e))))
            if count < SHORT // 2:
                for j in range(count + 1, SHORT // 2):
                    put(known, j, np.int32(-1))
                for j in range(count + 1):
                    put(counts, j, equal_keys(known, SHORT // 2, at(known, j)))
            else:
                for j in range(count + 1, SHORT):
                    put(known, j, np.int32(-1))
                for j in range(count + 1):
                    put(counts, j, equal_keys(known, SHORT, at(known, j)))
        bits = np.int64(1)
        while not short and (np.int64(1) << bits) < 2 * (end - begin):
            bits += 1
        mask = (np.int64(1) << bits) - 1
        shift = np.uint32(32 - min(bits, 32))
        for e in range(begin, begin if short else end):
            j = column_of(A_PACKED, A.col, A.width, e)
            k = np.int32(at(keys.key, j))
            if k < 0:
                continue
            s = np.int64(k) if direct else np.int64((np.uint32(k) * np.uint32(2654435769)) >> shift) & mask
            number = np.int64(at(table, s))
            while not direct and number != 0 and at(known, number) != k:
                s = (s + 1) & mask
                number = np.int64(at(table, s))
            fresh = number == 0
            if fresh:
                count += 1
                number = count
                put(table, s, np.int32(number))
                put(used, number, s)
                put(known, number, k)
            if COUNT:
                put(counts, number, np.int64(1) if fresh else at(counts, number) + 1)
            else:
                z = mul(
                    at(a.values, e) if a.stride else a.iso, at(keys.values, j) if keys.stride else keys.iso, i, j, k
                )
                put(sums, number, z if fresh else add(at(sums, number), z))
        some = False
        best = S_T(0)
        chosen_key = np.int32(-1)
        own = np.int32(at(to.own, i)) if OWN else np.int32(-1)
        if OWN:
            put(to.own_sum, i, Z_T(0))
        if COMMON and short:
            for j in range(first, count + 1):
                if at(known, j) >= 0:
                    most = max(most, (at(counts, j) << 32) - np.int64(at(known, j)))
            if most > 0:
                best = score(repeated(product, (most + 0xFFFFFFFF) >> 32), S_T(0), S_T(0))
                chosen_key = np.int32(-most & 0xFFFFFFFF)
                some = True
            count = np.int64(-1)
        for number in range(first, count + 1):
            k = np.int32(at(known, number))
            if short and k < 0:
                continue
            if not short:
                put(table, at(used, number), np.int32(0))
            total = repeated(product, at(counts, number)) if COUNT else at(sums, number)
            if OWN and k == own:
                put(to.own_sum, i, total)
                continue
            if APPLIED == 2:
                if not f(total, at(to.x, 0), i, k):
                    continue
                x = score(total, S_T(0), S_T(0))
            elif APPLIED:
                x = to_score(f(total, at(to.x, 0), i, k))
            else:
                x = score(total, at(to.x, i) if SCORED else X_T(0), at(to.y, k) if SCORED else X_T(0))
            if SELECT == FOLD:
                best = fold(best, x) if some else x
                chosen_key = k
                some = True
                continue
            if SELECT <= SMALLEST and x != x:  # NaN is neither the largest nor the smallest
                continue
            if SELECT == LARGEST:
                before = x > best or (x == best and k < chosen_key)
            elif SELECT == SMALLEST:
                before = x < best or (x == best and k < chosen_key)
            elif SELECT == FIRST:
                before = k < chosen_key
            else:
                before = k > chosen_key
            if before or not some:
                best = x
                chosen_key = k
                some = True
        put(to.key, i, chosen_key)
        if SCORES and some:
            put(to.score, i, best)
