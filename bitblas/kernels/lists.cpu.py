# Kernels on lists of indices and keys: batched binary search, segmented reduction, bit packing. CPU twin of lists.cu.
# include: kernels/views.cpu.py
# include: formats/csr/columns.cpu.py


# Batched binary search of `targets` in sorted `keys`. `targets` ascends, so each search continues from the last result
# with doubling steps (galloping).
@njit(**KERNEL)
def find(lo, hi, keys, count, targets, places, hit):
    place = lower_bound(0, keys, 0, 0, count, at(targets, lo)) if lo < hi else 0
    for i in range(lo, hi):
        key = at(targets, i)
        if place < count and at(keys, place) < key:
            step = 1
            while place + step < count and at(keys, place + step) < key:
                place += step
                step <<= 1
            place = lower_bound(0, keys, 0, place + 1, min(place + step, count), key)
        put(places, i, place)
        put(hit, i, place < count and at(keys, place) == key)


# Segmented reduction: sums[s] = the values of segment s combined from left to right.
@njit(**KERNEL)
def fold(lo, hi, ptr, values, sums):
    for s in range(lo, hi):
        total = take(at(values, ptr[s]))
        for p in range(ptr[s] + 1, ptr[s + 1]):
            total = add(total, take(at(values, p)))
        sums[s] = total


# Bit packing: store numbers in `width` bits each.
@njit(**KERNEL)
def narrow(lo, hi, size, width, numbers, base, source, string):
    for word in range(lo, hi):
        begin = word * 32
        bits = np.uint64(0)
        k = begin // width
        while k < size and k * width < begin + 32:
            shift = k * width - begin
            if GATHER:
                number = packed_at(source, np.int64(at(numbers, k)), width)
            else:
                number = np.uint64(np.int64(at(numbers, k)) - np.int64(base))
            bits |= number << np.uint64(shift) if shift >= 0 else number >> np.uint64(-shift)
            k += 1
        put(string, word, bits & np.uint64(0xFFFFFFFF))


# Unpack packed integers, or values stored as offsets from a base, into an array.
@njit(**KERNEL)
def widen(lo, hi, width, string, places, base, numbers):
    for k in range(lo, hi):
        put(numbers, k, based(base, packed_at(string, at(places, k) if PLACES else k, width)))
