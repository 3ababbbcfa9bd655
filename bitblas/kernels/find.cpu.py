# Batched binary search of `wanted` in sorted `keys`.
# CPU twin of find.cu. `wanted` ascends, so each search continues from the last result with doubling steps (galloping).
# include: formats/csr/search.cpu.py


@njit(**KERNEL)
def find(lo, hi, keys, count, wanted, places, hit):
    place = lower_bound(0, keys, 0, 0, count, at(wanted, lo)) if lo < hi else 0
    for i in range(lo, hi):
        key = at(wanted, i)
        if place < count and at(keys, place) < key:
            step = 1
            while place + step < count and at(keys, place + step) < key:
                place += step
                step <<= 1
            place = lower_bound(0, keys, 0, place + 1, min(place + step, count), key)
        put(places, i, place)
        put(hit, i, place < count and at(keys, place) == key)
