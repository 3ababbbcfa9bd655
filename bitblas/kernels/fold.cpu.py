# Segmented reduction: t[s] = the values of segment s combined from left to right. CPU twin of fold.cu.


@njit(**KERNEL)
def fold(lo, hi, ptr, values, sums):
    for s in range(lo, hi):
        total = take(at(values, ptr[s]))
        for p in range(ptr[s] + 1, ptr[s + 1]):
            total = add(total, take(at(values, p)))
        sums[s] = total
