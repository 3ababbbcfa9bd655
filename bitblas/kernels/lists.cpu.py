# Kernels on lists of indices and keys: batched binary search, segmented reduction. CPU twin of lists.cu.
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
