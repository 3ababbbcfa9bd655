# Matrices by rows: extract a region, transpose, and build rows from entries; symmetry, and samples of the structure.
# CPU twin of convert.cu.
# include: formats/csr/columns.cpu.py
# include: kernels/views.cpu.py


@njit(**FUNCTION)
def sum_up(counts, n):
    """Prefix sum of the counts of n rows: the end of each row, and the total. Writing entries from the last one on,
    with decrements, turns the ends into starts."""
    end = np.int64(0)
    for k in range(n + 1):
        end += np.int64(at(counts, k))
        put(counts, k, end)


# Extract a region: the part of each row inside it.
# Columns ascend, so the part is one run, found by binary search.
# One pass does everything (FILL 2): each range of rows writes from the start of its own rows on, and the caller closes
# the gaps.
@njit(**KERNEL)
def clip(lo, hi, A: Matrix, row_low, row_high, col_low, col_high, diag_low, diag_high, begin, out, left, places):
    place = np.int64(at(A.ptr, lo))
    for row in range(lo, hi):
        first = np.int64(at(A.ptr, row))
        stop = np.int64(at(A.ptr, row + 1))
        low = max(col_low, row + diag_low)
        high = min(col_high, row + diag_high + 1)
        if row >= row_low and row < row_high and low < high:
            first = lower_bound(PACKED, A.col, A.width, first, stop, low)
            stop = lower_bound(PACKED, A.col, A.width, first, stop, high)
            for source in range(first, stop):
                put(left, place, column_of(PACKED, A.col, A.width, source))
                if ORDER:
                    put(places, place, source)
                place += 1
        put(out, row + 1, place)


# Transpose rows by counting sort.
# Entries are counted by column, then written to their positions, the last row first, so that those of a column stay in
# row order. t_ptr is zero before. One range of rows: all of them.
@njit(**KERNEL)
def transpose(lo, hi, ncols, A: Matrix, t_ptr, t_col, places):
    for e in range(np.int64(at(A.ptr, lo)), np.int64(at(A.ptr, hi))):
        j = column(A.col, A.width, e)
        put(t_ptr, j, at(t_ptr, j) + 1)
    sum_up(t_ptr, ncols)
    for i in range(hi - 1, lo - 1, -1):
        for e in range(np.int64(at(A.ptr, i + 1)) - 1, np.int64(at(A.ptr, i)) - 1, -1):
            j = column(A.col, A.width, e)
            place = np.int64(at(t_ptr, j)) - 1
            put(t_ptr, j, place)
            put(t_col, place, i)
            if ORDER:
                put(places, place, e)


# Counting sort of entries by column: the rows of each column in input order, and with ORDER the number of each entry.
# `ptr` is zero before and becomes the column pointers. One range of entries: all of them.
@njit(**KERNEL)
def by_columns(lo, hi, ncols, rows, cols, ptr, row, came):
    for e in range(lo, hi):
        j = np.int64(at(cols, e))
        put(ptr, j, at(ptr, j) + 1)
    sum_up(ptr, ncols)
    for e in range(hi - 1, lo - 1, -1):
        j = np.int64(at(cols, e))
        place = np.int64(at(ptr, j)) - 1
        put(ptr, j, place)
        put(row, place, at(rows, e))
        if ORDER:
            put(came, place, e)


# Build row pointers and columns from entries that are already sorted by row and column without duplicates.
# wrong[0] = 1 if they are not, or if one is outside of the matrix; the other output is then undefined. Units are
# entries; no two ranges share a row. `ends` is zero before and gets the end of each row that has entries.
BATCH = 1024  # entries that are tested, and then counted while they are in cache


@njit(**KERNEL)
def in_order(lo, hi, nrows, ncols, rows, cols, ends, col, wrong):
    k = np.int64(lo)
    if k == 0 and k < hi:  # the first entry has no predecessor
        i = np.int64(at(rows, 0))
        j = np.int64(at(cols, 0))
        if i < 0 or i >= nrows or j < 0 or j >= ncols:
            put(wrong, 0, 1)
            return
        put(col, 0, j)
        put(ends, i + 1, 1)
        k = np.int64(1)
    while k < hi:
        stop = min(hi, k + BATCH)
        fault = False
        beyond = np.int64(0)  # negative if a column is out of range
        for e in range(k, stop):
            i = np.int64(at(rows, e))
            j = np.int64(at(cols, e))
            before = np.int64(at(rows, e - 1))
            fault |= (i < before) | ((i == before) & (j <= np.int64(at(cols, e - 1))))
            beyond |= j | (ncols - 1 - j)
            put(col, e, j)
        # Rows ascend, so testing the least and the largest suffices.
        if fault or beyond < 0 or np.int64(at(rows, k)) < 0 or np.int64(at(rows, stop - 1)) >= nrows:
            put(wrong, 0, 1)
            return
        for e in range(k, stop):
            put(ends, np.int64(at(rows, e)) + 1, e + 1)
        k = stop


# Symmetry test on rows: per chunk of CHUNK entries, the hash difference between entries and their mirror images.
# The GPU uses other hashes: entry (i, j) contributes first(i) second(j) - second(i) first(j), so
# that one multiplication per row replaces one per entry.
PIECE = 512  # entries that are hashed at a time, across rows: vectorized


@njit(**FUNCTION)
def second_of(first):
    """A second, independent hash."""
    return (first ^ (first >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)


@njit(**KERNEL)
def mirror(lo, hi, rows, nvals, A: Matrix, sums):
    row = np.searchsorted(A.ptr, lo * CHUNK, side="right") - 1
    firsts = empty(PIECE, np.uint64)
    seconds = empty(PIECE, np.uint64)
    for chunk in range(lo, hi):
        total = np.uint64(0)
        piece = chunk * CHUNK
        last = min(piece + CHUNK, nvals)
        while piece < last:
            count = min(PIECE, last - piece)
            for k in range(count):
                number = scramble(column(A.col, A.width, piece + k))
                put(firsts, k, number)
                put(seconds, k, second_of(number))
            k = 0
            while k < count:
                while np.int64(at(A.ptr, row + 1)) <= piece + k:
                    row += 1
                stop = min(count, np.int64(at(A.ptr, row + 1)) - piece)
                first = np.uint64(0)
                second = np.uint64(0)
                while k < stop:
                    first += at(firsts, k)
                    second += at(seconds, k)
                    k += 1
                mine = scramble(row)
                total += mine * second - second_of(mine) * first
            piece += count
        put(sums, chunk, total)


# Sample a matrix by rows to estimate its structure (formats/sampling.py).
@njit(**FUNCTION)
def put_vertex(vertices, vertex):
    """Insert into the hash table, which holds numbers from 1 on; returns whether it is new."""
    slot = np.int64(scramble(vertex) & np.uint64(SLOTS - 1))
    while at(vertices, slot) != 0 and at(vertices, slot) != vertex + 1:
        slot = (slot + 1) & (SLOTS - 1)
    new = at(vertices, slot) == 0
    put(vertices, slot, vertex + 1)
    return new


@njit(**KERNEL)
def sample(lo, hi, rows, nvals, A: Matrix, balls, samples, ranges, sizes, ends, seen):
    sampling = (samples + 7) // 8
    vertices = zeros(SLOTS if lo < balls else 1, np.int64)
    queue = empty(SLOTS if lo < balls else 1, np.int64)
    for unit in range(lo, min(hi, balls)):
        for slot in range(SLOTS):
            put(vertices, slot, 0)
        start = np.searchsorted(A.ptr, (2 * unit + 1) * nvals // (2 * balls), side="right") - 1
        put_vertex(vertices, start)
        put(queue, 0, start)
        put(sizes, unit * (HOPS + 1), 1)
        first = np.int64(0)
        last = np.int64(1)
        for hop in range(1, HOPS + 1):
            edges = np.int64(0)
            for q in range(first, last):
                edges += np.int64(at(A.ptr, at(queue, q) + 1)) - np.int64(at(A.ptr, at(queue, q)))
            if last + edges > SLOTS // 4 * 3:
                if hop == 1:
                    put(sizes, unit * (HOPS + 1) + 1, 1 + edges)
                break
            found = last
            for q in range(first, last):
                vertex = at(queue, q)
                for e in range(np.int64(at(A.ptr, vertex)), np.int64(at(A.ptr, vertex + 1))):
                    there = column(A.col, A.width, e)
                    if put_vertex(vertices, there):
                        put(queue, found, there)
                        found += 1
            first = last
            last = found
            put(sizes, unit * (HOPS + 1) + hop, last)
    for k in range(max(0, lo - balls) * 8, min(max(0, hi - balls) * 8, samples)):
        low = k * nvals // samples
        place = low + np.int64(scramble(k) % np.uint64((k + 1) * nvals // samples - low))
        row = np.searchsorted(A.ptr, place, side="right") - 1
        here = column(A.col, A.width, place)
        low = here & ~np.int64(63)
        top = row & ~np.int64(63)
        if np.int64(at(A.ptr, min(top + 64, rows))) - np.int64(at(A.ptr, top)) <= DENSE:
            for kind in range(5):  # a tile's rows are contiguous: counting is faster than searching
                top = row >> kind + 2 << kind + 2
                stop = np.int64(at(A.ptr, min(top + (4 << kind), rows)))
                total = np.int64(0)
                for e in range(np.int64(at(A.ptr, top)), stop):
                    total += np.int64((column(A.col, A.width, e) ^ here) < 4 << kind)
                put(seen, 6 * k + kind, total)
        else:
            counts = np.int64(0)  # 12 bits each: entries that share a tile of 4, of 8 but not of 4, ..
            for r in range(top, min(top + 64, rows)):
                stop = np.int64(at(A.ptr, r + 1))
                for e in range(lower_bound(PACKED, A.col, A.width, np.int64(at(A.ptr, r)), stop, low), stop):
                    there = column(A.col, A.width, e)
                    if there - low > 63:
                        break
                    apart = (r ^ row) | (there ^ here)
                    kind = np.int64(apart > 3) + np.int64(apart > 7) + np.int64(apart > 15) + np.int64(apart > 31)
                    counts += np.int64(1) << 12 * kind
            total = np.int64(0)
            for kind in range(5):
                total += counts >> 12 * kind & 4095
                put(seen, 6 * k + kind, total)
        bits = np.int64(0)
        while here >> bits != 0:
            bits += 1
        apart = np.int64(0)
        if place == np.int64(at(A.ptr, row)):
            apart = here - row << 1 ^ here - row >> 63
        else:
            apart = here - column(A.col, A.width, place - 1) - 1
        gap = np.int64(0)
        while apart >> gap != 0:
            gap += 1
        lowest = place  # start of the run of consecutive columns around it, as far as four need
        while (
            lowest > np.int64(at(A.ptr, row))
            and place - lowest < 3
            and column(A.col, A.width, lowest - 1) == here - (place - lowest) - 1
        ):
            lowest -= 1
        highest = place + 1
        while (
            highest < np.int64(at(A.ptr, row + 1))
            and highest - place < 4
            and column(A.col, A.width, highest) == here + highest - place
        ):
            highest += 1
        run = np.int64(highest - lowest > 3) << np.int64(lowest == place)
        put(seen, 6 * k + 5, bits | gap << 8 | run << 14)
    for unit in range(max(lo, balls + sampling), hi):
        part = unit - balls - sampling
        head = np.int64(0)
        longest = np.int64(0)
        for r in range(part * rows // ranges, (part + 1) * rows // ranges):
            length = np.int64(at(A.ptr, r + 1)) - np.int64(at(A.ptr, r))
            head += min(length, HEAD)
            longest = max(longest, length)
        put(ends, 2 * part, head)
        put(ends, 2 * part + 1, longest)
